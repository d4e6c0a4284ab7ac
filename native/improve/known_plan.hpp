// A plan with what its improvement needs to know: the states on it, costs, and what each of its suffixes asks
// for.
#pragma once

#include <span>
#include <vector>

#include "state/successor_generator.hpp"
#include "util/budget.hpp"

namespace misstep {

class KnownPlan {
  public:
    // Throws InputError where the actions are no plan for `start`.
    KnownPlan(const StateSpace& space, const Word* start, std::vector<ActionId> actions);

    std::size_t size() const { return actions_.size(); }
    const std::vector<ActionId>& actions() const { return actions_; }
    Total cost() const { return suffix_costs_.front(); }
    // The state before step i; i = size() is the goal state.
    const Word* state(std::size_t i) const { return states_.data() + i * num_words_; }
    Total suffix_cost(std::size_t i) const { return suffix_costs_[i]; }
    Total prefix_cost(std::size_t i) const { return cost() - suffix_costs_[i]; }

    // The shortest suffix that leads from the state to the goal and costs less than `below`, as the place of
    // its first step; kNone where there is none. A suffix asks for its regressed goal only: what it achieves
    // itself or never looks at may be anything.
    std::size_t suffix_from(const Word* state, Total below) const;
    static constexpr std::size_t kNone = ~std::size_t{0};

  private:
    void regress(const StateSpace& space);

    std::size_t num_words_;
    std::vector<ActionId> actions_;
    std::vector<Word> states_;
    std::vector<Total> suffix_costs_;         // by step, 0 at the end
    std::vector<WordCondition> conditions_;   // of all suffixes, one after another
    std::vector<std::size_t> condition_end_;  // by step
};

// Action elimination (Nakhost & Mueller 2010): leaves out every action that, together with those that then
// become inapplicable, is not needed to reach the goal. Quadratic; the result is a plan that costs no more,
// whatever the watch says.
std::vector<ActionId> eliminate_actions(const StateSpace& space, const Word* start,
                                        std::vector<ActionId> plan, BudgetWatch& watch);

}  // namespace misstep
