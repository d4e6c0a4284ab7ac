#include "nn/gnn_kernel.hpp"

namespace misstep {
namespace {

#include "nn/gnn_kernel.inc"

}  // namespace

const GnnKernels kGenericGnnKernels{multiply,      sum_relu, largest,   exponentials,
                                    smooth_maxima, maxima,   all_finite};

}  // namespace misstep
