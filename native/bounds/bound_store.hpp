// Bound maintenance (Eisenhut et al. 2023, algorithms 3 to 5): the best upper bounds on h* that policy runs,
// dominance, lookahead and outside plans prove together, each with the way to a plan.
#pragma once

#include "dominance/dominance.hpp"
#include "heuristics/heuristic.hpp"
#include "state/registry.hpp"

namespace misstep {

struct BoundOptions {
    std::uint64_t lookahead = 0;  // expansions of the search from a pool state
    // Goes on searching after the bound fell below the policy's cost: for larger proven gaps.
    bool maximise_gap = false;
};

// A run of the policy: one more state than actions.
struct PolicyRun {
    std::vector<const Word*> states;
    std::vector<ActionId> actions;
    bool is_solved = false;
    // Proven: the policy's cost is infinite. Where the run neither solves nor proves this (a limit cut it
    // off, or the policy gave no decision), the cost is at least what was spent.
    bool never_solves = false;
};

class BoundStore {
  public:
    BoundStore(const Dominance& dominance, const BoundOptions& options);

    // Algorithm 3 for the first state of the run, and without lookahead for the others, from the last one on.
    // Whether the first state is proven a bug now. A limit leaves out what is left of the lookahead.
    bool add_run(const PolicyRun& run, const Budget& budget);
    // Algorithm 5: a plan from elsewhere. Throws InputError where it is none.
    void add_plan(const Word* state, const std::vector<ActionId>& plan);

    // kEndless where nothing is known.
    Total bound(const Word* state) const;
    // Below this the policy's cost is impossible; 0 where no run was added.
    Total policy_cost(const Word* state) const;
    // A plan that costs at most bound(state), which must be finite.
    std::vector<ActionId> plan_of(const Word* state) const;
    // States with a run whose bound fell below their policy cost since the last call, in the order of their
    // discovery.
    std::vector<StateId> take_flagged();
    const Word* state(StateId id) const { return registry_.state(id); }

    std::size_t num_known() const { return num_known_; }
    std::uint64_t comparisons() const { return comparisons_; }
    std::uint64_t expansions() const { return expansions_; }
    LimitHit limit() const { return limit_; }  // of the last add_run()

  private:
    // Where a bound came from, and so how its plan goes on.
    enum class Origin : std::uint8_t { kNone, kGoal, kStep, kDominance };
    struct Info {
        Total bound = kEndless;
        Total policy_cost = 0;
        ActionId action = kNoAction;  // of a step
        StateId from = kNoState;      // the successor of a step, or the state that is dominated
        Origin origin = Origin::kNone;
        bool is_known = false;  // takes part in comparisons
        bool is_flagged = false;
        bool is_queued = false;
    };
    struct Parent {
        StateId state;
        ActionId action;
    };

    StateId insert(const Word* state);
    const std::int32_t* abstract(StateId id) const {
        return abstract_.data() + std::size_t{id} * num_factors_;
    }
    void observe(StateId id, Total policy_cost);
    void enqueue(StateId id);
    void lower(StateId id, Total bound, Origin origin, StateId from, ActionId action);
    void lower_step(StateId id, ActionId action, StateId successor);
    void propagate();
    Total best_from_known(const std::int32_t* state, Total below, StateId except, StateId& source);
    void spread(StateId id);
    void flag(StateId id);
    void look_ahead(StateId id, const Budget& budget);
    void take_path(StateId start, const std::vector<ActionId>& path, Origin origin, StateId source,
                   Total end_bound);

    const Dominance& dominance_;
    const StateSpace& space_;
    BoundOptions options_;
    std::size_t num_factors_;
    StateRegistry registry_;
    std::vector<Info> infos_;
    std::vector<std::int32_t> abstract_;
    std::vector<std::vector<Parent>> parents_;
    // Known states by their abstract state in one selective factor: only those that may be related to a state
    // there are looked at.
    std::size_t index_factor_ = 0;
    std::vector<std::vector<StateId>> known_at_;
    std::vector<std::vector<std::int32_t>> dominated_by_, dominating_;
    std::vector<StateId> queue_;  // bounds that fell and were not passed on yet
    std::vector<StateId> flagged_;
    std::unique_ptr<Heuristic> heuristic_;
    std::size_t num_known_ = 0;
    std::uint64_t comparisons_ = 0, expansions_ = 0;
    LimitHit limit_ = LimitHit::kNone;

    friend class BoundLookahead;
};

}  // namespace misstep
