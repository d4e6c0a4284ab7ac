// What A* and greedy search share: stored nodes, an open list, evaluation in batches, and how a run ends.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "search/node_store.hpp"
#include "search/open_list.hpp"

namespace misstep {

template <class NodeType, TieBreak kTieBreak>
class BestFirstSearch {
  public:
    BestFirstSearch(const StateSpace& space, Heuristic& heuristic, const SearchOptions& options)
        : space_(space),
          heuristic_(heuristic),
          watch_(options.budget),
          nodes_(space),
          successors_(space, options) {}

  protected:
    // Runs `search`; memory that runs out is a limit like any other.
    template <class Search>
    SearchResult finished(Search&& search) {
        try {
            search();
        } catch (const std::bad_alloc&) {
            result_.outcome = SearchOutcome::kLimit;
            result_.limit = LimitHit::kMemory;
        } catch (const Interrupted&) {
            result_.outcome = SearchOutcome::kLimit;
        }
        result_.registered = nodes_.registry().size();
        result_.bytes = bytes();
        result_.seconds = watch_.seconds();
        return std::move(result_);
    }

    // Whether the search may go on; work since the last call counts by what it evaluated.
    bool within_budget() {
        result_.limit =
            watch_.check(result_.expanded, bytes(), 1 + work_of(std::exchange(evaluated_since_, 0)));
        return result_.limit == LimitHit::kNone;
    }

    // Expands a state for searches that never come back to one: fresh_ holds the successors seen first here.
    void reach_new_successors(StateId id) {
        ++result_.expanded;
        successors_.generate(nodes_.state(id), nodes_.registry());
        result_.generated += successors_.size();
        const Cost g = nodes_.node(id).g;
        fresh_.clear();
        for (std::size_t i = 0; i < successors_.size(); ++i) {
            auto [successor, is_new] = nodes_.registry().insert(successors_.state(i), successors_.hash(i));
            if (!is_new) continue;
            ActionId action = successors_.action(i);
            nodes_.node(successor) = {id, action, add_costs(g, space_.task.actions[action].cost)};
            fresh_.push_back(successor);
        }
    }

    void solved(StateId goal) {
        result_.outcome = SearchOutcome::kSolved;
        result_.plan = nodes_.plan_to(goal);
        result_.cost = plan_cost(space_.task, result_.plan);
    }

    // The heuristic's values, in the order of `ids`.
    const std::vector<Cost>& evaluate(std::span<const StateId> ids) {
        states_.clear();
        for (StateId id : ids) states_.push_back(nodes_.state(id));
        values_.resize(ids.size());
        const std::span<const Word* const> all(states_);
        for (std::size_t at = 0; at < all.size(); at += kTogether) {
            if (at > 0) {  // A state may have thousands of successors.
                result_.limit = watch_.check(0, 0, work_of(kTogether));
                if (result_.limit != LimitHit::kNone) throw Interrupted{};
            }
            heuristic_.evaluate(all.subspan(at, std::min(kTogether, all.size() - at)), values_.data() + at);
        }
        result_.evaluated += ids.size();
        evaluated_since_ += ids.size();
        return values_;
    }

    const StateSpace& space_;
    Heuristic& heuristic_;
    BudgetWatch watch_;
    NodeStore<NodeType> nodes_;
    Successors successors_;
    OpenList<kTieBreak> open_;
    SearchResult result_;
    std::vector<StateId> fresh_;  // the new successors of the last expansion

  private:
    struct Interrupted : std::exception {};       // in the middle of an expansion, which is not finished
    static constexpr std::size_t kTogether = 64;  // states that are evaluated between two looks at the budget

    // Of evaluating so many states: what heuristics take grows with the actions.
    std::uint64_t work_of(std::size_t states) const {
        return states * (10 + space_.task.actions.size() / 20);
    }
    std::size_t bytes() { return nodes_.registry().bytes() + open_.size() * sizeof(StateId); }

    std::vector<const Word*> states_;
    std::vector<Cost> values_;
    std::uint64_t evaluated_since_ = 0;
};

}  // namespace misstep
