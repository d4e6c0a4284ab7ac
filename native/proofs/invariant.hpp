// Proofs that a state has no plan: combinations of facts that never come true, one of them part of the goal.
#pragma once

#include <optional>

#include "fdr/task.hpp"
#include "util/budget.hpp"

namespace misstep {

// "None of these combinations holds": true in the state, kept by every action, false in goal states. It shows
// for every state in which it is true that there is no plan.
struct Invariant {
    std::vector<std::vector<Fact>> never;  // each sorted by variable

    bool holds(const std::int32_t* values) const;
};

// By h^2 from the state (Haslum & Geffner 2000): single facts and pairs, only those that are needed. nullopt
// where h^2 does not show that there is no plan, or a limit was hit.
std::optional<Invariant> find_invariant(const Task& task, const std::vector<std::int32_t>& state,
                                        const Budget& budget);

}  // namespace misstep
