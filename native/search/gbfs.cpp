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
            if (!within_limits()) return;
            StateId id = open_.pop();
            if (space_.is_goal(nodes_.state(id))) {
                result_.outcome = SearchOutcome::kSolved;
                result_.cost = nodes_.node(id).g;
                result_.plan = nodes_.plan_to(id);
                return;
            }
            expand(id);
        }
        // Every state is expanded once, and only states that have no plan even when relaxed are left out.
        result_.outcome = SearchOutcome::kUnsolvable;
        result_.lower_bound = kInfinity;
    }

    void expand(StateId id) {
        ++result_.expanded;
        successors_.generate(nodes_.state(id), nodes_.registry());
        result_.generated += successors_.size();
        const Cost g = nodes_.node(id).g;
        fresh_.clear();
        for (std::size_t i = 0; i < successors_.size(); ++i) {
            auto [successor, is_new] = nodes_.registry().insert(successors_.state(i), successors_.hash(i));
            if (!is_new) continue;
            ActionId action = successors_.action(i);
            nodes_.node(successor) = {id, action, path_cost(g, space_.task.actions[action].cost)};
            fresh_.push_back(successor);
        }
        open_fresh();
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
