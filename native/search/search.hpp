// Forward searches from any state, bounded and stoppable; free functions over a state space and a heuristic.
#pragma once

#include <optional>
#include <vector>

#include "heuristics/heuristic.hpp"
#include "util/budget.hpp"

namespace misstep {

enum class SearchOutcome { kSolved, kUnsolvable, kLimit };

struct SearchResult {
    SearchOutcome outcome = SearchOutcome::kLimit;
    LimitHit limit = LimitHit::kNone;
    std::vector<ActionId> plan;
    Total cost = kEndless;  // of the plan
    Cost lower_bound = 0;   // proven for the start state
    std::uint64_t expanded = 0;
    std::uint64_t evaluated = 0;
    std::uint64_t generated = 0;
    std::uint64_t registered = 0;
    std::size_t bytes = 0;  // of all that was stored
    double seconds = 0;
};

// Why a search may say that no plan costs less than `bound`: it expanded some states, and whatever leaves
// them is too expensive already, together with what a plan from there costs at least.
struct Frontier {
    Cost bound = 0;
    std::vector<Word> expanded;  // one state after another
    std::vector<Word> leaves;    // states outside that one step from inside leads to
    std::vector<Cost> missing;   // by leaf: what a plan from there must cost at least
};

struct SearchOptions {
    Budget budget;
    // Where given, successors are looked at in a random order made from this seed, otherwise in the task's
    // order.
    std::optional<std::uint64_t> seed;
    // A* with an admissible heuristic ends with LimitHit::kBound as soon as no plan can cost less than this.
    Cost bound = kInfinity;
    // Where given, A* says here why its lower bound holds; left empty, with bound 0, where that takes more
    // states than `max_frontier`.
    Frontier* frontier = nullptr;
    std::size_t max_frontier = 200'000;
};

// Optimal with an admissible heuristic; reopens states, so the heuristic need not be consistent.
SearchResult astar(const StateSpace& space, Heuristic& heuristic, const Word* start,
                   const SearchOptions& options);

// Eager greedy best-first search: states are evaluated when generated, ties first in, first out.
SearchResult gbfs(const StateSpace& space, Heuristic& heuristic, const Word* start,
                  const SearchOptions& options);

// Lazy greedy search (Helmert 2006): states are evaluated when they are expanded, successors wait under the
// estimate of their parent, those by actions of its relaxed plan in a second list that is asked more often
// after every progress. Complete; the heuristic must be h^FF, InputError otherwise.
SearchResult lazy(const StateSpace& space, Heuristic& heuristic, const Word* start,
                  const SearchOptions& options);

// Enforced hill-climbing (Hoffmann & Nebel 2001): breadth-first to a strictly better state, again and again.
// Incomplete: ends with LimitHit::kIncomplete where no better state is found.
SearchResult ehc(const StateSpace& space, Heuristic& heuristic, const Word* start,
                 const SearchOptions& options);

// The number of distinct states first reached at depth 0, 1, ..., max_depth from `start`.
std::vector<std::uint64_t> count_states(const StateSpace& space, const Word* start, std::uint32_t max_depth,
                                        const Budget& budget, LimitHit& limit);

}  // namespace misstep
