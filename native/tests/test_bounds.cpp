// Bound maintenance over the runs of random policies: bounds are above the true cost, plans show them.
#include <set>

#include "bounds/bound_store.hpp"
#include "tests/check.hpp"
#include "tests/table_policy.hpp"
#include "util/error.hpp"

using namespace misstep;
using namespace misstep::testing;

namespace {

constexpr int kTasks = 80;

Dominance dominance_of(const StateSpace& space) {
    DominanceOptions options;
    options.budget = unlimited();
    return make_dominance(space, options);
}

TablePolicy::Run whole_run(const TablePolicy& policy, const Task& task, std::size_t state) {
    return policy.run(task, state, 1000, [](std::size_t) { return false; });
}

PolicyRun as_policy_run(const TablePolicy::Run& run, const WholeSpace& whole) {
    PolicyRun result;
    for (std::size_t state : run.states) result.states.push_back(whole.words(state));
    result.actions = run.actions;
    result.is_solved = run.outcome == Outcome::kSolved;
    result.never_solves = never_solves(run.outcome);
    return result;
}

// What is proven: where the policy fails to answer, no more than what it spent.
Total policy_cost(const TablePolicy& policy, const Task& task, std::size_t state) {
    TablePolicy::Run run = whole_run(policy, task, state);
    return never_solves(run.outcome) ? kEndless : run.cost;
}

// All bounds are at least the true cost and their plans exist; flagged is all that is proven a bug.
void check_store(BoundStore& store, const WholeSpace& whole, const TablePolicy& policy, const Task& task,
                 std::set<std::size_t>& flagged) {
    for (StateId id : store.take_flagged()) CHECK(flagged.insert(whole.number(store.state(id))).second);
    for (std::size_t s = 0; s < whole.size(); ++s) {
        const Total bound = store.bound(whole.words(s));
        CHECK(bound >= whole.goal_cost(s) &&
              store.policy_cost(whole.words(s)) <= policy_cost(policy, task, s));
        CHECK(flagged.contains(s) == (bound < store.policy_cost(whole.words(s))));
        if (bound == kEndless) {
            CHECK_THROWS(InputError, store.plan_of(whole.words(s)));
        } else {
            std::optional<Cost> cost = whole.plan_cost(s, store.plan_of(whole.words(s)));
            CHECK(cost && *cost <= bound);
        }
    }
}

std::size_t run_store(BoundStore& store, const WholeSpace& whole, const Task& task, Rng& rng) {
    TablePolicy policy(task, whole, rng);
    std::set<std::size_t> flagged;
    for (int i = 0; i < 8; ++i) {
        std::size_t start = pick(rng, whole.size());
        if (!whole.is_reachable(start)) continue;
        const bool is_bug = store.add_run(as_policy_run(whole_run(policy, task, start), whole), unlimited());
        CHECK(store.policy_cost(whole.words(start)) == policy_cost(policy, task, start));
        check_store(store, whole, policy, task, flagged);
        CHECK(is_bug == flagged.contains(start));
    }
    return flagged.size();
}

}  // namespace

TEST(bounds_of_runs_are_sound_and_flag_bugs) {
    Rng rng(51);
    std::size_t without = 0, with = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng, {.max_variables = 3, .max_values = 3});
        StateSpace space(task);
        WholeSpace whole(space);
        Dominance dominance = dominance_of(space);
        const std::uint64_t seed = rng.next();
        for (std::uint64_t lookahead : {0, 50}) {
            Rng same_runs(seed);
            BoundStore store(dominance, {.lookahead = lookahead, .maximise_gap = i % 2 == 0});
            (lookahead == 0 ? without : with) += run_store(store, whole, task, same_runs);
        }
    }
    CHECK(without > 10 && with > without);
}

TEST(plans_from_elsewhere_lower_bounds_along_their_way) {
    Rng rng(52);
    int plans = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng, {.max_variables = 3, .max_values = 3});
        StateSpace space(task);
        WholeSpace whole(space);
        Dominance dominance = dominance_of(space);
        BoundStore store(dominance, {});
        // A random walk that comes to a goal is a plan.
        std::vector<std::size_t> states{whole.initial()};
        std::vector<ActionId> plan;
        for (int step = 0; step < 30 && !whole.is_goal(states.back()); ++step) {
            ActionId action = static_cast<ActionId>(pick(rng, task.actions.size()));
            if (!whole.is_applicable(states.back(), action)) continue;
            plan.push_back(action);
            states.push_back(whole.successor(states.back(), action));
        }
        if (!whole.is_goal(states.back())) {
            CHECK_THROWS(InputError, store.add_plan(space.initial.data(), plan));
            continue;
        }
        store.add_plan(space.initial.data(), plan);
        ++plans;
        for (std::size_t step = 0; step < states.size(); ++step) {
            std::vector<ActionId> rest(plan.begin() + static_cast<std::ptrdiff_t>(step), plan.end());
            CHECK(store.bound(whole.words(states[step])) <= *whole.plan_cost(states[step], rest));
        }
        CHECK(store.bound(space.initial.data()) >= whole.goal_cost(whole.initial()));
    }
    CHECK(plans > 20);
}

TEST(runs_that_do_not_fit_together_are_refused) {
    Rng rng(53);
    Task task = random_task(rng);
    StateSpace space(task);
    Dominance dominance = dominance_of(space);
    BoundStore store(dominance, {});
    PolicyRun run{{space.initial.data()}, {0}};
    CHECK_THROWS(InputError, store.add_run(run, unlimited()));
    CHECK(store.bound(space.initial.data()) == kEndless && store.num_known() == 0);
}
