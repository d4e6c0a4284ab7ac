// Bound maintenance for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>

#include "bind/dominance_object.hpp"
#include "bounds/bound_store.hpp"
#include "util/error.hpp"

using namespace misstep;

namespace {

struct BoundStoreObject {
    nb::object dominance;  // keeps the function and its task alive
    const DominanceObject* owner;
    std::unique_ptr<BoundStore> store;
    // The GIL is released while bounds spread.
    std::unique_ptr<std::mutex> busy = std::make_unique<std::mutex>();
};

double as_float(Total cost) {
    return cost == kEndless ? std::numeric_limits<double>::infinity() : static_cast<double>(cost);
}

const Word* words(const BoundStoreObject& self, const StateObject& state) {
    require_same_task(*self.owner->core, *state.core, "state");
    return state.words.data();
}

std::vector<ActionId> action_ids(const BoundStoreObject& self, const std::vector<ActionObject>& actions) {
    std::vector<ActionId> ids;
    for (const ActionObject& action : actions) {
        require_same_task(*self.owner->core, *action.core, "action");
        ids.push_back(action.id);
    }
    return ids;
}

bool add_run(BoundStoreObject& self, const std::vector<StateObject>& states,
             const std::vector<ActionObject>& actions, const std::string& outcome, const Budget* budget) {
    PolicyRun run;
    for (const StateObject& state : states) run.states.push_back(words(self, state));
    run.actions = action_ids(self, actions);
    run.is_solved = outcome == "solved";
    run.never_solves =
        outcome == "loop" || outcome == "stuck" || outcome == "illegal" || outcome == "dead-end";
    if (!run.is_solved && !run.never_solves && outcome != "cut-off" && outcome != "failed")
        throw InputError("a run does not end as '" + outcome +
                         "'; there are solved, loop, stuck, illegal, dead-end, failed and cut-off");
    if (run.is_solved && !states.empty() && !self.owner->core->space.is_goal(run.states.back()))
        throw InputError("the run is said to be solved, but its last state is not a goal state");
    Budget spending = copy_of(budget);
    bool is_bug = false;
    run_interruptible(spending, [&] {
        std::scoped_lock lock(*self.busy);
        is_bug = self.store->add_run(run, spending);
    });
    return is_bug;
}

std::vector<StateObject> take_flagged(BoundStoreObject& self) {
    std::scoped_lock lock(*self.busy);
    std::vector<StateObject> result;
    const std::size_t num_words = self.owner->core->space.num_words();
    for (StateId id : self.store->take_flagged()) {
        const Word* state = self.store->state(id);
        result.push_back({self.owner->task, self.owner->core, {state, state + num_words}});
    }
    return result;
}

std::vector<ActionObject> plan_of(const BoundStoreObject& self, const StateObject& state) {
    std::vector<ActionObject> plan;
    std::scoped_lock lock(*self.busy);
    for (ActionId id : self.store->plan_of(words(self, state)))
        plan.push_back({self.owner->task, self.owner->core, id});
    return plan;
}

}  // namespace

void bind_bounds(nb::module_& m) {
    nb::class_<BoundStoreObject>(
        m, "BoundStore",
        "Upper bounds on h* that policy runs, dominance, lookahead and outside plans prove together "
        "(Eisenhut et al. 2023, algorithms 3 to 5).")
        .def(
            "__init__",
            [](BoundStoreObject* self, nb::object dominance, std::uint64_t lookahead, bool maximise_gap) {
                const DominanceObject& owner = nb::cast<const DominanceObject&>(dominance);
                BoundOptions options{lookahead, maximise_gap};
                auto store = std::make_unique<BoundStore>(*owner.dominance, options);
                new (self) BoundStoreObject{std::move(dominance), &owner, std::move(store)};
            },
            nb::arg("dominance"), nb::kw_only(), nb::arg("lookahead") = 0, nb::arg("maximise_gap") = false,
            nb::sig("def __init__(self, dominance: Dominance, *, lookahead: int = 0, "
                    "maximise_gap: bool = False) -> None"),
            "`lookahead`: expansions of a greedy h^FF search from every pool state that comparisons did not "
            "flag; with `maximise_gap` from every one, to the end, for larger proven gaps.")
        .def("add_run", &add_run, nb::arg("states"), nb::arg("actions"), nb::arg("outcome"), nb::kw_only(),
             nb::arg("budget") = nb::none(),
             nb::sig("def add_run(self, states: collections.abc.Sequence[State], "
                     "actions: collections.abc.Sequence[Action], outcome: str, *, "
                     "budget: Budget | None = None) -> bool"),
             "Adds a pool state, the first of `states`, with its policy run (algorithm 3); the later states "
             "take "
             "part too, from the last one on. `outcome` as in `Run`; of a run that was cut off or failed "
             "only what it spent counts. Whether the pool state is proven a bug now. The budget is for the "
             "lookahead: without any the run is taken in all the same.")
        .def(
            "add_plan",
            [](BoundStoreObject& self, const StateObject& state, const std::vector<ActionObject>& plan) {
                std::scoped_lock lock(*self.busy);
                self.store->add_plan(words(self, state), action_ids(self, plan));
            },
            nb::arg("state"), nb::arg("plan"),
            nb::sig("def add_plan(self, state: State, plan: collections.abc.Sequence[Action]) -> None"),
            "Takes over a plan of any state, from a planner for example (algorithm 5), and spreads its "
            "bounds.")
        .def(
            "bound",
            [](const BoundStoreObject& self, const StateObject& state) {
                std::scoped_lock lock(*self.busy);
                return as_float(self.store->bound(words(self, state)));
            },
            nb::arg("state"), nb::sig("def bound(self, state: State) -> float"),
            "The upper bound on h* of a state; infinity where nothing is known.")
        .def(
            "policy_cost",
            [](const BoundStoreObject& self, const StateObject& state) {
                std::scoped_lock lock(*self.busy);
                return as_float(self.store->policy_cost(words(self, state)));
            },
            nb::arg("state"), nb::sig("def policy_cost(self, state: State) -> float"),
            "What the policy's cost is at least, by the runs that were added.")
        .def("plan_of", &plan_of, nb::arg("state"),
             nb::sig("def plan_of(self, state: State) -> list[Action]"),
             "A plan with a cost of at most `bound(state)`; InputError where that is infinite.")
        .def("take_flagged", &take_flagged, nb::sig("def take_flagged(self) -> list[State]"),
             "The states of added runs whose bound fell below their policy cost since the last call.")
        .def_prop_ro(
            "limit", [](const BoundStoreObject& self) { return limit_name(self.store->limit()); },
            nb::sig("def limit(self) -> str | None"), "What cut the last lookahead short.")
        .def_prop_ro(
            "num_known", [](const BoundStoreObject& self) { return self.store->num_known(); },
            "States that take part in comparisons.")
        .def_prop_ro("comparisons", [](const BoundStoreObject& self) { return self.store->comparisons(); })
        .def_prop_ro("expansions", [](const BoundStoreObject& self) { return self.store->expansions(); });
}
