// Searches from every state of random tasks, solvable or not, against costs computed over the whole space.
#include "search/search.hpp"
#include "tests/check.hpp"
#include "tests/whole_space.hpp"

using namespace misstep;
using namespace misstep::testing;

namespace {

constexpr int kTasks = 60;

// Whether the result is right for a search that finds plans, though perhaps not cheapest ones.
bool is_right(const SearchResult& result, const WholeSpace& whole, std::size_t state) {
    if (result.outcome == SearchOutcome::kUnsolvable)
        return whole.goal_cost(state) == kInfinity && result.plan.empty() && result.lower_bound == kInfinity;
    return result.outcome == SearchOutcome::kSolved && whole.plan_cost(state, result.plan) == result.cost &&
           result.lower_bound <= whole.goal_cost(state);
}

}  // namespace

TEST(astar_is_optimal_from_every_state) {
    Rng rng(11);
    int solved = 0, unsolvable = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        for (const char* name : {"blind", "hmax", "lmcut"}) {
            auto heuristic = make_heuristic(space, name);
            for (std::size_t s = 0; s < whole.size(); ++s) {
                SearchOptions options;
                if (s % 3 == 0) options.seed = s;
                SearchResult result = astar(space, *heuristic, whole.words(s), options);
                CHECK(is_right(result, whole, s));
                const Cost best = whole.goal_cost(s);
                CHECK(result.cost == (best == kInfinity ? kEndless : best) && result.lower_bound == best);
                ++(result.outcome == SearchOutcome::kSolved ? solved : unsolvable);
            }
        }
    }
    CHECK(solved > 1000 && unsolvable > 1000);
}

TEST(greedy_searches_give_plans_or_say_why_not) {
    Rng rng(12);
    int climbed = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        auto heuristic = make_heuristic(space, "ff");
        for (std::size_t s = 0; s < whole.size(); ++s) {
            CHECK(is_right(gbfs(space, *heuristic, whole.words(s), {}), whole, s));
            SearchResult climb = ehc(space, *heuristic, whole.words(s), {});
            if (climb.limit == LimitHit::kIncomplete)
                CHECK(climb.outcome == SearchOutcome::kLimit && climb.plan.empty());
            else
                CHECK(is_right(climb, whole, s));
            climbed += climb.outcome == SearchOutcome::kSolved && climb.cost > 0;
        }
    }
    CHECK(climbed > 100);
}

TEST(astar_stops_at_a_bound_exactly_where_no_cheaper_plan_exists) {
    Rng rng(13);
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        auto heuristic = make_heuristic(space, "lmcut");
        const Cost best = whole.goal_cost(whole.initial());
        if (best == kInfinity || best == 0) continue;
        for (Cost bound : {1, best - 1, best, best + 1}) {
            if (bound < 1) continue;
            SearchOptions options;
            options.bound = bound;
            SearchResult result = astar(space, *heuristic, space.initial.data(), options);
            CHECK((result.limit == LimitHit::kBound) == (bound <= best));
            CHECK(result.lower_bound <= best);
            if (bound > best) CHECK(result.cost == best);
            if (bound <= best) CHECK(result.lower_bound >= bound);
        }
    }
}

TEST(searches_respect_the_number_of_expansions) {
    Rng rng(14);
    int hits = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        auto heuristic = make_heuristic(space, "blind");
        for (std::uint64_t count : {0, 1, 3, 10}) {
            SearchOptions options;
            options.budget = only_expansions(count);
            for (auto search : {astar, gbfs, ehc}) {
                SearchResult result = search(space, *heuristic, space.initial.data(), options);
                CHECK(result.expanded <= count);
                CHECK(result.lower_bound <= whole.goal_cost(whole.initial()));
                CHECK((result.outcome == SearchOutcome::kLimit) == (result.limit != LimitHit::kNone));
                hits += result.limit == LimitHit::kExpansions;
            }
        }
    }
    CHECK(hits > 50);
}

TEST(layers_of_states_are_counted) {
    Rng rng(15);
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng, {.max_cost = 1, .min_cost = 1});
        StateSpace space(task);
        WholeSpace whole(space);
        std::vector<std::uint64_t> expected;
        for (Cost depth : whole.costs_from(whole.initial())) {
            if (depth == kInfinity) continue;
            expected.resize(std::max(expected.size(), static_cast<std::size_t>(depth) + 1));
            ++expected[static_cast<std::size_t>(depth)];
        }
        LimitHit limit = LimitHit::kNone;
        CHECK(count_states(space, space.initial.data(), 1000, unlimited(), limit) == expected);
        CHECK(limit == LimitHit::kNone);
        expected.resize(std::min<std::size_t>(expected.size(), 2));
        CHECK(count_states(space, space.initial.data(), 1, unlimited(), limit) == expected);
    }
}
