// The inner loops of relational networks. One source, compiled twice: for AVX2 with FMA and for whatever the
// compiler targets by default; chosen when the program runs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace misstep {

inline constexpr std::size_t kFloatsPerVector = 8;
inline constexpr std::size_t kPanel = 2 * kFloatsPerVector;  // outputs that one pass over the inputs serves
inline constexpr std::size_t kBlock = 6;                     // rows that share one pass over a panel
inline constexpr std::size_t kChunk = 32;                    // blocks that go through a panel together

// Weights of a linear layer for `multiply`: panels of kPanel outputs (the last may have half as many), inside
// a panel input after input. `num_outputs` is a multiple of kFloatsPerVector.
struct PanelMatrix {
    const float* weights;
    const float* bias;
    std::size_t num_inputs, num_outputs;
};

struct GnnKernels {
    // Row i of `out` = bias + weights * (row `index[i]` of `in`); without an index, row i. Inputs that are
    // zero in all rows of a block cost nothing: after a ReLU, that is many where neighbouring rows are alike.
    // `input_space` has room for kChunk * num_inputs numbers.
    void (*multiply)(const PanelMatrix& matrix, const float* in, const std::uint32_t* index,
                     std::size_t num_rows, float* out, std::uint32_t* input_space);
    // Row i of `out` = relu(bias + sum over j of row `index[i * num_tables + j]` of `tables[j]`).
    void (*sum_relu)(const float* bias, const float* const* tables, std::size_t num_tables,
                     const std::uint32_t* index, std::size_t num_rows, std::size_t size, float* out);
    float (*largest)(const float* values,
                     std::size_t count);  // of at least one value, in multiples of a vector
    void (*exponentials)(float* values, std::size_t count, float largest);  // e^(8 (value - largest))
    // Row i of `out` = log(1e-16 + sum of count * row) / 8 + largest, over the rows and counts
    // start[i] .. start[i + 1] of `terms`.
    struct Term {
        std::uint32_t row, count;
    };
    void (*smooth_maxima)(const float* exponentials, const std::uint32_t* start, const Term* terms,
                          std::size_t num_rows, std::size_t size, float largest, float* out);
    // Row i of `out` = the largest of the rows start[i] .. start[i + 1] of `terms`, number by number; 0 where
    // there are none.
    void (*maxima)(const float* values, const std::uint32_t* start, const Term* terms, std::size_t num_rows,
                   std::size_t size, float* out);
    bool (*all_finite)(const float* values, std::size_t count);  // a multiple of a vector
};

extern const GnnKernels kGenericGnnKernels;
#if defined(__x86_64__)
extern const GnnKernels kAvx2GnnKernels;
#endif
const GnnKernels& gnn_kernels();

}  // namespace misstep
