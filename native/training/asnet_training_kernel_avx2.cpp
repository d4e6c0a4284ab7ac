#include <cstddef>

#include "training/asnet_training_kernel.hpp"

#if defined(__x86_64__)
namespace misstep {
namespace {

#include "nn/asnet_kernel.inc"
#include "training/asnet_training_kernel.inc"

}  // namespace

const AsnetTrainingKernels kAvx2AsnetTrainingKernels[kAsnetWidths] = {
    kTrainingKernels<1>, kTrainingKernels<2>, kTrainingKernels<4>, kTrainingKernels<8>};
const AdamFunction kAvx2Adam = adam;

}  // namespace misstep

#endif
