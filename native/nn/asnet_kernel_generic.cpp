#include <cstddef>

#include "nn/asnet_kernel.hpp"

namespace misstep {
namespace {

#include "nn/asnet_kernel.inc"

}  // namespace

const AsnetKernels kGenericAsnetKernels[kAsnetWidths] = {kKernels<1>, kKernels<2>, kKernels<4>, kKernels<8>};

}  // namespace misstep
