// The relaxed plan of h^FF: the supporters of the goal, of their preconditions, and so on, each action once.
#pragma once

#include <span>
#include <vector>

#include "heuristics/relaxed_task.hpp"

namespace misstep {

class RelaxedPlan {
  public:
    explicit RelaxedPlan(const RelaxedTask& task)
        : task_(task),
          fact_mark_(static_cast<std::size_t>(task.num_facts), 0),
          action_mark_(static_cast<std::size_t>(task.num_actions), 0) {}

    // `supporter(fact)` gives the action that makes a fact true, negative where the state does.
    template <class Supporter>
    Cost extract(std::span<const FactId> goal, Supporter&& supporter) {
        ++epoch_;
        actions_.clear();
        stack_.clear();
        Cost total = 0;
        for (FactId fact : goal) visit(fact);
        while (!stack_.empty()) {
            FactId fact = stack_.back();
            stack_.pop_back();
            std::int32_t action = supporter(fact);
            if (action < 0 || action_mark_[action] == epoch_) continue;
            action_mark_[action] = epoch_;
            actions_.push_back(action);
            total = add_costs(total, task_.cost[action]);
            for (FactId pre : task_.precondition[action]) visit(pre);
        }
        return total;
    }

    // Of the last extraction, in no particular order.
    const std::vector<std::int32_t>& actions() const { return actions_; }

  private:
    void visit(FactId fact) {
        if (fact_mark_[fact] == epoch_) return;
        fact_mark_[fact] = epoch_;
        stack_.push_back(fact);
    }

    const RelaxedTask& task_;
    std::vector<std::uint64_t> fact_mark_, action_mark_;
    std::vector<FactId> stack_;
    std::vector<std::int32_t> actions_;
    std::uint64_t epoch_ = 0;
};

}  // namespace misstep
