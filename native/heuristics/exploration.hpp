// One relaxed exploration: the cheapest way to make each fact true when nothing is ever deleted, where an
// action waits for the most expensive of its preconditions (h^max) or for the sum of them (h^add).
#pragma once

#include <span>
#include <vector>

#include "heuristics/relaxed_task.hpp"
#include "util/cost_queue.hpp"

namespace misstep {

enum class Combine { kMax, kSum };

template <Combine kCombine>
class RelaxedExploration {
  public:
    explicit RelaxedExploration(const RelaxedTask& task);

    // Settles the facts of `goal` (all facts where it is empty) and returns the estimate for them, kInfinity
    // if one is unreachable. Costs and supporters of other facts are known only as far as they were needed.
    Cost explore(const Word* state, std::span<const FactId> goal);

    bool is_reached(FactId fact) const { return facts_[fact].cost <= kMaxCost; }
    Cost cost(FactId fact) const { return facts_[fact].cost; }
    // The action that makes the fact true at its cost: the first one by number, negative for facts of the
    // state.
    std::int32_t supporter(FactId fact) const { return facts_[fact].supporter; }

    // The estimate for any set of facts after an exploration that settled them.
    Cost estimate(std::span<const FactId> goal) const;

  private:
    struct FactInfo {
        Cost cost;
        std::int32_t supporter;
    };
    struct ActionInfo {
        Cost cost;  // grows to the cost of applying the action, preconditions included
        std::int32_t unsatisfied;
    };
    void trigger(std::int32_t action, Cost cost, std::int32_t depth);
    std::int32_t depth(std::int32_t action) const;

    const RelaxedTask& task_;
    std::vector<FactInfo> facts_;
    std::vector<std::int32_t> depth_;  // of facts that are reached; used with zero costs only
    std::vector<ActionInfo> actions_, fresh_actions_;
    std::vector<FactId> state_facts_;
    std::vector<std::uint8_t> is_goal_;
    CostQueue queue_;
};

extern template class RelaxedExploration<Combine::kMax>;
extern template class RelaxedExploration<Combine::kSum>;

}  // namespace misstep
