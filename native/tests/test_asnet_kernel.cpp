// The ASNet kernels for AVX2 give the same bits as the generic ones, in blocks and one by one.
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "nn/asnet_kernel.hpp"
#include "nn/channel_rows.hpp"
#include "tests/check.hpp"
#include "util/rng.hpp"

using namespace misstep;

namespace {

constexpr std::int32_t kRows = 23;

ChannelRows random_rows(Rng& rng, int width, std::size_t rows) {
    ChannelRows result(width, rows);
    for (std::size_t i = 0; i < rows * static_cast<std::size_t>(width); ++i)
        result.data()[i] = static_cast<float>(static_cast<double>(rng.below(200001)) / 40000.0 - 2.5);
    return result;
}

struct Results {
    ChannelRows linear, pool, combine, active;
    std::vector<float> scores;
};

Results run(const AsnetKernels& kernels, int width, std::int32_t block) {
    Rng rng(static_cast<std::uint64_t>(width));
    ChannelRows in = random_rows(rng, width, kRows),
                matrix = random_rows(rng, width, static_cast<std::size_t>(width));
    std::vector<std::int32_t> from(kRows), to(kRows), groups(kRows + 1), members, parts, part_start;
    std::iota(to.begin(), to.end(), 0);
    for (std::int32_t i = 0; i < kRows; ++i) {
        from[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(rng.below(kRows));
        for (std::uint64_t m = 0; m < 1 + rng.below(4); ++m)
            members.push_back(static_cast<std::int32_t>(rng.below(kRows)));
        groups[static_cast<std::size_t>(i) + 1] = static_cast<std::int32_t>(members.size());
        part_start.push_back(static_cast<std::int32_t>(parts.size()));
        for (int j = 0; j < 3; ++j) parts.push_back(static_cast<std::int32_t>(rng.below(kRows)));
    }
    ChannelRows out = random_rows(rng, width, kRows);
    Results r{out, out, out, out, {}};
    for (std::int32_t i = 0; i < kRows; i += block) {
        const std::int32_t n = std::min(block, kRows - i);
        kernels.linear(in.data(), from.data() + i, out.data(), width, matrix.data(), r.linear.data(),
                       to.data() + i, n);
        kernels.pool(in.data(), from.data(), groups.data(), members.data(), to.data() + i, matrix.data(),
                     r.pool.data(), to.data() + i, n);
        kernels.combine(out.data(), from.data(), in.data(), parts.data(), part_start.data(), 3,
                        r.combine.data(), to.data() + i, n);
        kernels.activate(r.active.data(), to.data() + i, n);
    }
    for (std::size_t i = 0; i < kRows; ++i)
        r.scores.push_back(
            kernels.score(0.5F, matrix.data(), in.row(i), out.data(), parts.data() + 3 * i, 3));
    return r;
}

bool same(const ChannelRows& a, const ChannelRows& b, int width) {
    return std::memcmp(a.data(), b.data(), sizeof(float) * kRows * static_cast<std::size_t>(width)) == 0;
}

bool same(const Results& a, const Results& b, int width) {
    return same(a.linear, b.linear, width) && same(a.pool, b.pool, width) &&
           same(a.combine, b.combine, width) && same(a.active, b.active, width) && a.scores == b.scores;
}

}  // namespace

TEST(asnet_kernels_agree_bit_by_bit) {
    for (int i = 0; i < kAsnetWidths; ++i) {
        const int width = kChannelLanes << i;
        Results expected = run(kGenericAsnetKernels[i], width, kRows);
        CHECK(same(expected, run(kGenericAsnetKernels[i], width, 1), width));
#if defined(__x86_64__)
        if (!__builtin_cpu_supports("avx2")) continue;
        CHECK(same(expected, run(kAvx2AsnetKernels[i], width, kRows), width));
        CHECK(same(expected, run(kAvx2AsnetKernels[i], width, 5), width));
#endif
    }
}

TEST(elu_is_right_to_single_precision) {
    ChannelRows row(8, 1);
    const std::int32_t first = 0;
    for (double x = -120; x < 5; x += 0.0137) {
        for (int c = 0; c < 8; ++c) row.data()[c] = static_cast<float>(x / (c + 1));
        const ChannelRows before = row;
        kGenericAsnetKernels[0].activate(row.data(), &first, 1);
        for (int c = 0; c < 8; ++c) {
            const double in = before.data()[c];
            const double expected = in > 0 ? in : std::expm1(in);
            CHECK(std::abs(row.data()[c] - expected) <= 2e-7 * std::abs(expected));
        }
    }
}
