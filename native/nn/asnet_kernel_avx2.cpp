#include <cstddef>

#include "nn/asnet_kernel.hpp"

#if defined(__x86_64__)
namespace misstep {
namespace {

#include "nn/asnet_kernel.inc"

}  // namespace

const AsnetKernels kAvx2AsnetKernels[kAsnetWidths] = {kKernels<1>, kKernels<2>, kKernels<4>, kKernels<8>};

}  // namespace misstep

#endif
