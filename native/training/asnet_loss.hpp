// What a network is punished for: loss and gradient of the scores of one state's applicable operators.
#pragma once

#include <span>
#include <vector>

#include "training/asnet_task.hpp"

namespace misstep {

enum class AsnetLoss {
    // Every applicable operator is a yes or no question, the first label is the answer (as published): sum of
    // binary cross entropies, with probabilities clipped at 1e-6.
    kTeacher,
    // Minus the logarithm of the summed probability of all good actions.
    kAnyGood,
    // Cross entropy: the probability is to be shared evenly by all good actions.
    kAllGood,
};

struct AsnetLossRule {
    AsnetLoss loss = AsnetLoss::kAnyGood;
    std::uint16_t max_regret = 0;  // actions with at most this regret are good; not for kTeacher
};

// Returns the loss and writes its gradient. Operators of unknown regret neither compete nor learn. Where
// nothing can be learned (no good action, or nothing else competes) both are 0.
float asnet_loss(const AsnetLossRule& rule, std::span<const ActionLabel> labels,
                 std::span<const float> scores, std::span<float> gradient);

}  // namespace misstep
