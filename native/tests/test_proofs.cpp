// Abstractions, cuts, frontiers, invariants and lazy search on corridors with a key.
#include "abstraction/abstraction.hpp"
#include "heuristics/heuristic.hpp"
#include "heuristics/relaxation_heuristics.hpp"
#include "proofs/cuts.hpp"
#include "proofs/invariant.hpp"
#include "search/search.hpp"
#include "tests/check.hpp"

using namespace misstep;

namespace {

constexpr int kRooms = 5;

// Variable 0 is where we are, variable 1 whether we have the key (it lies in the first room and breaks in the
// door before the last one). Bring yourself to the last room.
Task corridor() {
    Task task;
    task.variables = {{"me", std::vector<std::string>(kRooms)}, {"key", std::vector<std::string>(3)}};
    for (int room = 0; room + 2 < kRooms; ++room) {
        task.actions.push_back({"(right)", {{0, room}}, {{0, room + 1}}, 1});
        task.actions.push_back({"(left)", {{0, room + 1}}, {{0, room}}, 1});
    }
    task.actions.push_back({"(take)", {{0, 0}, {1, 0}}, {{1, 1}}, 2});
    task.actions.push_back({"(waste)", {{1, 1}}, {{1, 2}}, 0});
    task.actions.push_back({"(pass)", {{0, kRooms - 2}, {1, 1}}, {{0, kRooms - 1}, {1, 2}}, 3});
    task.initial = {2, 0};
    task.goal = {{0, kRooms - 1}};
    return task;
}

constexpr Cost kBest = 2 + 2 + 3 + 3;

std::vector<Word> packed(const StateSpace& space, std::vector<std::int32_t> values) {
    std::vector<Word> state(space.num_words());
    space.packer.pack(values.data(), state.data());
    return state;
}

}  // namespace

TEST(an_abstraction_of_everything_is_exact) {
    Task task = corridor();
    StateSpace space(task);
    Abstraction abstraction(space, {});
    CHECK(abstraction.value(space.initial.data()) == kBest);
    CHECK(abstraction.value(packed(space, {3, 1}).data()) == 3);
    CHECK(abstraction.value(packed(space, {kRooms - 1, 2}).data()) == 0);
    CHECK(abstraction.value(packed(space, {3, 2}).data()) == kInfinity);  // the key is gone
    CHECK(!abstraction.task().steps.empty());
}

TEST(a_shrunk_abstraction_is_admissible) {
    Task task = corridor();
    StateSpace space(task);
    AbstractionOptions options;
    options.max_states = 4;
    Abstraction abstraction(space, options);
    CHECK(abstraction.value(space.initial.data()) <= kBest);
    for (const Factor& factor : abstraction.task().factors) CHECK(factor.num_states <= kRooms);
}

TEST(frontiers_are_covered_by_cuts) {
    Task task = corridor();
    StateSpace space(task);
    LMCut lmcut(space);
    Frontier frontier;
    SearchOptions options;
    options.frontier = &frontier;
    SearchResult found = astar(space, lmcut, space.initial.data(), options);
    CHECK(found.cost == kBest && frontier.bound == kBest);
    ChargesLibrary library(space);
    bool is_known_used = false;
    auto used = library.cover(frontier, nullptr, is_known_used);
    CHECK(used && !is_known_used);
    CHECK(used->empty() == frontier.missing.empty());
    // What is shared by all states need not be found again.
    std::size_t before = library.size();
    CHECK(library.cover(frontier, nullptr, is_known_used) && library.size() == before);
    // Nothing proves more than is true.
    frontier.leaves = space.initial;
    frontier.missing = {kBest + 1};
    CHECK(!library.cover(frontier, nullptr, is_known_used));
}

TEST(frontiers_that_are_too_large_say_nothing) {
    Task task = corridor();
    StateSpace space(task);
    auto blind = make_heuristic(space, "blind");
    Frontier whole, frontier;
    SearchOptions options;
    options.frontier = &whole;
    astar(space, *blind, space.initial.data(), options);
    CHECK(whole.bound == kBest && !whole.expanded.empty());
    options.frontier = &frontier;
    options.max_frontier = whole.expanded.size() / space.num_words() - 1;
    CHECK(astar(space, *blind, space.initial.data(), options).cost == kBest);
    CHECK(frontier.bound == 0 && frontier.expanded.empty() && frontier.leaves.empty());
}

TEST(invariants_show_dead_ends) {
    Task task = corridor();
    CHECK(!find_invariant(task, task.initial, {}));
    auto invariant = find_invariant(task, {1, 2}, {});
    CHECK(invariant && !invariant->never.empty());
    const std::vector<std::int32_t> lost{3, 2}, alive{3, 1};
    CHECK(invariant->holds(lost.data()) && !invariant->holds(alive.data()));
}

TEST(lazy_search_finds_plans_and_dead_ends) {
    Task task = corridor();
    StateSpace space(task);
    HFF ff(space);
    SearchResult found = lazy(space, ff, space.initial.data(), {});
    CHECK(found.outcome == SearchOutcome::kSolved && found.cost >= kBest);
    CHECK(lazy(space, ff, packed(space, {1, 2}).data(), {}).outcome == SearchOutcome::kUnsolvable);
}
