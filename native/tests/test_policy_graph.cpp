// Runs of table policies on random tasks against stepping through them, and lookahead against all paths.
#include "policy_graph/heuristic_policy.hpp"
#include "policy_graph/lookahead.hpp"
#include "policy_graph/policy_graph.hpp"
#include "tests/check.hpp"
#include "tests/table_policy.hpp"
#include "util/error.hpp"

using namespace misstep;
using namespace misstep::testing;

namespace {

constexpr int kTasks = 80;

std::vector<StateId> insert_all(PolicyGraph& graph, const WholeSpace& whole) {
    std::vector<StateId> ids;
    for (std::size_t s = 0; s < whole.size(); ++s) ids.push_back(graph.insert(whole.words(s)));
    return ids;
}

// The cheapest plan of at most `depth` free steps and then the policy.
Total plain_lookahead(const Task& task, const WholeSpace& whole, const TablePolicy& policy, std::size_t state,
                      std::uint32_t depth) {
    if (whole.is_goal(state)) return 0;
    Total best = kEndless;
    TablePolicy::Run run = policy.run(task, state, 1000, [](std::size_t) { return false; });
    if (run.outcome == Outcome::kSolved) best = run.cost;
    if (depth == 0) return best;
    for (ActionId a = 0; a < task.actions.size(); ++a) {
        if (!whole.is_applicable(state, a)) continue;
        Total rest = plain_lookahead(task, whole, policy, whole.successor(state, a), depth - 1);
        if (rest != kEndless) best = std::min(best, rest + task.actions[a].cost);
    }
    return best;
}

}  // namespace

TEST(runs_end_as_stepping_through_them_does) {
    Rng rng(81);
    std::vector<int> outcomes(7);
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        TablePolicy policy(task, whole, rng);
        auto hmax = make_heuristic(space, "hmax");
        const bool detects = i % 2 == 0;
        auto is_dead_end = [&](std::size_t s) {
            return detects && hmax->evaluate(whole.words(s)) == kInfinity;
        };
        PolicyGraph graph(space, policy, {.detect_dead_ends = detects});
        std::vector<StateId> ids = insert_all(graph, whole);
        for (std::uint32_t max_steps : {3U, 1U, 1000U, 0U, 5U}) {
            std::vector<RunInfo> runs = graph.run(ids, max_steps, unlimited());
            CHECK(runs.size() == ids.size());
            for (std::size_t s = 0; s < runs.size(); ++s) {
                TablePolicy::Run expected = policy.run(task, s, max_steps, is_dead_end);
                CHECK(runs[s].outcome == expected.outcome && runs[s].cost == expected.cost);
                CHECK(runs[s].start == ids[s] && runs[s].last == ids[expected.states.back()]);
                std::vector<StateId> trace = graph.trace(ids[s], runs[s].steps);
                CHECK(trace.size() == expected.states.size());
                for (std::size_t k = 0; k < trace.size(); ++k) CHECK(trace[k] == ids[expected.states[k]]);
                Total total = 0;
                for (Cost cost : graph.step_costs(trace)) total += cost;
                CHECK(total == expected.cost);
                ++outcomes[static_cast<std::size_t>(runs[s].outcome)];
                if (std::optional<Outcome> known = graph.known_outcome(ids[s]); known && max_steps == 1000)
                    CHECK(*known == expected.outcome);
            }
        }
    }
    for (int count : outcomes) CHECK(count > 20);
}

TEST(an_answer_means_the_first_split_that_applies) {
    Rng rng(84);
    std::size_t changed = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng);
        for (Action& action : task.actions) action.name = "(a " + std::to_string(rng.below(4)) + ")";
        StateSpace space(task);
        WholeSpace whole(space);
        TablePolicy policy(task, whole, rng), plain = policy;
        for (std::size_t s = 0; s < whole.size(); ++s) {
            const ActionId answer = policy.table[s];
            if (answer >= task.actions.size()) continue;
            std::vector<ActionId> same, applicable;
            for (ActionId a = 0; a < task.actions.size(); ++a)
                if (task.actions[a].name == task.actions[answer].name) {
                    same.push_back(a);
                    if (whole.is_applicable(s, a)) applicable.push_back(a);
                }
            plain.table[s] = applicable.empty() ? same.front() : applicable.front();
            CHECK(space.meant(whole.words(s), answer) == plain.table[s]);
            changed += plain.table[s] != answer;
        }
        CHECK(space.meant(whole.words(0), kNoAction) == kNoAction);
        CHECK(space.meant(whole.words(0), kNoDecision) == kNoDecision);
        PolicyGraph graph(space, policy, {.detect_dead_ends = false});
        std::vector<StateId> ids = insert_all(graph, whole);
        std::vector<RunInfo> runs = graph.run(ids, 1000, unlimited());
        for (std::size_t s = 0; s < runs.size(); ++s) {
            TablePolicy::Run expected = plain.run(task, s, 1000, [](std::size_t) { return false; });
            CHECK(runs[s].outcome == expected.outcome && runs[s].cost == expected.cost);
            for (std::size_t k = 0; k < expected.actions.size(); ++k)
                CHECK(graph.action(ids[expected.states[k]]) == expected.actions[k]);
        }
    }
    CHECK(changed > 100);
}

TEST(each_state_is_asked_once) {
    Rng rng(82);
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        TablePolicy policy(task, whole, rng);
        PolicyGraph graph(space, policy, {.recheck_every = 0});
        std::vector<StateId> ids = insert_all(graph, whole);
        graph.run(ids, 1000, unlimited());
        const std::size_t asked = policy.asked;
        graph.run(ids, 1000, unlimited());
        CHECK(policy.asked == asked && asked <= whole.size() && graph.states_asked() == asked);
    }
}

TEST(a_policy_that_changes_its_mind_is_noticed) {
    // Forwards for ever in a ring, until one of the answers is another one.
    class Flaky final : public Policy {
      public:
        void choose(std::span<const Word* const> states, ActionId* actions) override {
            for (std::size_t i = 0; i < states.size(); ++i) actions[i] = ++asked_ % 40 == 0 ? 1 : 0;
        }

      private:
        std::uint64_t asked_ = 0;
    };
    Task task;
    task.variables = {{"at", std::vector<std::string>(500)}, {"done", {"(no)", "(yes)"}}};
    for (int var = 0; var < 500; ++var) task.variables[0].values[static_cast<std::size_t>(var)] = "(at)";
    task.actions = {{"(wait)", {}, {{1, 0}}, 1}, {"(also wait)", {}, {{1, 0}}, 1}, {"(do)", {}, {{1, 1}}, 1}};
    task.initial = {0, 0};
    task.goal = {{1, 1}};
    StateSpace space(task);
    Flaky policy;
    PolicyGraph graph(space, policy, {.recheck_every = 2});
    std::vector<StateId> ids;
    std::vector<Word> words(space.num_words());
    for (std::int32_t at = 0; at < 500; ++at) {
        Values values{at, 0};
        space.packer.pack(values.data(), words.data());
        ids.push_back(graph.insert(words.data()));
    }
    CHECK_THROWS(FlakyPolicy, [&] {
        for (std::size_t first = 0; first + 50 <= ids.size(); first += 50)
            graph.run(std::span(ids).subspan(first, 50), 10, unlimited());
        return 0;
    }());
}

TEST(lookahead_finds_the_cheapest_of_all_paths) {
    Rng rng(83);
    int found = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng, {.max_variables = 3, .max_actions = 6});
        StateSpace space(task);
        WholeSpace whole(space);
        TablePolicy policy(task, whole, rng);
        PolicyGraph graph(space, policy, {.detect_dead_ends = false});
        for (std::size_t s = 0; s < whole.size(); ++s) {
            if (whole.is_goal(s)) continue;
            StateId start = graph.insert(whole.words(s));
            for (std::uint32_t depth : {1U, 2U, 3U}) {
                const Total expected = plain_lookahead(task, whole, policy, s, depth);
                LookaheadOptions options;
                options.depth = depth;
                LookaheadResult result = lookahead(graph, start, options);
                CHECK(result.cost == expected && result.limit == LimitHit::kNone);
                if (result.cost == kEndless) continue;
                CHECK(whole.plan_cost(s, result.plan) == result.cost);
                options.bound = expected;
                CHECK(lookahead(graph, start, options).cost == kEndless);
                ++found;
            }
        }
    }
    CHECK(found > 150);
}

TEST(a_graph_that_works_ahead_spares_the_other_questions_but_changes_nothing) {
    Rng rng(85);
    std::size_t spared = 0, counted = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng, {.max_variables = 5, .max_actions = 12});
        StateSpace space(task);
        WholeSpace whole(space);
        TablePolicy policy(task, whole, rng), alone_policy = policy, ahead_policy = policy;
        AnswerBook book(space.num_words());
        PolicyGraph graph(space, policy, {.recheck_every = 4});
        PolicyGraph alone(space, alone_policy, {.recheck_every = 4});
        PolicyGraph ahead(space, ahead_policy, {.recheck_every = 0, .is_ahead = true});
        graph.share(&book);
        ahead.share(&book);
        for (std::size_t s = 0; s < whole.size(); ++s) {
            if (rng.below(2) == 0) {
                ahead.forget();
                const std::uint64_t before = ahead.states_asked();
                LookaheadResult guess = lookahead(ahead, ahead.insert(whole.words(s)), {.depth = 1});
                CHECK(guess.asked == ahead.states_asked() - before);
                // It counts as the other one is going to count.
                CHECK(guess.asked == lookahead(alone, alone.insert(whole.words(s)), {.depth = 1}).asked);
                CHECK(guess.cost == lookahead(graph, graph.insert(whole.words(s)), {.depth = 1}).cost);
            }
            LookaheadOptions options;
            options.budget.max_expansions = rng.below(8);
            LookaheadResult one = lookahead(graph, graph.insert(whole.words(s)), options);
            LookaheadResult other = lookahead(alone, alone.insert(whole.words(s)), options);
            CHECK(one.plan == other.plan && one.cost == other.cost && one.limit == other.limit);
            CHECK(one.asked == other.asked && graph.states_asked() == alone.states_asked());
            counted += one.asked;
        }
        CHECK(policy.asked <= alone_policy.asked);
        spared += alone_policy.asked - policy.asked;
    }
    CHECK(spared > 100 && counted > 50);
}

TEST(greedy_descent_takes_the_first_of_the_best_successors) {
    Rng rng(84);
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        auto heuristic = make_heuristic(space, "ff");
        HeuristicPolicy policy(space, "ff");
        std::vector<const Word*> states;
        for (std::size_t s = 0; s < whole.size(); ++s) states.push_back(whole.words(s));
        std::vector<ActionId> chosen(states.size());
        policy.choose(states, chosen.data());
        for (std::size_t s = 0; s < whole.size(); ++s) {
            ActionId best = kNoAction;
            Cost least = kInfinity;
            for (ActionId a = 0; a < task.actions.size(); ++a) {
                if (!whole.is_applicable(s, a)) continue;
                const Cost value = heuristic->evaluate(whole.words(whole.successor(s, a)));
                if (value < least) best = a;
                least = std::min(least, value);
            }
            CHECK(chosen[s] == best);
        }
    }
}
