#include "heuristics/batch_kernel.hpp"

#if defined(__x86_64__)
namespace misstep {
namespace {

#include "heuristics/batch_kernel.inc"

}  // namespace

const BatchKernels kAvx2Kernels{explore<true>, explore<false>, supporters, supporters_by_depth};

}  // namespace misstep

#endif
