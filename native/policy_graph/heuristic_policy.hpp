// Greedy descent on a heuristic: the successor with the least estimate, the first action on ties.
#pragma once

#include "heuristics/heuristic.hpp"
#include "policy_graph/policy.hpp"

namespace misstep {

class HeuristicPolicy final : public Policy {
  public:
    // The heuristic by its name, as for make_heuristic().
    HeuristicPolicy(const StateSpace& space, std::string heuristic)
        : space_(space), name_(std::move(heuristic)), heuristic_(make_heuristic(space, name_)) {}

    // No action where every successor is a dead end.
    void choose(std::span<const Word* const> states, ActionId* actions) override;
    std::unique_ptr<Policy> copy() const override { return std::make_unique<HeuristicPolicy>(space_, name_); }

  private:
    const StateSpace& space_;
    std::string name_;
    std::unique_ptr<Heuristic> heuristic_;
};

}  // namespace misstep
