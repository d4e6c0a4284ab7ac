#include "bounds/lookahead.hpp"

namespace misstep {

BoundLookahead::BoundLookahead(BoundStore& store, StateId start, const SearchOptions& options)
    : BestFirstSearch(store.space_, *store.heuristic_, options),
      store_(store),
      start_(start),
      abstract_(store.num_factors_) {}

LimitHit BoundLookahead::run() {
    SearchResult result = finished([this] { search(); });
    store_.expansions_ += result.expanded;
    return result.limit;
}

void BoundLookahead::search() {
    StateId first = nodes_.registry().insert(store_.state(start_)).first;
    nodes_.node(first) = {kNoState, kNoAction, 0};
    fresh_.assign(1, first);
    expand(first);
    StateId id = first;
    while (within_budget() && pop(id)) {
        // Whatever comes of it costs more than what is known.
        if (nodes_.node(id).g >= store_.infos_[start_].bound) continue;
        if (improve(id) && !store_.options_.maximise_gap && store_.infos_[start_].is_flagged) return;
        if (space_.is_goal(nodes_.state(id))) continue;
        expand(id);
    }
}

bool BoundLookahead::pop(StateId& id) {
    while (!open_.empty() || !oldest_.empty()) {
        bool takes_oldest = !oldest_.empty() && (open_.empty() || turn_ % kTurns == kTurns - 1);
        id = takes_oldest ? oldest_.pop() : open_.pop();
        if (is_popped_[id]) continue;
        is_popped_[id] = true;
        ++turn_;
        return true;
    }
    return false;
}

// Whether the way through this state is better than what was known of the start.
bool BoundLookahead::improve(StateId id) {
    const Cost g = nodes_.node(id).g;
    const Word* state = nodes_.state(id);
    const Total known = store_.infos_[start_].bound;
    if (g >= known) return false;
    const Total needed = known == kEndless ? kEndless : known - g;  // a bound below this helps
    auto origin = BoundStore::Origin::kNone;
    StateId source = kNoState;
    Total bound = store_.bound(state);
    if (space_.is_goal(state)) {
        bound = 0;
        origin = BoundStore::Origin::kGoal;
    } else {
        // Known states have been compared already.
        StateId same = store_.registry_.find(state);
        if (same == kNoState || !store_.infos_[same].is_known) {
            store_.dominance_.project(state, abstract_.data());
            Total carried = store_.best_from_known(abstract_.data(), std::min(bound, needed), same, source);
            if (source != kNoState) {
                bound = carried;
                origin = BoundStore::Origin::kDominance;
            }
        }
    }
    if (bound >= needed) return false;
    store_.take_path(start_, nodes_.plan_to(id), origin, source, bound);
    return true;
}

void BoundLookahead::expand(StateId id) {
    reach_new_successors(id);
    const std::vector<Cost>& values = evaluate(fresh_);
    for (std::size_t i = 0; i < fresh_.size(); ++i)
        if (values[i] != kInfinity) {
            open_.push(static_cast<std::uint64_t>(values[i]), fresh_[i]);
            oldest_.push(static_cast<std::uint64_t>(values[i]), fresh_[i]);
        }
    is_popped_.resize(nodes_.registry().size());
}

}  // namespace misstep
