// Queues and random numbers against plain ones; budgets.
#include <cmath>
#include <map>
#include <queue>
#include <tuple>

#include "search/open_list.hpp"
#include "tests/check.hpp"
#include "util/budget.hpp"
#include "util/cost_queue.hpp"
#include "util/growing_array.hpp"
#include "util/rng.hpp"

using namespace misstep;

TEST(cost_queue_is_sorted_and_first_in_first_out) {
    Rng rng(1);
    CostQueue queue;
    for (int round = 0; round < 200; ++round) {
        using Entry = std::tuple<std::int32_t, int, std::int32_t>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> plain;
        int pushes = 0;
        std::int32_t least = 0;
        std::uint64_t spread = round % 2 == 0 ? 5 : 100000;
        for (int i = 0; i < 300; ++i) {
            if (plain.empty() || rng.below(2) == 0) {
                std::int32_t cost = least + static_cast<std::int32_t>(rng.below(spread));
                queue.push(cost, i);
                plain.emplace(cost, pushes++, i);
            } else {
                auto [cost, value] = queue.pop();
                CHECK(cost == std::get<0>(plain.top()) && value == std::get<2>(plain.top()));
                least = cost;
                plain.pop();
            }
        }
        queue.clear();
        CHECK(queue.empty());
    }
}

template <TieBreak kTieBreak>
static void check_open_list() {
    Rng rng(2);
    OpenList<kTieBreak> open;
    std::map<std::uint64_t, std::vector<StateId>> plain;
    for (StateId i = 0; i < 50000; ++i) {
        if (open.empty() || rng.below(5) < 3) {
            std::uint64_t key = rng.below(rng.below(2) == 0 ? 10 : ~std::uint64_t{0});
            open.push(key, i);
            plain[key].push_back(i);
        } else {
            auto least = plain.begin();
            auto at = kTieBreak == TieBreak::kLastIn ? least->second.end() - 1 : least->second.begin();
            CHECK(open.min_key() == least->first);
            CHECK(open.pop() == *at);
            least->second.erase(at);
            if (least->second.empty()) plain.erase(least);
        }
    }
}

TEST(open_list_last_in) {
    check_open_list<TieBreak::kLastIn>();
}
TEST(open_list_first_in) {
    check_open_list<TieBreak::kFirstIn>();
}

TEST(random_numbers_stay_below_and_reach_all) {
    Rng rng(3);
    std::vector<int> seen(7);
    for (int i = 0; i < 7000; ++i) ++seen[rng.below(7)];
    for (int count : seen) CHECK(count > 850 && count < 1150);
}

TEST(without_limits_no_check_fails) {
    const Budget budget;
    BudgetWatch watch(budget);
    CHECK(budget.over() == LimitHit::kNone && !budget.has_deadline() && std::isinf(budget.seconds_left()));
    for (int i = 0; i < 10'000; ++i)
        CHECK(watch.check(static_cast<std::uint64_t>(i), std::size_t{1} << 40, 1) == LimitHit::kNone);
}

TEST(a_budget_that_is_over_ends_the_first_check) {
    Budget no_time;
    no_time.end_within(0);
    CHECK(no_time.over() == LimitHit::kSeconds && no_time.seconds_left() == 0);
    CHECK(BudgetWatch(no_time).check(0, 0, 1) == LimitHit::kSeconds);
    Budget stopped;
    stopped.stop = std::make_shared<StopFlag>();
    CHECK(BudgetWatch(stopped).check(0, 0, 1) == LimitHit::kNone);
    stopped.stop->stop = true;
    CHECK(stopped.over() == LimitHit::kStopped);
    CHECK(BudgetWatch(stopped).check(0, 0, 1) == LimitHit::kStopped);
    Budget no_memory;
    no_memory.max_bytes = 0;
    CHECK(BudgetWatch(no_memory).check(0, 0, 1) == LimitHit::kMemory);
    Budget little;
    little.max_bytes = 100;
    little.max_expansions = 3;
    CHECK(BudgetWatch(little).check(2, 100, 1) == LimitHit::kNone);
    CHECK(BudgetWatch(little).check(2, 101, 1) == LimitHit::kMemory);
    CHECK(BudgetWatch(little).check(3, 0, 1) == LimitHit::kExpansions);
}

TEST(deadlines_only_come_nearer) {
    Budget budget;
    budget.end_within(1e300);
    CHECK(!budget.has_deadline());
    budget.end_within(1000);
    const auto deadline = budget.deadline;
    budget.end_within(2000);
    CHECK(budget.deadline == deadline && budget.seconds_left() <= 1000 && budget.seconds_left() > 0);
    budget.end_within(0);
    CHECK(budget.over() == LimitHit::kSeconds);
}

TEST(a_stop_flag_is_noticed_while_the_loop_runs) {
    Budget budget;
    budget.stop = std::make_shared<StopFlag>();
    BudgetWatch watch(budget);
    std::uint64_t steps = 0;
    while (watch.check(0, 0, 1) == LimitHit::kNone && steps < 100'000)
        if (++steps == 500) budget.stop->stop = true;
    CHECK(steps >= 500 && steps < 5000);
}

TEST(shuffles_are_fair_and_numbers_go_on_from_a_state) {
    Rng rng(4);
    std::map<std::vector<int>, int> seen;
    for (int i = 0; i < 6000; ++i) {
        std::vector<int> items{0, 1, 2};
        rng.shuffle(items);
        ++seen[items];
    }
    CHECK(seen.size() == 6);
    for (const auto& [_, count] : seen) CHECK(count > 850 && count < 1150);
    Rng other(0);
    other.set_state(rng.state());
    for (int i = 0; i < 10; ++i) CHECK(rng.next() == other.next());
    CHECK(Rng(0).next() == 0xe220a8397b1dcdafULL);  // splitmix64's first number, as published
}

TEST(growing_arrays_keep_what_they_hold) {
    GrowingArray<std::uint32_t> array;
    std::vector<std::uint32_t> plain;
    Rng rng(5);
    for (int i = 0; i < 3000; ++i) {
        if (rng.below(40) == 0) {
            array.shrink(array.size() / 2);
            plain.resize(plain.size() / 2);
        } else {
            const std::size_t count = rng.below(20);
            std::uint32_t* start = array.extend(count);
            for (std::size_t k = 0; k < count; ++k) {
                start[k] = static_cast<std::uint32_t>(rng.next());
                plain.push_back(start[k]);
            }
            array.push_back(7);
            plain.push_back(7);
        }
        CHECK(array.size() == plain.size() && array.capacity_bytes() >= plain.size() * 4);
    }
    CHECK(std::equal(plain.begin(), plain.end(), array.data()));
}

TEST(costs_stay_below_the_largest) {
    CHECK(add_costs(3, 4) == 7 && add_costs(kMaxCost, 1) == kMaxCost && add_costs(kMaxCost, kMaxCost) == kMaxCost);
    CHECK(add_costs(kMaxCost - 1, 1) == kMaxCost && kMaxCost < kInfinity);
}
