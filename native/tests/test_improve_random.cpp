// Plans of random tasks, improved: still plans, never dearer, optimal where that is said.
#include <initializer_list>

#include "improve/improve.hpp"
#include "improve/known_plan.hpp"
#include "improve/neighbourhood.hpp"
#include "improve/postponement.hpp"
#include "tests/check.hpp"
#include "tests/whole_space.hpp"
#include "util/error.hpp"

using namespace misstep;
using namespace misstep::testing;

namespace {

constexpr int kTasks = 300;

// A random walk that ends in a goal, as a clumsy policy would take it; nothing where none was found.
std::optional<std::vector<ActionId>> clumsy_plan(const Task& task, const WholeSpace& whole, Rng& rng) {
    std::vector<ActionId> plan;
    std::size_t state = whole.initial();
    for (int tries = 0; tries < 200; ++tries) {
        if (whole.is_goal(state) && plan.size() > 3) return plan;
        ActionId action = static_cast<ActionId>(pick(rng, task.actions.size()));
        if (!whole.is_applicable(state, action)) continue;
        plan.push_back(action);
        state = whole.successor(state, action);
    }
    return std::nullopt;
}

// Calls use(task, space, whole, plan) for random tasks with a plan; how many there were.
template <class Use>
int for_clumsy_plans(std::uint64_t seed, Use&& use) {
    Rng rng(seed);
    int plans = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        std::optional<std::vector<ActionId>> plan = clumsy_plan(task, whole, rng);
        if (!plan) continue;
        use(task, space, whole, *plan);
        ++plans;
    }
    return plans;
}

// The definition: from the first action on, each is left out, with those that then become inapplicable, where
// the goal is reached all the same.
std::vector<ActionId> plainly_eliminated(const WholeSpace& whole, std::vector<ActionId> plan) {
    for (std::size_t i = 0; i < plan.size();) {
        std::vector<ActionId> without(plan.begin(), plan.begin() + static_cast<std::ptrdiff_t>(i));
        for (std::size_t k = i + 1; k < plan.size(); ++k) {
            without.push_back(plan[k]);
            if (!whole.after(whole.initial(), without)) without.pop_back();
        }
        if (whole.plan_cost(whole.initial(), without))
            plan = without;
        else
            ++i;
    }
    return plan;
}

}  // namespace

TEST(improved_plans_are_plans_and_optimal_where_exhausted) {
    int better = 0;
    int plans = for_clumsy_plans(71, [&](const Task&, const StateSpace& space, const WholeSpace& whole,
                                         const std::vector<ActionId>& plan) {
        const Cost before = *whole.plan_cost(whole.initial(), plan);
        ImproveResult result = improve_plan(space, space.initial.data(), plan, {});
        CHECK(whole.plan_cost(whole.initial(), result.plan) == result.cost);
        CHECK(result.cost <= before && (result.exhausted || result.cost == 0));
        CHECK(result.cost == whole.goal_cost(whole.initial()));
        better += result.cost < before;
        ImproveOptions few{.budget = only_expansions(2)};
        ImproveResult limited = improve_plan(space, space.initial.data(), plan, few);
        CHECK(whole.plan_cost(whole.initial(), limited.plan) == limited.cost && limited.expanded <= 2);
        CHECK(limited.cost <= before && limited.cost >= result.cost);
    });
    CHECK(plans > 50 && better > 30);
}

TEST(action_elimination_leaves_out_what_its_definition_says) {
    int shorter = 0;
    for_clumsy_plans(72, [&](const Task&, const StateSpace& space, const WholeSpace& whole,
                             const std::vector<ActionId>& plan) {
        const Budget budget = unlimited();
        BudgetWatch watch(budget);
        std::vector<ActionId> less = eliminate_actions(space, space.initial.data(), plan, watch);
        CHECK(whole.plan_cost(whole.initial(), less).has_value() && less.size() <= plan.size());
        CHECK(less == plainly_eliminated(whole, plan));
        shorter += less.size() < plan.size();
    });
    CHECK(shorter > 20);
}

TEST(suffixes_are_found_where_they_lead_to_the_goal_and_nowhere_else) {
    for_clumsy_plans(73, [&](const Task& task, const StateSpace& space, const WholeSpace& whole,
                             const std::vector<ActionId>& plan) {
        KnownPlan known(space, space.initial.data(), plan);
        CHECK(known.cost() == plan_cost(task, plan) && known.prefix_cost(plan.size()) == known.cost());
        for (std::size_t s = 0; s < whole.size(); ++s) {
            std::size_t expected = KnownPlan::kNone;  // the shortest suffix: the last place
            for (std::size_t i = 0; i <= plan.size(); ++i) {
                std::vector<ActionId> suffix(plan.begin() + static_cast<std::ptrdiff_t>(i), plan.end());
                if (whole.plan_cost(s, suffix)) expected = i;
            }
            CHECK(known.suffix_from(whole.words(s), kEndless) == expected);
            if (expected != KnownPlan::kNone)
                CHECK(known.suffix_from(whole.words(s), known.suffix_cost(expected)) == KnownPlan::kNone);
        }
    });
}

TEST(each_improver_alone_finds_plans_that_are_cheaper) {
    int found = 0;
    for_clumsy_plans(74, [&](const Task&, const StateSpace& space, const WholeSpace& whole,
                             const std::vector<ActionId>& plan) {
        KnownPlan known(space, space.initial.data(), plan);
        Neighbourhood nearest(space, space.initial.data(), ExpansionOrder::kNearest);
        Neighbourhood promising(space, space.initial.data(), ExpansionOrder::kPromising);
        Postponement postponement(space);
        for (Improver* improver : std::initializer_list<Improver*>{&nearest, &promising, &postponement}) {
            improver->adopt(known);
            std::optional<std::vector<ActionId>> better;
            while (!better && improver->has_more()) better = improver->step(10);
            if (better) {
                std::optional<Cost> cost = whole.plan_cost(whole.initial(), *better);
                CHECK(cost && *cost < known.cost());
                ++found;
            } else if (improver->is_complete()) {
                CHECK(known.cost() == whole.goal_cost(whole.initial()));
            }
        }
    });
    CHECK(found > 100);
}
