#include <new>

#include "search/node_store.hpp"
#include "search/open_list.hpp"

namespace misstep {
namespace {

class GreedySearch {
  public:
    GreedySearch(const StateSpace& space, Heuristic& heuristic, const SearchOptions& options)
        : space_(space),
          heuristic_(heuristic),
          watch_(options.limits),
          nodes_(space),
          successors_(space, options) {}

    SearchResult run(const Word* start) {
        try {
            search(start);
        } catch (const std::bad_alloc&) {
            result_.outcome = SearchOutcome::kLimit;
            result_.limit = LimitHit::kMemory;
        }
        result_.registered = nodes_.registry().size();
        result_.bytes = bytes();
        result_.seconds = watch_.seconds();
        return std::move(result_);
    }

  private:
    std::size_t bytes() { return nodes_.registry().bytes() + open_.size() * sizeof(StateId); }

    void search(const Word* start) {
        StateId first = nodes_.registry().insert(start).first;
        nodes_.node(first) = {kNoState, kNoAction, 0};
        fresh_.assign(1, first);
        evaluate_fresh();
        while (!open_.empty()) {
            LimitHit hit = watch_.check(result_.expanded, bytes(), 1 + fresh_.size() * 10);
            if (hit != LimitHit::kNone) {
                result_.limit = hit;
                return;
            }
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
        evaluate_fresh();
    }

    void evaluate_fresh() {
        states_.clear();
        for (StateId id : fresh_) states_.push_back(nodes_.state(id));
        values_.resize(fresh_.size());
        heuristic_.evaluate(states_, values_.data());
        result_.evaluated += fresh_.size();
        for (std::size_t i = 0; i < fresh_.size(); ++i)
            if (values_[i] != kInfinity) open_.push(static_cast<std::uint64_t>(values_[i]), fresh_[i]);
    }

    const StateSpace& space_;
    Heuristic& heuristic_;
    LimitWatch watch_;
    NodeStore<Node> nodes_;
    Successors successors_;
    OpenList<TieBreak::kFirstIn> open_;
    SearchResult result_;
    std::vector<StateId> fresh_;  // the new successors of the last expansion
    std::vector<const Word*> states_;
    std::vector<Cost> values_;
};

}  // namespace

SearchResult gbfs(const StateSpace& space, Heuristic& heuristic, const Word* start,
                  const SearchOptions& options) {
    return GreedySearch(space, heuristic, options).run(start);
}

}  // namespace misstep
