#include "heuristics/batch_kernel.hpp"

namespace misstep {
namespace {

#include "heuristics/batch_kernel.inc"

}  // namespace

const BatchKernels kGenericKernels{explore<true>, explore<false>, supporters, supporters_by_depth};

}  // namespace misstep
