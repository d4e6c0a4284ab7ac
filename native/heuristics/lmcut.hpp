// LM-cut (Helmert & Domshlak 2009): the sum of disjunctive action landmarks under a cost partitioning.
#pragma once

#include <vector>

#include "heuristics/heuristic.hpp"
#include "heuristics/relaxed_task.hpp"
#include "util/cost_queue.hpp"

namespace misstep {

// A set of actions of which every plan uses at least one, and the cost that LM-cut charges to it.
struct Landmark {
    std::vector<ActionId> actions;
    Cost cost;
};

class LMCut final : public Heuristic {
  public:
    explicit LMCut(const StateSpace& space);
    using Heuristic::evaluate;
    Cost evaluate(const Word* state) override { return compute(state, nullptr); }
    bool is_admissible() const override { return true; }
    bool is_consistent() const override { return false; }

    // As evaluate(), and also lists the landmarks; their costs add up to the value where it is finite.
    Cost evaluate(const Word* state, std::vector<Landmark>& landmarks) { return compute(state, &landmarks); }

  private:
    struct FactInfo {
        Cost cost;               // h^max under the remaining costs
        std::int32_t supporter;  // the action that gives this cost, negative for facts of the state
    };
    struct ActionInfo {
        Cost cost;  // what is left of the cost
        std::int32_t unsatisfied;
        FactId hardest;     // the precondition with the largest h^max: the edge of the justification graph
        Cost hardest_cost;  // its h^max
    };

    Cost compute(const Word* state, std::vector<Landmark>* landmarks);
    void explore(const Word* state);
    void find_cut();
    void choose_hardest(std::int32_t action);
    bool is_before_goal_zone(FactId fact);
    void mark_before_goal_zone();
    void reduce_and_update(Cost cut_cost);
    void update_effects(std::int32_t action);
    bool in_goal_zone(FactId fact) const { return zone_[fact] == round_; }

    RelaxedTask task_;
    // The task's actions with an artificial precondition for those without one, and an artificial goal
    // action.
    FactId start_fact_, goal_fact_;
    Rows precondition_, effect_, needed_by_, achieved_by_;
    std::vector<FactInfo> facts_;
    std::vector<ActionInfo> actions_, fresh_actions_;
    std::vector<std::int32_t> free_achievers_, fresh_free_achievers_;  // of each fact, at no remaining cost
    CostQueue queue_;
    std::vector<FactId> state_facts_, stack_, chain_;
    std::vector<std::int32_t> cut_, candidates_;
    // Marks of the current round (a round is one landmark).
    std::uint64_t round_ = 0;
    std::vector<std::uint64_t> zone_, before_zone_, on_chain_, expanded_, zone_action_;
    bool all_marked_ = false;  // before_zone_ is complete for this round
};

}  // namespace misstep
