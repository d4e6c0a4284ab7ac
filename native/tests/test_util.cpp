// Queues and random numbers against plain ones.
#include <map>
#include <queue>
#include <tuple>

#include "search/open_list.hpp"
#include "tests/check.hpp"
#include "util/cost_queue.hpp"
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
