#include "training/asnet_training_kernel.hpp"

namespace misstep {
namespace {

std::size_t width_index(int width) {
    std::size_t index = 0;
    while ((kChannelLanes << index) < width) ++index;
    return index;
}

#if defined(__x86_64__)
bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

}  // namespace

const AsnetTrainingKernels& best_training_kernels(int width) {
#if defined(__x86_64__)
    if (has_avx2()) return kAvx2AsnetTrainingKernels[width_index(width)];
#endif
    return kGenericAsnetTrainingKernels[width_index(width)];
}

AdamFunction best_adam() {
#if defined(__x86_64__)
    if (has_avx2()) return kAvx2Adam;
#endif
    return kGenericAdam;
}

}  // namespace misstep
