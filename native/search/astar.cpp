#include "search/best_first.hpp"

namespace misstep {
namespace {

struct AStarNode {
    StateId parent;
    ActionId action;
    Cost g;
    Cost h : 31;  // kDeadEnd where the heuristic says infinity
    std::uint32_t closed : 1;
};
static_assert(sizeof(AStarNode) == 16);
constexpr Cost kDeadEnd = kMaxCost + 1;

std::uint64_t open_key(Cost f, Cost h) {
    return (static_cast<std::uint64_t>(f) << 32) | static_cast<std::uint32_t>(h);
}
Cost f_of_key(std::uint64_t key) {
    return static_cast<Cost>(key >> 32);
}

class AStar : BestFirstSearch<AStarNode, TieBreak::kLastIn> {
  public:
    AStar(const StateSpace& space, Heuristic& heuristic, const SearchOptions& options)
        : BestFirstSearch(space, heuristic, options), bound_(options.bound), options_(options) {}
    SearchResult run(const Word* start) {
        return finished([&] {
            search(start);
            // Where the search ended before it proved what was asked for, nobody needs a part of the proof.
            bool is_proven = result_.outcome != SearchOutcome::kLimit || result_.lower_bound >= bound_;
            if (options_.frontier != nullptr && heuristic_.is_admissible() && is_proven) tell_frontier();
        });
    }

  private:
    void search(const Word* start) {
        open_start(start);
        while (!open_.empty()) {
            if (heuristic_.is_admissible()) {
                result_.lower_bound = std::max(result_.lower_bound, f_of_key(open_.min_key()));
                if (result_.lower_bound >= bound_) {
                    result_.limit = LimitHit::kBound;
                    return;
                }
            }
            if (!within_budget()) return;
            StateId id = open_.pop();
            if (nodes_.node(id).closed) continue;  // a better entry of the same state was popped before
            nodes_.node(id).closed = 1;
            if (space_.is_goal(nodes_.state(id))) return finish(id);
            expand(id);
        }
        result_.outcome = SearchOutcome::kUnsolvable;
        result_.lower_bound = kInfinity;
    }

    void open_start(const Word* start) {
        StateId id = nodes_.registry().insert(start).first;
        nodes_.node(id) = {kNoState, kNoAction, 0, 0, 0};
        open_all({&id, 1});
    }

    void expand(StateId id) {
        ++result_.expanded;
        successors_.generate(nodes_.state(id), nodes_.registry());
        const Cost g = nodes_.node(id).g;
        result_.generated += successors_.size();
        fresh_.clear();
        for (std::size_t i = 0; i < successors_.size(); ++i) {
            ActionId action = successors_.action(i);
            Cost new_g = add_costs(g, space_.task.actions[action].cost);
            auto [successor, is_new] = nodes_.registry().insert(successors_.state(i), successors_.hash(i));
            AStarNode& node = nodes_.node(successor);
            if (is_new) {
                node = {id, action, new_g, 0, 0};
                fresh_.push_back(successor);
            } else if (new_g < node.g && node.h != kDeadEnd) {
                bool is_fresh = !node.closed && std::ranges::find(fresh_, successor) != fresh_.end();
                node.parent = id;
                node.action = action;
                node.g = new_g;
                node.closed = 0;  // reopened: an inconsistent heuristic may have closed it too early
                if (!is_fresh) push(successor);
            }
        }
        open_all(fresh_);
    }

    void open_all(std::span<const StateId> ids) {
        const std::vector<Cost>& values = evaluate(ids);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            AStarNode& node = nodes_.node(ids[i]);
            node.h = std::min(values[i], kDeadEnd);
            if (node.h != kDeadEnd) push(ids[i]);
        }
    }

    void push(StateId id) {
        const AStarNode& node = nodes_.node(id);
        open_.push(open_key(add_costs(node.g, node.h), node.h), id);
    }

    void finish(StateId id) {
        solved(id);
        if (heuristic_.is_admissible()) result_.lower_bound = nodes_.node(id).g;
    }

    // The bound is what the open list says in the end: it may have been larger before, where a heuristic is
    // inconsistent, and then states are open that cost less. All states below the bound are closed.
    void tell_frontier() {
        Frontier& frontier = *options_.frontier;
        frontier.bound = std::min(result_.lower_bound, bound_);
        if (result_.outcome == SearchOutcome::kLimit && !open_.empty())
            frontier.bound = std::min(frontier.bound, f_of_key(open_.min_key()));
        std::vector<StateId> inside;
        for (StateId id = 0; id < nodes_.registry().size(); ++id)
            if (is_inside(id)) inside.push_back(id);
        if (inside.size() > options_.max_frontier) {
            frontier.bound = 0;  // a bound without its states would look like a proof
            return;
        }
        std::vector<Cost> missing(nodes_.registry().size(), -1);
        for (StateId id : inside) {
            frontier.expanded.insert(frontier.expanded.end(), nodes_.state(id),
                                     nodes_.state(id) + space_.num_words());
            successors_.generate(nodes_.state(id), nodes_.registry());
            for (std::size_t i = 0; i < successors_.size(); ++i) {
                StateId to = nodes_.registry().find(successors_.state(i));
                if (is_inside(to)) continue;
                Cost spent = nodes_.node(id).g + space_.task.actions[successors_.action(i)].cost;
                missing[to] =
                    std::max(missing[to], frontier.bound == kInfinity ? kInfinity : frontier.bound - spent);
            }
        }
        if (!is_inside(0)) missing[0] = frontier.bound;
        for (StateId id = 0; id < missing.size(); ++id) {
            if (missing[id] <= 0) continue;  // too expensive without a plan from there
            frontier.leaves.insert(frontier.leaves.end(), nodes_.state(id),
                                   nodes_.state(id) + space_.num_words());
            frontier.missing.push_back(missing[id]);
        }
    }
    bool is_inside(StateId id) const {
        const AStarNode& node = nodes_.node(id);
        return node.h != kDeadEnd && add_costs(node.g, node.h) < options_.frontier->bound;
    }

    Cost bound_;
    const SearchOptions& options_;
};

}  // namespace

SearchResult astar(const StateSpace& space, Heuristic& heuristic, const Word* start,
                   const SearchOptions& options) {
    return AStar(space, heuristic, options).run(start);
}

}  // namespace misstep
