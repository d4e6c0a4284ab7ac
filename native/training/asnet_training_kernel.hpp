// The inner loops of training an ASNet over rows of channels, forward and backward. One source, compiled for
// AVX2 with fused multiply-add and for whatever the compiler targets by default; numbers may differ in the
// last bits between the two, never between two runs on one machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nn/asnet_kernel.hpp"

namespace misstep {

// Inverted dropout. Values that fall out become 0 and are recognised by that when gradients go back.
struct AsnetDropout {
    std::uint32_t lanes[kChannelLanes];  // states of random numbers (xorshift32), none of them 0
    std::int32_t threshold = 0;          // of 2^31: values whose number is below it fall out; 0: none do
    float keep = 1, scale = 1;           // the share that stays, and one over it
};

struct AsnetTrainingKernels {
    // As in evaluation, but products and sums may be fused.
    AsnetKernels forward;
    // out[i] = greatest, by channel, of in[row[m]] over the members m of groups[i].
    void (*pool)(const float* in, const std::int32_t* row, const std::int32_t* group_start,
                 const std::int32_t* members, const std::int32_t* groups, float* out, std::int32_t n);
    // Adds d_out[i] by channel to the gradient of the first member that has the greatest value.
    void (*pool_back)(const float* in, const std::int32_t* row, const std::int32_t* group_start,
                      const std::int32_t* members, const std::int32_t* groups, const float* out,
                      const float* d_out, float* d_in, std::int32_t n);
    // out = bias + sum of inputs[i] * weights row i.
    void (*first)(const float* inputs, int num_inputs, const float* weights, const float* bias, float* out);
    // d_weights row i += inputs[i] * d_out; d_bias += d_out.
    void (*first_back)(const float* inputs, int num_inputs, const float* d_out, float* d_weights,
                       float* d_bias);
    // AsnetKernels::combine and ::activate, then dropout.
    void (*combine)(const float* own, const std::int32_t* row, const float* in, const std::int32_t* parts,
                    const std::int32_t* part_start, int num_parts, float* out, const std::int32_t* which,
                    std::int32_t n, AsnetDropout& dropout);
    void (*activate)(float* rows, const std::int32_t* which, std::int32_t n, AsnetDropout& dropout);
    // d_rows[w] becomes the gradient before the activation, for each w in `which`.
    void (*activate_back)(const float* rows, float* d_rows, const std::int32_t* which, std::int32_t n,
                          const AsnetDropout& dropout);
    // The same for operators; it is also added to d_in[part] for each part, and to d_own[row[w]]
    // unless that is absent.
    void (*combine_back)(const float* rows, float* d_rows, const std::int32_t* parts,
                         const std::int32_t* part_start, int num_parts, float* d_in, float* d_own,
                         const std::int32_t* row, const std::int32_t* which, std::int32_t n,
                         const AsnetDropout& dropout);
    // d_matrix += sum over i of in[from[i]] (a column) times d_out[to[i]] (a row).
    void (*outer)(const float* in, const std::int32_t* from, const float* d_out, const std::int32_t* to,
                  float* d_matrix, std::int32_t n);
    // Backward of AsnetKernels::score for the gradient d_score.
    void (*score_back)(float d_score, const float* weights, const float* own, const float* in,
                       const std::int32_t* parts, int num_parts, float* d_weights, float* d_own, float* d_in);
    // target[to[i]] += in[from[i]].
    void (*add_rows)(const float* in, const std::int32_t* from, float* target, const std::int32_t* to,
                     std::int32_t n);
};

// One step of Adam (Kingma & Ba 2015) with decoupled weight decay over part of the parameters.
struct AdamStep {
    float scale;  // of the summed gradients
    float rate;   // with the correction for the first steps
    float epsilon;
    float beta1, beta2;
    float shrink;  // parameters are multiplied by it before the step
};
// Sums the gradients in the order of the pointers and sets them to 0.
using AdamFunction = void (*)(const AdamStep& step, float* const* gradients, int num_gradients,
                              float* parameters, float* means, float* squares, std::int32_t n);

// The fastest that this machine runs, for rows of this width.
const AsnetTrainingKernels& best_training_kernels(int width);
AdamFunction best_adam();

extern const AsnetTrainingKernels kGenericAsnetTrainingKernels[kAsnetWidths];
extern const AdamFunction kGenericAdam;
#if defined(__x86_64__)
extern const AsnetTrainingKernels kAvx2AsnetTrainingKernels[kAsnetWidths];
extern const AdamFunction kAvx2Adam;
#endif

}  // namespace misstep
