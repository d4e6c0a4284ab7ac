#include "training/asnet_loss.hpp"

#include <algorithm>
#include <cmath>

namespace misstep {
namespace {

constexpr float kClip = 1e-6F;

// Softmax over what competes, 0 elsewhere.
void softmax(std::span<const ActionLabel> labels, std::span<const float> scores, std::span<float> result) {
    float most = -INFINITY, sum = 0;
    for (std::size_t i = 0; i < scores.size(); ++i)
        if (labels[i].regret != ActionLabel::kUnknown) most = std::max(most, scores[i]);
    for (std::size_t i = 0; i < scores.size(); ++i) {
        result[i] = labels[i].regret == ActionLabel::kUnknown ? 0 : std::exp(scores[i] - most);
        sum += result[i];
    }
    for (float& share : result) share /= sum;
}

float any_good(std::uint16_t max_regret, std::span<const ActionLabel> labels, std::span<float> share) {
    float good = 0;
    std::size_t num_good = 0, num_known = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i].regret == ActionLabel::kUnknown) continue;
        ++num_known;
        if (labels[i].regret > max_regret) continue;
        good += share[i];
        ++num_good;
    }
    if (num_good == 0 || num_good == num_known) {
        std::ranges::fill(share, 0.0F);
        return 0;
    }
    const float inverse = 1 / std::max(good, 1e-30F);
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels[i].regret <= max_regret) share[i] -= share[i] * inverse;
    return -std::log(std::max(good, 1e-30F));
}

float teacher(std::span<const ActionLabel> labels, std::span<float> share) {
    float loss = 0, mean = 0;
    thread_local std::vector<float> slope;  // of the loss by the probability
    slope.assign(share.size(), 0);
    for (std::size_t i = 0; i < share.size(); ++i) {
        if (labels[i].regret == ActionLabel::kUnknown) continue;
        const float p = i == 0 ? share[i] : 1 - share[i];
        loss -= std::log(std::max(p, kClip));
        if (p > kClip) slope[i] = i == 0 ? -1 / p : 1 / p;
        mean += slope[i] * share[i];
    }
    for (std::size_t i = 0; i < share.size(); ++i) share[i] *= slope[i] - mean;
    return loss;
}

}  // namespace

float asnet_loss(const AsnetLossRule& rule, std::span<const ActionLabel> labels,
                 std::span<const float> scores, std::span<float> gradient) {
    softmax(labels, scores, gradient);
    return rule.loss == AsnetLoss::kTeacher ? teacher(labels, gradient)
                                            : any_good(rule.max_regret, labels, gradient);
}

}  // namespace misstep
