#include "training/asnet_loss.hpp"

#include <algorithm>
#include <cmath>

namespace misstep {
namespace {

constexpr float kClip = 1e-6F;
constexpr float kTiny = 1e-30F;

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

// How many of the known actions are good; 0 where all of them are, since then there is nothing to learn.
std::size_t count_good(std::uint16_t max_regret, std::span<const ActionLabel> labels) {
    std::size_t num_good = 0, num_known = 0;
    for (const ActionLabel& label : labels) {
        if (label.regret == ActionLabel::kUnknown) continue;
        ++num_known;
        if (label.regret <= max_regret) ++num_good;
    }
    return num_good == num_known ? 0 : num_good;
}

float any_good(std::uint16_t max_regret, std::span<const ActionLabel> labels, std::span<float> share) {
    float good = 0;
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels[i].regret <= max_regret) good += share[i];
    const float inverse = 1 / std::max(good, kTiny);
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels[i].regret <= max_regret) share[i] -= share[i] * inverse;
    return -std::log(std::max(good, kTiny));
}

float all_good(std::uint16_t max_regret, std::size_t num_good, std::span<const ActionLabel> labels,
               std::span<float> share) {
    const float wanted = 1 / static_cast<float>(num_good);
    float loss = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i].regret > max_regret) continue;
        loss -= wanted * std::log(std::max(share[i], kTiny) / wanted);
        share[i] -= wanted;
    }
    return loss;
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
    if (rule.loss == AsnetLoss::kTeacher) return teacher(labels, gradient);
    const std::size_t num_good = count_good(rule.max_regret, labels);
    if (num_good == 0) {
        std::ranges::fill(gradient, 0.0F);
        return 0;
    }
    return rule.loss == AsnetLoss::kAnyGood ? any_good(rule.max_regret, labels, gradient)
                                            : all_good(rule.max_regret, num_good, labels, gradient);
}

}  // namespace misstep
