// The inner loops of ASNet evaluation over rows of channels. One source, compiled twice: for AVX2 and for
// whatever the compiler targets by default. Both add in the same order and neither fuses multiplications with
// additions, so that a policy decides alike on every machine.
#pragma once

#include <cstdint>

namespace misstep {

inline constexpr int kChannelLanes = 8;
inline constexpr int kAsnetWidths = 4;  // rows of 8, 16, 32 or 64 channels

// Rows are `width` floats and begin at multiples of 32 bytes; matrices are width x width, one row an input.
struct AsnetKernels {
    // out[to[i]] = base[to[i] * base_stride] + matrix * in[from[i]]. `in` and `out` may be the same where
    // from and to are.
    void (*linear)(const float* in, const std::int32_t* from, const float* base, int base_stride,
                   const float* matrix, float* out, const std::int32_t* to, std::int32_t n);
    // out[to[i]] += matrix * (greatest, by channel, of in[row[m]] over the members m of groups[i]).
    void (*pool)(const float* in, const std::int32_t* row, const std::int32_t* group_start,
                 const std::int32_t* members, const std::int32_t* groups, const float* matrix, float* out,
                 const std::int32_t* to, std::int32_t n);
    // out[w] = elu(own[row[w]] + sum of in[parts[part_start[w] + j]] over j < num_parts) for each w in
    // `which`. `own` and `out` may be the same where row[w] = w.
    void (*combine)(const float* own, const std::int32_t* row, const float* in, const std::int32_t* parts,
                    const std::int32_t* part_start, int num_parts, float* out, const std::int32_t* which,
                    std::int32_t n);
    // rows[which[i]] = elu(rows[which[i]]).
    void (*activate)(float* rows, const std::int32_t* which, std::int32_t n);
    // bias + dot products of own with the last row of weights and of in[parts[j]] with row j.
    float (*score)(float bias, const float* weights, const float* own, const float* in,
                   const std::int32_t* parts, int num_parts);
};

extern const AsnetKernels kGenericAsnetKernels[kAsnetWidths];
#if defined(__x86_64__)
extern const AsnetKernels kAvx2AsnetKernels[kAsnetWidths];
#endif

}  // namespace misstep
