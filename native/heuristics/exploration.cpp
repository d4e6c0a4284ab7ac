#include "heuristics/exploration.hpp"

#include <algorithm>

namespace misstep {

template <Combine kCombine>
RelaxedExploration<kCombine>::RelaxedExploration(const RelaxedTask& task)
    : task_(task),
      facts_(static_cast<std::size_t>(task.num_facts)),
      depth_(static_cast<std::size_t>(task.num_facts)),
      actions_(static_cast<std::size_t>(task.num_actions)),
      fresh_actions_(static_cast<std::size_t>(task.num_actions)),
      state_facts_(static_cast<std::size_t>(task.num_variables)),
      is_goal_(static_cast<std::size_t>(task.num_facts), 0) {
    for (std::size_t a = 0; a < fresh_actions_.size(); ++a)
        fresh_actions_[a] = {task.cost[a], static_cast<std::int32_t>(task.precondition[a].size())};
}

template <Combine kCombine>
inline void RelaxedExploration<kCombine>::trigger(std::int32_t action, Cost cost, std::int32_t depth) {
    for (FactId fact : task_.effect[static_cast<std::size_t>(action)]) {
        FactInfo& info = facts_[static_cast<std::size_t>(fact)];
        if (cost < info.cost) {
            info = {cost, action};
            if (task_.has_zero_cost) depth_[static_cast<std::size_t>(fact)] = depth;
            queue_.push(cost, fact);
        } else if (cost == info.cost && action < info.supporter &&
                   (!task_.has_zero_cost || depth == depth_[static_cast<std::size_t>(fact)])) {
            info.supporter = action;
        }
    }
}

template <Combine kCombine>
std::int32_t RelaxedExploration<kCombine>::depth(std::int32_t action) const {
    if (!task_.has_zero_cost || task_.cost[static_cast<std::size_t>(action)] > 0) return 0;
    std::int32_t result = 0;
    for (FactId pre : task_.precondition[static_cast<std::size_t>(action)])
        if (facts_[static_cast<std::size_t>(pre)].cost == actions_[static_cast<std::size_t>(action)].cost)
            result = std::max(result, depth_[static_cast<std::size_t>(pre)] + 1);
    return result;
}

template <Combine kCombine>
Cost RelaxedExploration<kCombine>::explore(const Word* state, std::span<const FactId> goal) {
    std::ranges::fill(facts_, FactInfo{kInfinity, kInfinity});
    std::ranges::copy(fresh_actions_, actions_.begin());
    task_.facts_of(state, state_facts_.data());
    for (FactId fact : state_facts_) {
        facts_[static_cast<std::size_t>(fact)] = {0, -1};
        depth_[static_cast<std::size_t>(fact)] = 0;
        queue_.push(0, fact);
    }
    for (std::int32_t action : task_.without_precondition)
        trigger(action, task_.cost[static_cast<std::size_t>(action)], 0);
    for (FactId fact : goal) is_goal_[fact] = 1;
    std::size_t unsettled_goals = goal.empty() ? ~std::size_t{0} : goal.size();

    while (!queue_.empty()) {
        auto [cost, fact] = queue_.pop();
        if (facts_[fact].cost < cost) continue;
        if (is_goal_[fact] && --unsettled_goals == 0) break;
        for (std::int32_t action : task_.needed_by[fact]) {
            ActionInfo& info = actions_[action];
            if constexpr (kCombine == Combine::kSum) info.cost = add_costs(info.cost, cost);
            if (--info.unsatisfied == 0) {
                if constexpr (kCombine == Combine::kMax) info.cost = add_costs(info.cost, cost);
                trigger(action, info.cost, depth(action));
            }
        }
    }
    queue_.clear();
    for (FactId fact : goal) is_goal_[fact] = 0;
    return estimate(goal);
}

template <Combine kCombine>
Cost RelaxedExploration<kCombine>::estimate(std::span<const FactId> goal) const {
    Cost total = 0;
    for (FactId fact : goal) {
        if (!is_reached(fact)) return kInfinity;
        if constexpr (kCombine == Combine::kSum)
            total = add_costs(total, facts_[fact].cost);
        else
            total = std::max(total, facts_[fact].cost);
    }
    return total;
}

template class RelaxedExploration<Combine::kMax>;
template class RelaxedExploration<Combine::kSum>;

}  // namespace misstep
