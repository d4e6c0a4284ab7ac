#include <cstddef>

#include "training/asnet_training_kernel.hpp"

namespace misstep {
namespace {

#include "nn/asnet_kernel.inc"
#include "training/asnet_training_kernel.inc"

}  // namespace

const AsnetTrainingKernels kGenericAsnetTrainingKernels[kAsnetWidths] = {
    kTrainingKernels<1>, kTrainingKernels<2>, kTrainingKernels<4>, kTrainingKernels<8>};
const AdamFunction kGenericAdam = adam;

}  // namespace misstep
