// Small random tasks, and all there is to know of them by plain loops over every combination of values. Nothing
// here uses the packed states, the successor generator or the searches that are tested with it.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "state/successor_generator.hpp"
#include "util/budget.hpp"
#include "util/rng.hpp"

namespace misstep::testing {

using Values = std::vector<std::int32_t>;

struct TaskShape {
    std::size_t max_variables = 4;
    std::size_t max_values = 4;
    std::size_t max_actions = 14;
    Cost max_cost = 3;
    Cost min_cost = 0;
};

inline std::size_t pick(Rng& rng, std::size_t bound) {
    return static_cast<std::size_t>(rng.below(bound));
}

// Names are "(f VARIABLE VALUE)" and "(a NUMBER)".
Task random_task(Rng& rng, const TaskShape& shape = {});

// A budget that is never used up, and one with a limit on expansions only.
inline Budget unlimited() {
    return {};
}
inline Budget only_expansions(std::uint64_t count) {
    Budget budget;
    budget.max_expansions = count;
    return budget;
}

// Every state of a task, reachable or not, numbered by its values.
class WholeSpace {
  public:
    explicit WholeSpace(const StateSpace& space);

    std::size_t size() const { return values_.size(); }
    const Values& values(std::size_t state) const { return values_[state]; }
    const Word* words(std::size_t state) const { return words_[state].data(); }
    std::size_t number(const Values& values) const;
    std::size_t number(const Word* state) const;
    std::size_t initial() const { return number(space_.task.initial); }

    bool is_goal(std::size_t state) const { return holds_all(space_.task.goal, values_[state]); }
    bool is_applicable(std::size_t state, ActionId action) const {
        return holds_all(space_.task.actions[action].precondition, values_[state]);
    }
    std::size_t successor(std::size_t state, ActionId action) const;

    // h*; kInfinity where there is no plan.
    Cost goal_cost(std::size_t state) const { return goal_costs_[state]; }
    // The cheapest cost from a state to each state, kInfinity where there is no way.
    std::vector<Cost> costs_from(std::size_t state) const;
    bool is_reachable(std::size_t state) const { return is_reachable_[state]; }

    // The cost of the plan, nothing where the actions are no plan for the state.
    std::optional<Cost> plan_cost(std::size_t state, const std::vector<ActionId>& plan) const;
    // Where the actions lead, nothing where one of them is not applicable.
    std::optional<std::size_t> after(std::size_t state, const std::vector<ActionId>& actions) const;

  private:
    static bool holds_all(const std::vector<Fact>& facts, const Values& values) {
        return std::ranges::all_of(
            facts, [&](Fact f) { return values[static_cast<std::size_t>(f.var)] == f.value; });
    }

    const StateSpace& space_;
    std::vector<Values> values_;
    std::vector<std::vector<Word>> words_;
    std::vector<Cost> goal_costs_;
    std::vector<bool> is_reachable_;
};

}  // namespace misstep::testing
