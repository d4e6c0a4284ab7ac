#include "bounds/bound_store.hpp"

#include <algorithm>
#include <string>

#include "bounds/lookahead.hpp"
#include "util/error.hpp"

namespace misstep {

BoundStore::BoundStore(const Dominance& dominance, const BoundOptions& options)
    : dominance_(dominance),
      space_(dominance.space()),
      options_(options),
      num_factors_(dominance.num_factors()),
      registry_(space_.num_words()) {
    if (options.lookahead > 0) heuristic_ = make_heuristic(space_, "ff");
    double least_share = 2;
    std::size_t size = 0;
    for (std::size_t i = 0; i < num_factors_; ++i) {
        const auto n = static_cast<std::size_t>(dominance.task().factors[i].num_states);
        const std::vector<DominanceValue>& values = dominance.values(i);
        auto finite = values.empty() ? n
                                     : static_cast<std::size_t>(std::ranges::count_if(
                                           values, [](auto value) { return value != kNever; }));
        double share = n == 0 ? 1 : static_cast<double>(finite) / static_cast<double>(n * n);
        if (share < least_share) {
            least_share = share;
            index_factor_ = i;
            size = n;
        }
    }
    known_at_.resize(size);
    dominated_by_.resize(size);
    dominating_.resize(size);
    for (std::size_t s = 0; s < size; ++s)
        for (std::size_t t = 0; t < size; ++t)
            if (dominance.factor_value(index_factor_, static_cast<std::int32_t>(s),
                                       static_cast<std::int32_t>(t)) != kNever) {
                dominated_by_[s].push_back(static_cast<std::int32_t>(t));
                dominating_[t].push_back(static_cast<std::int32_t>(s));
            }
}

StateId BoundStore::insert(const Word* state) {
    auto [id, is_new] = registry_.insert(state);
    if (is_new) {
        infos_.push_back({});
        parents_.emplace_back();
        abstract_.resize(abstract_.size() + num_factors_);
        dominance_.project(state, abstract_.data() + std::size_t{id} * num_factors_);
    }
    return id;
}

bool BoundStore::add_run(const PolicyRun& run, const Budget& budget) {
    limit_ = LimitHit::kNone;
    if (run.states.size() != run.actions.size() + 1)
        throw InputError("a run has one more state than actions");
    std::vector<StateId> ids;
    for (const Word* state : run.states) ids.push_back(insert(state));
    Total left = run.never_solves ? kEndless : 0;
    for (std::size_t i = ids.size(); i-- > 0;) {
        if (i < run.actions.size()) {
            if (!space_.generator.is_applicable(run.states[i], run.actions[i]))
                throw InputError("step " + std::to_string(i + 1) + " of the run is not applicable");
            if (!run.never_solves) left += space_.task.actions[run.actions[i]].cost;
            StateId child = ids[i + 1];
            bool is_old = std::ranges::any_of(parents_[child], [&](Parent p) { return p.state == ids[i]; });
            if (!is_old) parents_[child].push_back({ids[i], run.actions[i]});
            lower_step(ids[i], run.actions[i], child);
        }
        observe(ids[i], left);
    }
    Info& first = infos_[ids[0]];
    if (options_.lookahead > 0 && (options_.maximise_gap || !first.is_flagged)) look_ahead(ids[0], budget);
    return infos_[ids[0]].is_flagged;
}

// A state of which the policy's cost is known to be at least so much takes part from now on.
void BoundStore::observe(StateId id, Total policy_cost) {
    Info& info = infos_[id];
    info.policy_cost = std::max(info.policy_cost, policy_cost);
    if (space_.is_goal(registry_.state(id))) lower(id, 0, Origin::kGoal, kNoState, kNoAction);
    bool is_new = !info.is_known;
    if (is_new) {
        info.is_known = true;
        ++num_known_;
        // States that D knows nothing about still have bounds by their runs.
        std::int32_t place = num_factors_ == 0 ? kPruned : abstract(id)[index_factor_];
        if (place >= 0) {
            StateId source = kNoState;
            Total bound = best_from_known(abstract(id), info.bound, id, source);
            known_at_[static_cast<std::size_t>(place)].push_back(id);
            if (bound < info.bound) lower(id, bound, Origin::kDominance, source, kNoAction);
        }
    }
    // What it knew before, from plans that passed through it, is news to the known states.
    if (is_new) enqueue(id);
    propagate();
    flag(id);
}

void BoundStore::enqueue(StateId id) {
    if (infos_[id].is_queued || infos_[id].bound == kEndless) return;
    infos_[id].is_queued = true;
    queue_.push_back(id);
}

Total BoundStore::best_from_known(const std::int32_t* state, Total below, StateId except, StateId& source) {
    Total best = below;
    if (num_factors_ == 0 || state[index_factor_] < 0) return best;
    for (std::int32_t place : dominating_[static_cast<std::size_t>(state[index_factor_])])
        for (StateId other : known_at_[static_cast<std::size_t>(place)]) {
            const Total bound = infos_[other].bound;
            if (bound == kEndless || other == except) continue;
            ++comparisons_;
            const Total value = dominance_.value(abstract(other), state);
            if (value == kNever || bound - value >= best) continue;
            best = bound - value;
            source = other;
        }
    return best;
}

// Passes a bound on to the known states that this one is dominated by.
void BoundStore::spread(StateId id) {
    const Total bound = infos_[id].bound;
    if (bound == kEndless || num_factors_ == 0) return;
    const std::int32_t* state = abstract(id);
    if (state[index_factor_] < 0) return;
    for (std::int32_t place : dominated_by_[static_cast<std::size_t>(state[index_factor_])])
        for (StateId other : known_at_[static_cast<std::size_t>(place)]) {
            if (other == id) continue;
            ++comparisons_;
            const Total value = dominance_.value(state, abstract(other));
            if (value != kNever && bound - value < infos_[other].bound)
                lower(other, bound - value, Origin::kDominance, id, kNoAction);
        }
}

void BoundStore::lower(StateId id, Total bound, Origin origin, StateId from, ActionId action) {
    Info& info = infos_[id];
    if (bound >= info.bound) return;
    info.bound = std::max<Total>(bound, 0);
    info.origin = origin;
    info.from = from;
    info.action = action;
    enqueue(id);
}

void BoundStore::lower_step(StateId id, ActionId action, StateId successor) {
    const Total rest = infos_[successor].bound;
    if (rest == kEndless) return;
    lower(id, rest + space_.task.actions[action].cost, Origin::kStep, successor, action);
}

// Ancestors along policy edges, breadth first. A bound that came by dominance need not be spread: D is
// transitive, so the state it came from reaches the same states at least as well.
void BoundStore::propagate() {
    for (std::size_t head = 0; head < queue_.size(); ++head) {
        StateId id = queue_[head];
        infos_[id].is_queued = false;
        flag(id);
        if (infos_[id].origin != Origin::kDominance && infos_[id].is_known) spread(id);
        for (Parent parent : parents_[id]) lower_step(parent.state, parent.action, id);
    }
    queue_.clear();
}

void BoundStore::flag(StateId id) {
    Info& info = infos_[id];
    if (info.is_flagged || !info.is_known || info.bound >= info.policy_cost) return;
    info.is_flagged = true;
    flagged_.push_back(id);
}

// Bounds of the states along a path from `start`, whose end has a bound of its own.
void BoundStore::take_path(StateId start, const std::vector<ActionId>& path, Origin origin, StateId source,
                           Total end_bound) {
    std::vector<StateId> ids{start};
    std::vector<Word> next(space_.num_words());
    for (ActionId action : path) {
        space_.generator.apply(registry_.state(ids.back()), action, next.data());
        ids.push_back(insert(next.data()));
    }
    if (origin != Origin::kNone) lower(ids.back(), end_bound, origin, source, kNoAction);
    for (std::size_t i = path.size(); i-- > 0;) lower_step(ids[i], path[i], ids[i + 1]);
    propagate();
}

void BoundStore::add_plan(const Word* state, const std::vector<ActionId>& plan) {
    std::vector<Word> now(state, state + space_.num_words()), next(space_.num_words());
    for (std::size_t i = 0; i < plan.size(); ++i) {
        if (!space_.generator.is_applicable(now.data(), plan[i]))
            throw InputError("step " + std::to_string(i + 1) + " of the plan, " +
                             space_.task.actions[plan[i]].name + ", is not applicable");
        space_.generator.apply(now.data(), plan[i], next.data());
        std::swap(now, next);
    }
    if (!space_.is_goal(now.data())) throw InputError("the plan does not end in a goal state");
    take_path(insert(state), plan, Origin::kGoal, kNoState, 0);
}

void BoundStore::look_ahead(StateId id, const Budget& budget) {
    SearchOptions options;
    options.budget = budget;
    options.budget.max_expansions = std::min(options_.lookahead, budget.max_expansions);
    limit_ = BoundLookahead(*this, id, options).run();
    if (limit_ == LimitHit::kExpansions && options_.lookahead <= budget.max_expansions)
        limit_ = LimitHit::kNone;
}

Total BoundStore::bound(const Word* state) const {
    StateId id = registry_.find(state);
    return id == kNoState ? kEndless : infos_[id].bound;
}

Total BoundStore::policy_cost(const Word* state) const {
    StateId id = registry_.find(state);
    return id == kNoState ? 0 : infos_[id].policy_cost;
}

// Bounds only fall, and every link holds for real costs, so that following links never runs in a circle.
std::vector<ActionId> BoundStore::plan_of(const Word* state) const {
    StateId id = registry_.find(state);
    if (id == kNoState || infos_[id].bound == kEndless)
        throw InputError("nothing is known of the state; add a run or a plan first");
    std::vector<StateId> chain;
    for (; id != kNoState; id = infos_[id].from) chain.push_back(id);
    std::vector<ActionId> plan;  // backwards while steps are added
    for (std::size_t i = chain.size(); i-- > 0;) {
        const Info& info = infos_[chain[i]];
        if (info.origin == Origin::kStep) {
            plan.push_back(info.action);
        } else if (info.origin == Origin::kDominance) {
            std::ranges::reverse(plan);
            plan = dominance_.carry(registry_.state(info.from), plan, registry_.state(chain[i]));
            std::ranges::reverse(plan);
        }
    }
    std::ranges::reverse(plan);
    return plan;
}

std::vector<StateId> BoundStore::take_flagged() {
    return std::exchange(flagged_, {});
}

}  // namespace misstep
