// Greedy descent on a heuristic: the successor with the least estimate, the first action on ties.
#pragma once

#include "heuristics/heuristic.hpp"
#include "policy_graph/policy.hpp"

namespace misstep {

class HeuristicPolicy final : public Policy {
  public:
    HeuristicPolicy(const StateSpace& space, std::unique_ptr<Heuristic> heuristic)
        : space_(space), heuristic_(std::move(heuristic)) {}

    // No action where every successor is a dead end.
    void choose(std::span<const Word* const> states, ActionId* actions) override;

  private:
    const StateSpace& space_;
    std::unique_ptr<Heuristic> heuristic_;
};

}  // namespace misstep
