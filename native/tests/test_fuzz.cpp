// Pools of random walks, biases, novelty and the weighted choice, each against its definition.
#include "fuzz/fuzzer.hpp"

#include <cmath>
#include <limits>
#include <set>

#include "fuzz/weighted_select.hpp"
#include "tests/check.hpp"
#include "tests/table_policy.hpp"

using namespace misstep;
using namespace misstep::testing;

namespace {

constexpr int kTasks = 60;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr BiasKind kBiases[] = {BiasKind::kNone, BiasKind::kPlanLength, BiasKind::kLoopiness,
                                BiasKind::kDetour, BiasKind::kSurface};

double as_double(Cost cost) {
    return cost == kInfinity ? kInf : cost;
}

// Every entry is new, may be tested, and is where its walk leads.
void check_pool(const std::vector<PoolEntry>& pool, const PolicyGraph& graph, const WholeSpace& whole,
                FuzzerKind kind) {
    std::set<std::size_t> seen;
    for (std::size_t i = 0; i < pool.size(); ++i) {
        const std::size_t state = whole.number(graph.state(pool[i].state));
        CHECK(seen.insert(state).second);
        if (i == 0) {
            CHECK(pool[i].parent == kNoParent && pool[i].walk.empty() && state == whole.initial());
            continue;
        }
        CHECK(pool[i].parent < i && !pool[i].walk.empty() && pool[i].walk.size() <= 5);
        const std::size_t parent = whole.number(graph.state(pool[pool[i].parent].state));
        CHECK(whole.after(parent, pool[i].walk) == state);
        CHECK(kind == FuzzerKind::kClassic || !whole.is_goal(state));
    }
}

bool same(const std::vector<PoolEntry>& a, const std::vector<PoolEntry>& b, const PolicyGraph& graph_a,
          const PolicyGraph& graph_b, const WholeSpace& whole) {
    bool equal = a.size() == b.size();
    for (std::size_t i = 0; equal && i < a.size(); ++i)
        equal = a[i].parent == b[i].parent && a[i].walk == b[i].walk && a[i].rng_after == b[i].rng_after &&
                whole.number(graph_a.state(a[i].state)) == whole.number(graph_b.state(b[i].state));
    return equal;
}

}  // namespace

TEST(pools_hold_what_their_walks_lead_to) {
    Rng rng(91);
    std::size_t states = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng, {.max_actions = 20});
        StateSpace space(task);
        WholeSpace whole(space);
        TablePolicy policy(task, whole, rng);
        for (FuzzerKind kind : {FuzzerKind::kClassic, FuzzerKind::kRefined})
            for (BiasKind bias : kBiases) {
                PolicyGraph graph(space, policy, {});
                Fuzzer fuzzer(graph, {.kind = kind, .bias = bias, .max_idle_walks = 200, .seed = rng.next()});
                FuzzStop stop = fuzzer.extend(10, unlimited());
                check_pool(fuzzer.pool(), graph, whole, kind);
                if (stop == FuzzStop::kFull) CHECK(fuzzer.pool().size() >= 10);
                CHECK(stop != FuzzStop::kLimit);
                states += fuzzer.pool().size();
            }
    }
    CHECK(states > 2000);
}

TEST(pools_repeat_by_seed_and_go_on_exactly_after_a_restart) {
    Rng rng(92);
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng, {.max_actions = 20});
        StateSpace space(task);
        WholeSpace whole(space);
        TablePolicy policy(task, whole, rng);
        const FuzzerOptions options{.bias = kBiases[i % 5], .max_idle_walks = 200, .seed = rng.next()};
        PolicyGraph graph(space, policy, {}), other_graph(space, policy, {});
        Fuzzer whole_run(graph, options), first_part(other_graph, options);
        whole_run.extend(12, unlimited());
        first_part.extend(5, unlimited());
        PolicyGraph third_graph(space, policy, {});
        Fuzzer continued(third_graph, options);
        CHECK(!continued.restore(99, {}, 0));
        for (std::size_t e = 1; e < first_part.pool().size(); ++e) {
            const PoolEntry& entry = first_part.pool()[e];
            CHECK(continued.restore(entry.parent, entry.walk, entry.rng_after));
        }
        if (first_part.pool().size() < 5) continue;  // idle walks before a stop are not remembered
        continued.extend(12, unlimited());
        CHECK(same(continued.pool(), whole_run.pool(), third_graph, graph, whole));
    }
}

TEST(novelty_asks_for_a_tuple_of_facts_that_no_pool_state_has) {
    Rng rng(93);
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        RelaxedTask relaxed(space);
        NoveltyTable facts(relaxed, 1), pairs(relaxed, 2);
        using Tuple = std::vector<std::int32_t>;  // variable, value, ...
        std::set<Tuple> known_facts, known_pairs;
        for (int k = 0; k < 12; ++k) {
            const std::size_t state = pick(rng, whole.size());
            const Values& values = whole.values(state);
            bool new_fact = false, new_pair = false;
            for (std::int32_t p = 0; p < task.num_variables(); ++p)
                for (std::int32_t q = p; q < task.num_variables(); ++q) {
                    const std::int32_t a = values[static_cast<std::size_t>(p)];
                    const std::int32_t b = values[static_cast<std::size_t>(q)];
                    new_fact |= !known_facts.contains({p, a});
                    new_pair |= !known_pairs.contains({p, a, q, b});
                }
            CHECK(facts.is_novel(whole.words(state)) == new_fact);
            CHECK(pairs.is_novel(whole.words(state)) == new_pair);
            facts.add(whole.words(state));
            pairs.add(whole.words(state));
            for (std::int32_t p = 0; p < task.num_variables(); ++p) {
                known_facts.insert({p, values[static_cast<std::size_t>(p)]});
                for (std::int32_t q = p; q < task.num_variables(); ++q)
                    known_pairs.insert(
                        {p, values[static_cast<std::size_t>(p)], q, values[static_cast<std::size_t>(q)]});
            }
        }
    }
}

TEST(biases_follow_their_definitions_with_exact_distances) {
    Rng rng(94);
    int runs = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng, {.max_actions = 20});
        StateSpace space(task);
        WholeSpace whole(space);
        TablePolicy policy(task, whole, rng);
        PolicyGraph graph(space, policy, {.detect_dead_ends = false});
        auto distances = make_star_distances(graph, 1'000'000);
        for (std::size_t s = 0; s < whole.size(); s += 2) {
            TablePolicy::Run run = policy.run(task, s, 6, [](std::size_t) { return false; });
            if (run.actions.empty()) continue;
            std::vector<StateId> states;
            std::vector<Cost> costs;
            for (std::size_t state : run.states) states.push_back(graph.insert(whole.words(state)));
            for (ActionId action : run.actions) costs.push_back(task.actions[action].cost);
            std::vector<double> sum{0};
            for (Cost cost : costs) sum.push_back(sum.back() + cost);
            double loop = -kInf;
            for (std::size_t b = 1; b < states.size(); ++b) {
                std::vector<Cost> back = whole.costs_from(run.states[b]);
                for (std::size_t a = 0; a < b; ++a)
                    loop = std::max(loop, sum[b] - sum[a] - as_double(back[run.states[a]]));
            }
            const double direct = as_double(whole.costs_from(s)[run.states.back()]);
            const double goal = as_double(whole.goal_cost(s));
            const double end = as_double(whole.goal_cost(run.states.back()));
            CHECK(bias_value(BiasKind::kPlanLength, states, costs, *distances) == sum.back());
            CHECK(bias_value(BiasKind::kLoopiness, states, costs, *distances) == loop);
            CHECK(bias_value(BiasKind::kDetour, states, costs, *distances) == sum.back() - direct);
            CHECK(bias_value(BiasKind::kSurface, states, costs, *distances) ==
                  (goal == kInf ? -kInf : sum.back() + end - goal));
            ++runs;
        }
        CHECK(!distances->bound_hit());
    }
    CHECK(runs > 150);
}

TEST(weighted_choices_are_proportional) {
    Rng rng(95);
    auto shares = [&](std::vector<double> weights) {
        std::vector<double> counts(weights.size());
        for (int i = 0; i < 20000; ++i) counts[*weighted_select(weights, rng)] += 1.0 / 20000;
        return counts;
    };
    auto near = [](const std::vector<double>& a, const std::vector<double>& b) {
        bool is_near = true;
        for (std::size_t i = 0; i < a.size(); ++i) is_near &= std::abs(a[i] - b[i]) < 0.02;
        return is_near;
    };
    CHECK(near(shares({1, 3, 0}), {0.25, 0.75, 0}));
    CHECK(near(shares({-2, 0, 2}), {0, 1.0 / 3, 2.0 / 3}));
    CHECK(near(shares({0, 0}), {0.5, 0.5}));
    CHECK(near(shares({-5, -5, -kInf}), {0.5, 0.5, 0}));
    CHECK(near(shares({kInf, 7, kInf}), {0.5, 0, 0.5}));
    CHECK(!weighted_select(std::vector<double>{-kInf, -kInf}, rng));
    CHECK(!weighted_select({}, rng));
}
