#include <limits>

#include "heuristics/relaxation_heuristics.hpp"
#include "search/best_first.hpp"
#include "util/error.hpp"

namespace misstep {
namespace {

// How many times in a row the preferred list is asked after progress, as in Fast Downward's first LAMA
// search.
constexpr std::int64_t kBoost = 1000;

class LazySearch : BestFirstSearch<Node, TieBreak::kFirstIn> {
  public:
    LazySearch(const StateSpace& space, HFF& heuristic, const SearchOptions& options)
        : BestFirstSearch(space, heuristic, options),
          ff_(heuristic),
          is_preferred_(space.task.actions.size(), 0) {}
    SearchResult run(const Word* start) {
        return finished([&] { search(start); });
    }

  private:
    void search(const Word* start) {
        StateId first = nodes_.registry().insert(start).first;
        nodes_.node(first) = {kNoState, kNoAction, 0};
        open_.push(0, first);
        while (!open_.empty() || !preferred_.empty()) {
            if (!within_budget()) return;
            StateId id = pop();
            if (id < is_expanded_.size() && is_expanded_[id]) continue;  // it was in both lists
            is_expanded_.resize(nodes_.registry().size(), 0);
            is_expanded_[id] = 1;
            if (space_.is_goal(nodes_.state(id))) return solved(id);
            expand(id);
        }
        // Every state is expanded once, and only states that have no plan even when relaxed are left out.
        result_.outcome = SearchOutcome::kUnsolvable;
        result_.lower_bound = kInfinity;
    }

    StateId pop() {
        bool ask_preferred = !preferred_.empty() && (open_.empty() || turns_preferred_ <= turns_open_);
        ++(ask_preferred ? turns_preferred_ : turns_open_);
        return ask_preferred ? preferred_.pop() : open_.pop();
    }

    void expand(StateId id) {
        const Cost h = evaluate({&id, 1})[0];
        if (h == kInfinity) return;
        if (h < best_) {
            best_ = h;
            turns_preferred_ -= kBoost;
        }
        for (std::int32_t action : ff_.relaxed_plan()) is_preferred_[action] = 1;
        reach_new_successors(id);
        for (StateId successor : fresh_) {
            open_.push(static_cast<std::uint64_t>(h), successor);
            if (is_preferred_[nodes_.node(successor).action])
                preferred_.push(static_cast<std::uint64_t>(h), successor);
        }
        for (std::int32_t action : ff_.relaxed_plan()) is_preferred_[action] = 0;
    }

    HFF& ff_;
    OpenList<TieBreak::kFirstIn> preferred_;
    std::vector<std::uint8_t> is_preferred_, is_expanded_;
    std::int64_t turns_open_ = 0, turns_preferred_ = 0;
    Cost best_ = kInfinity;
};

}  // namespace

SearchResult lazy(const StateSpace& space, Heuristic& heuristic, const Word* start,
                  const SearchOptions& options) {
    auto* ff = dynamic_cast<HFF*>(&heuristic);
    if (ff == nullptr) throw InputError("a lazy search needs relaxed plans: use lazy:ff");
    return LazySearch(space, *ff, options).run(start);
}

}  // namespace misstep
