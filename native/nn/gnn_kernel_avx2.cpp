#include "nn/gnn_kernel.hpp"

#if defined(__x86_64__)
namespace misstep {
namespace {

#include "nn/gnn_kernel.inc"

}  // namespace

const GnnKernels kAvx2GnnKernels{multiply,      sum_relu, largest,   exponentials,
                                 smooth_maxima, maxima,   all_finite};

}  // namespace misstep

#endif
