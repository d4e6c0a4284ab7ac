// Training: the kernels agree, losses have the gradients they claim, helpers do every item once.
#include <atomic>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "nn/channel_rows.hpp"
#include "tests/check.hpp"
#include "training/asnet_loss.hpp"
#include "training/asnet_training_kernel.hpp"
#include "util/crew.hpp"
#include "util/rng.hpp"

using namespace misstep;

namespace {

constexpr std::int32_t kRows = 19;

ChannelRows random_rows(Rng& rng, int width, std::size_t rows) {
    ChannelRows result(width, rows);
    for (std::size_t i = 0; i < rows * static_cast<std::size_t>(width); ++i)
        result.data()[i] = static_cast<float>(rng.uniform() * 4 - 2);
    return result;
}

AsnetDropout dropout_of(double share) {
    AsnetDropout result{};
    for (int i = 0; i < kChannelLanes; ++i) result.lanes[i] = 77U + static_cast<std::uint32_t>(i);
    result.threshold = static_cast<std::int32_t>(share * 2147483648.0);
    result.keep = static_cast<float>(1 - share);
    result.scale = 1 / result.keep;
    return result;
}

// Everything that the kernels write, one after another.
std::vector<float> run(const AsnetTrainingKernels& kernels, int width, double share) {
    Rng rng(static_cast<std::uint64_t>(width));
    const std::size_t rows = kRows, w = static_cast<std::size_t>(width);
    ChannelRows in = random_rows(rng, width, rows), matrix = random_rows(rng, width, w);
    ChannelRows out = random_rows(rng, width, rows), d_in = random_rows(rng, width, rows);
    std::vector<std::int32_t> which(rows), start{0}, members;
    std::iota(which.begin(), which.end(), 0);
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::uint64_t m = 0; m < 1 + rng.below(4); ++m)
            members.push_back(static_cast<std::int32_t>(rng.below(kRows)));
        start.push_back(static_cast<std::int32_t>(members.size()));
    }
    std::vector<std::int32_t> parts(3 * rows), part_start(rows);
    for (std::int32_t& part : parts) part = static_cast<std::int32_t>(rng.below(kRows));
    for (std::size_t i = 0; i < rows; ++i) part_start[i] = static_cast<std::int32_t>(3 * i);
    ChannelRows pooled(width, rows), combined(width, rows), d_parts(width, rows), d_own(width, rows);
    AsnetDropout dropout = dropout_of(share);
    kernels.pool(in.data(), which.data(), start.data(), members.data(), which.data(), pooled.data(), kRows);
    kernels.pool_back(in.data(), which.data(), start.data(), members.data(), which.data(), pooled.data(),
                      out.data(), d_in.data(), kRows);
    kernels.combine(out.data(), which.data(), in.data(), parts.data(), part_start.data(), 3, combined.data(),
                    which.data(), kRows, dropout);
    ChannelRows d_combined = random_rows(rng, width, rows);
    kernels.combine_back(combined.data(), d_combined.data(), parts.data(), part_start.data(), 3,
                         d_parts.data(), d_own.data(), which.data(), which.data(), kRows, dropout);
    kernels.outer(in.data(), which.data(), out.data(), which.data(), matrix.data(), kRows);
    kernels.score_back(0.7F, matrix.data(), in.data(), out.data(), parts.data(), 3, d_own.data(), d_in.data(),
                       d_parts.data());
    kernels.activate(out.data(), which.data(), kRows, dropout);
    std::vector<float> result;
    for (const ChannelRows* made : {&pooled, &combined, &d_combined, &d_parts, &d_own, &d_in, &out})
        result.insert(result.end(), made->data(), made->data() + rows * w);
    result.insert(result.end(), matrix.data(), matrix.data() + w * w);
    return result;
}

}  // namespace

TEST(training_kernels_agree) {
    for (int width : {8, 16, 32, 64})
        for (double share : {0.0, 0.25}) {
            std::size_t index = 0;
            while ((kChannelLanes << index) < width) ++index;
            const auto plain = run(kGenericAsnetTrainingKernels[index], width, share);
            const auto best = run(best_training_kernels(width), width, share);
            CHECK(plain.size() == best.size());
            for (std::size_t i = 0; i < plain.size(); ++i) CHECK(std::abs(plain[i] - best[i]) < 1e-4F);
        }
}

TEST(dropout_drops_its_share) {
    const std::size_t rows = 2000;
    ChannelRows values(16, rows);
    std::fill_n(values.data(), rows * 16, 1.0F);
    std::vector<std::int32_t> which(rows);
    std::iota(which.begin(), which.end(), 0);
    AsnetDropout dropout = dropout_of(0.1);
    best_training_kernels(16).activate(values.data(), which.data(), static_cast<std::int32_t>(rows), dropout);
    std::size_t dropped = 0;
    double sum = 0;
    for (std::size_t i = 0; i < rows * 16; ++i) {
        dropped += values.data()[i] == 0;
        sum += static_cast<double>(values.data()[i]);
    }
    CHECK(std::abs(static_cast<double>(dropped) / 32000 - 0.1) < 0.01);
    CHECK(std::abs(sum / 32000 - 1) < 0.02);  // the mean stays
}

TEST(losses_have_their_gradients) {
    const std::vector<ActionLabel> labels{{0, 0}, {1, 0}, {2, 3}, {3, ActionLabel::kUnknown}, {4, 1}};
    std::vector<float> scores{0.3F, -1.2F, 0.8F, 5.0F, 0.1F}, gradient(5), unused(5);
    for (AsnetLoss loss : {AsnetLoss::kTeacher, AsnetLoss::kAnyGood})
        for (std::uint16_t regret : {0, 1}) {
            const AsnetLossRule rule{loss, regret};
            asnet_loss(rule, labels, scores, gradient);
            for (std::size_t i = 0; i < scores.size(); ++i) {
                const float step = 1e-2F, old = scores[i];
                scores[i] = old + step;
                const float above = asnet_loss(rule, labels, scores, unused);
                scores[i] = old - step;
                const float below = asnet_loss(rule, labels, scores, unused);
                scores[i] = old;
                CHECK(std::abs((above - below) / (2 * step) - gradient[i]) < 1e-3F);
            }
            CHECK(gradient[3] == 0);  // unknown: neither good nor bad
        }
    const std::vector<ActionLabel> all_good{{0, 0}, {1, 0}};
    CHECK(asnet_loss({}, all_good, std::span(scores).first(2), std::span(gradient).first(2)) == 0);
    CHECK(gradient[0] == 0);
}

TEST(a_crew_does_every_item_once) {
    Crew crew(3);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::atomic<int>> done(50);
        crew.run(done.size(), [&](int, std::size_t item) { ++done[item]; });
        for (const auto& count : done) CHECK(count == 1);
    }
    bool thrown = false;
    try {
        crew.run(8, [](int, std::size_t item) {
            if (item == 5) throw std::runtime_error("five");
        });
    } catch (const std::runtime_error&) {
        thrown = true;
    }
    CHECK(thrown);
}
