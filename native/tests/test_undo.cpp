// Undo proofs on random tasks: what they promise holds in every reachable state.
#include "undo/undo_proofs.hpp"

#include "tests/check.hpp"
#include "tests/whole_space.hpp"

using namespace misstep;
using namespace misstep::testing;

namespace {

constexpr int kTasks = 150;

// Few values, so that many actions have a way back.
Task tight_task(Rng& rng) {
    return random_task(rng, {.max_variables = 3, .max_values = 3, .max_actions = 12});
}

}  // namespace

TEST(inverses_restore_every_reachable_state) {
    Rng rng(61);
    int inverses = 0, missed = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = tight_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        UndoProofs proofs(space, {});
        for (ActionId a = 0; a < task.actions.size(); ++a) {
            std::optional<ActionId> inverse = proofs.inverse(a);
            for (std::size_t s = 0; s < whole.size(); ++s) {
                if (!whole.is_applicable(s, a)) continue;
                if (inverse && whole.is_reachable(s)) CHECK(whole.after(s, {a, *inverse}) == s);
                // In a given state the cheapest action back is a matter of looking.
                std::optional<Cost> cheapest;
                for (ActionId back = 0; back < task.actions.size(); ++back)
                    if (whole.after(s, {a, back}) == s)
                        cheapest = std::min(cheapest.value_or(kInfinity), task.actions[back].cost);
                std::optional<ActionId> found = proofs.inverse(a, whole.words(s));
                CHECK(found.has_value() == cheapest.has_value());
                if (!found) continue;
                const bool is_idle = whole.successor(s, a) == s;  // an action that changes nothing is its own
                CHECK(whole.after(s, {a, *found}) == s);
                CHECK(is_idle ? *found == a : task.actions[*found].cost == *cheapest);
                missed += whole.is_reachable(s) && !inverse;
            }
            inverses += inverse.has_value();
        }
    }
    CHECK(inverses > 20 && missed > 0);
}

TEST(undo_plans_lead_to_states_that_are_at_least_as_good) {
    Rng rng(62);
    int plans = 0, undoable = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = tight_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        UndoProofs proofs(space, {});
        for (ActionId a = 0; a < task.actions.size(); ++a) {
            const bool always = proofs.is_undoable(a);
            undoable += always;
            for (std::size_t s = 0; s < whole.size(); ++s) {
                if (!whole.is_applicable(s, a)) continue;
                std::optional<std::vector<ActionId>> plan = proofs.undo_plan(a, whole.words(s));
                if (always && whole.is_reachable(s)) CHECK(plan.has_value());
                if (!plan) continue;
                std::optional<std::size_t> end = whole.after(whole.successor(s, a), *plan);
                CHECK(end && whole.goal_cost(*end) <= whole.goal_cost(s));
                plans += !plan->empty();
            }
        }
    }
    CHECK(plans > 100 && undoable > 50);
}

// A door that falls shut: opening can be undone, the way through cannot.
TEST(actions_without_a_way_back_have_no_proof) {
    Task task;
    task.variables = {{"door", {"(shut)", "(open)"}}, {"me", {"(outside)", "(inside)"}}};
    task.actions = {{"(open)", {{0, 0}}, {{0, 1}}, 1},
                    {"(close)", {{0, 1}}, {{0, 0}}, 1},
                    {"(enter)", {{0, 1}, {1, 0}}, {{0, 0}, {1, 1}}, 1}};
    task.initial = {0, 0};
    task.goal = {{1, 1}};
    StateSpace space(task);
    UndoProofs proofs(space, {});
    CHECK(proofs.inverse(0) == ActionId{1} && proofs.inverse(1) == ActionId{0});
    CHECK(!proofs.inverse(2) && proofs.is_undoable(0));
    task.goal = {{1, 0}};  // now nobody can come out again, and outside is what is wanted
    StateSpace other(task);
    CHECK(!UndoProofs(other, {}).is_undoable(2));
}

TEST(proofs_need_no_more_partial_states_than_allowed) {
    Rng rng(63);
    int fewer = 0;
    for (int i = 0; i < kTasks; ++i) {
        Task task = tight_task(rng);
        StateSpace space(task);
        UndoProofs all(space, {}), few(space, {.max_expansions = 1, .max_plan = 1});
        for (ActionId a = 0; a < task.actions.size(); ++a) {
            if (few.is_undoable(a)) CHECK(all.is_undoable(a));
            fewer += all.is_undoable(a) && !few.is_undoable(a);
        }
    }
    CHECK(fewer > 0);
}
