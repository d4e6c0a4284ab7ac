#include "search/best_first.hpp"

namespace misstep {
namespace {

class GreedySearch : BestFirstSearch<Node, TieBreak::kFirstIn> {
  public:
    using BestFirstSearch::BestFirstSearch;
    SearchResult run(const Word* start) {
        return finished([&] { search(start); });
    }

  private:
    void search(const Word* start) {
        StateId first = nodes_.registry().insert(start).first;
        nodes_.node(first) = {kNoState, kNoAction, 0};
        fresh_.assign(1, first);
        open_fresh();
        while (!open_.empty()) {
            if (!within_budget()) return;
            StateId id = open_.pop();
            if (space_.is_goal(nodes_.state(id))) return solved(id);
            reach_new_successors(id);
            open_fresh();
        }
        // Every state is expanded once, and only states that have no plan even when relaxed are left out.
        result_.outcome = SearchOutcome::kUnsolvable;
        result_.lower_bound = kInfinity;
    }

    void open_fresh() {
        const std::vector<Cost>& values = evaluate(fresh_);
        for (std::size_t i = 0; i < fresh_.size(); ++i)
            if (values[i] != kInfinity) open_.push(static_cast<std::uint64_t>(values[i]), fresh_[i]);
    }
};

}  // namespace

SearchResult gbfs(const StateSpace& space, Heuristic& heuristic, const Word* start,
                  const SearchOptions& options) {
    return GreedySearch(space, heuristic, options).run(start);
}

}  // namespace misstep
