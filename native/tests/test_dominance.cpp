// Dominance functions of random tasks against exact costs: D(s,t) <= h*(s) - h*(t), and plans that show it.
#include "dominance/dominance.hpp"
#include "tests/check.hpp"
#include "tests/whole_space.hpp"
#include "util/error.hpp"

using namespace misstep;
using namespace misstep::testing;

namespace {

constexpr int kTasks = 80;
constexpr TaskShape kShape{.max_variables = 3, .max_values = 3, .max_actions = 8};

DominanceOptions options(bool merged, bool fixed_point = true) {
    DominanceOptions result;
    result.factors.merged = merged;
    result.fixed_point = fixed_point;
    result.budget = unlimited();
    return result;
}

// Follows cheapest steps; at equal cost the one that needs fewer further steps, or zero-cost actions would
// lead in circles.
std::vector<ActionId> cheapest_plan(const Task& task, const WholeSpace& whole, std::size_t state) {
    std::vector<std::size_t> steps(whole.size(), whole.size());
    auto is_step = [&](std::size_t s, ActionId a) {
        return whole.is_applicable(s, a) && whole.goal_cost(whole.successor(s, a)) != kInfinity &&
               whole.goal_cost(s) == whole.goal_cost(whole.successor(s, a)) + task.actions[a].cost;
    };
    for (std::size_t round = 0; round < whole.size(); ++round)
        for (std::size_t s = 0; s < whole.size(); ++s) {
            if (whole.is_goal(s)) steps[s] = 0;
            for (ActionId a = 0; a < task.actions.size(); ++a)
                if (is_step(s, a)) steps[s] = std::min(steps[s], steps[whole.successor(s, a)] + 1);
        }
    std::vector<ActionId> plan;
    while (!whole.is_goal(state))
        for (ActionId a = 0; a < task.actions.size(); ++a)
            if (is_step(state, a) && steps[whole.successor(state, a)] < steps[state]) {
                plan.push_back(a);
                state = whole.successor(state, a);
                break;
            }
    return plan;
}

// How many values are finite for two different states; checks all of them, and carries a plan along each.
int check_function(const Dominance& dominance, const WholeSpace& whole) {
    const Task& task = dominance.space().task;
    int informative = 0;
    for (std::size_t s = 0; s < whole.size(); ++s) {
        // D speaks of reachable states with a plan only.
        if (!whole.is_reachable(s) || whole.goal_cost(s) == kInfinity) continue;
        const std::vector<ActionId> plan = cheapest_plan(task, whole, s);
        CHECK(whole.plan_cost(s, plan) == whole.goal_cost(s));
        for (std::size_t t = 0; t < whole.size(); ++t) {
            const DominanceValue value = dominance.value(whole.words(s), whole.words(t));
            if (!whole.is_reachable(t) || value == kNever) continue;
            CHECK(whole.goal_cost(t) != kInfinity && value <= whole.goal_cost(s) - whole.goal_cost(t));
            std::optional<Cost> carried =
                whole.plan_cost(t, dominance.carry(whole.words(s), plan, whole.words(t)));
            CHECK(carried && *carried <= whole.goal_cost(s) - value);
            informative += s != t;
        }
    }
    return informative;
}

}  // namespace

TEST(dominance_never_promises_more_than_the_true_costs) {
    Rng rng(41);
    int informative = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng, kShape);
        StateSpace space(task);
        WholeSpace whole(space);
        for (bool merged : {false, true})
            informative += check_function(make_dominance(space, options(merged)), whole);
    }
    CHECK(informative > 200);
}

TEST(distances_by_tau_moves_are_a_dominance_function_and_the_fixed_point_knows_no_less) {
    Rng rng(42);
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng, kShape);
        StateSpace space(task);
        WholeSpace whole(space);
        Dominance tau = make_dominance(space, options(false, false));
        Dominance full = make_dominance(space, options(false));
        check_function(tau, whole);
        for (std::size_t s = 0; s < whole.size(); ++s)
            for (std::size_t t = 0; t < whole.size(); ++t)
                CHECK(tau.value(whole.words(s), whole.words(t)) <=
                      full.value(whole.words(s), whole.words(t)));
    }
}

TEST(morphs_change_one_variable_and_are_related) {
    Rng rng(43);
    std::size_t morphs = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng, kShape);
        StateSpace space(task);
        WholeSpace whole(space);
        Dominance dominance = make_dominance(space, options(false));
        for (std::size_t t = 0; t < whole.size(); ++t)
            for (const Morph& morph : dominance.morph(whole.words(t), 3, t)) {
                const Values& other = whole.values(whole.number(morph.state.data()));
                int differences = 0;
                for (std::size_t var = 0; var < other.size(); ++var)
                    differences += other[var] != whole.values(t)[var];
                CHECK(differences == 1);
                CHECK(morph.value != kNever &&
                      morph.value == dominance.value(morph.state.data(), whole.words(t)));
                ++morphs;
            }
    }
    CHECK(morphs > 50);
}

TEST(values_of_a_file_are_taken_only_where_they_are_a_fixed_point) {
    Rng rng(44);
    int refused = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng, kShape);
        StateSpace space(task);
        Dominance dominance = make_dominance(space, options(false));
        std::vector<std::vector<DominanceValue>> values;
        for (std::size_t f = 0; f < dominance.num_factors(); ++f) values.push_back(dominance.values(f));
        Dominance loaded = make_dominance(space, options(false, false));
        loaded.replace_values(values);
        for (std::size_t f = 0; f < values.size(); ++f) CHECK(loaded.values(f) == values[f]);
        for (auto& factor : values)
            for (DominanceValue& value : factor) {
                const DominanceValue right = value;
                value = 1'000'000;  // no two states of these tasks differ by so much
                Dominance victim = make_dominance(space, options(false, false));
                CHECK_THROWS(InputError, victim.replace_values(values));
                value = right;
                ++refused;
            }
    }
    CHECK(refused > 100);
}

// Two batteries to be charged; a full one is worth 5 more than an empty one, whatever the other is like.
TEST(independent_variables_have_the_values_one_expects) {
    Task task;
    task.variables = {{"a", {"(empty a)", "(full a)"}}, {"b", {"(empty b)", "(full b)"}}};
    task.actions = {{"(charge a)", {{0, 0}}, {{0, 1}}, 5}, {"(charge b)", {{1, 0}}, {{1, 1}}, 5}};
    task.initial = {0, 0};
    task.goal = {{0, 1}, {1, 1}};
    StateSpace space(task);
    WholeSpace whole(space);
    Dominance dominance = make_dominance(space, options(false));
    auto value = [&](const Values& s, const Values& t) {
        return dominance.value(whole.words(whole.number(s)), whole.words(whole.number(t)));
    };
    CHECK(value({0, 0}, {1, 0}) == 5 && value({0, 0}, {1, 1}) == 10 && value({1, 1}, {0, 1}) == -5);
    CHECK(value({0, 1}, {1, 0}) == 0 && value({0, 1}, {0, 1}) == 0);
}
