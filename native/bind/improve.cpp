// Plan improvement for Python.
#include "improve/improve.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "bind/objects.hpp"
#include "util/error.hpp"

using namespace misstep;

namespace {

struct ImproveObject {
    nb::object task;
    const TaskObject* core;
    ImproveResult result;
};

ImproveObject improve(nb::object task, const StateObject& state, const std::vector<ActionObject>& plan,
                      const Budget* budget, std::optional<double> enough) {
    const TaskObject& core = nb::cast<const TaskObject&>(task);
    require_same_task(core, *state.core, "state");
    std::vector<ActionId> actions;
    for (const ActionObject& action : plan) {
        require_same_task(core, *action.core, "plan");
        actions.push_back(action.id);
    }
    ImproveOptions options;
    options.budget = copy_of(budget);
    if (enough && std::isnan(*enough)) throw InputError("enough is not a number");
    // Costs are whole: a plan cannot cost less than the bound rounded up.
    constexpr double kLargest = 1e15;
    if (enough) options.enough = static_cast<Total>(std::ceil(std::clamp(*enough, 0.0, kLargest)));
    ImproveObject object{std::move(task), &core, {}};
    run_interruptible(options.budget, [&] {
        object.result = improve_plan(core.space, state.words.data(), actions, options);
    });
    return object;
}

}  // namespace

void bind_improve(nb::module_& m) {
    nb::class_<ImproveObject>(m, "ImproveResult", "The cheapest plan that was found, and what it took.")
        .def_prop_ro(
            "plan",
            [](const ImproveObject& r) {
                std::vector<ActionObject> plan;
                for (ActionId id : r.result.plan) plan.push_back({r.task, r.core, id});
                return plan;
            },
            nb::sig("def plan(self) -> list[Action]"))
        .def_prop_ro(
            "cost", [](const ImproveObject& r) { return r.result.cost; }, "Of the plan.")
        .def_prop_ro("expanded", [](const ImproveObject& r) { return r.result.expanded; })
        .def_prop_ro("seconds", [](const ImproveObject& r) { return r.result.seconds; })
        .def_prop_ro(
            "limit", [](const ImproveObject& r) { return limit_name(r.result.limit); },
            nb::sig("def limit(self) -> str | None"),
            "What ended the work early: `expansions`, `seconds`, `memory` or `stopped`; None where nothing "
            "did.")
        .def_prop_ro(
            "exhausted", [](const ImproveObject& r) { return r.result.exhausted; },
            "Whether everything from which a cheaper plan could go on was looked at: the plan is optimal.")
        .def("__repr__", [](const ImproveObject& r) {
            return "<ImproveResult cost " + std::to_string(r.result.cost) +
                   (r.result.exhausted ? ", optimal" : "") + ", " + std::to_string(r.result.expanded) +
                   " expanded>";
        });

    m.def("improve_plan", &improve, nb::arg("task"), nb::arg("state"), nb::arg("plan"), nb::kw_only(),
          nb::arg("budget") = nb::none(), nb::arg("enough") = nb::none(),
          nb::sig("def improve_plan(task: Task, state: State, plan: collections.abc.Sequence[Action], *, "
                  "budget: Budget | None = None, enough: float | None = None) -> ImproveResult"),
          "A plan for the state that costs no more than the given one: action elimination, reordering, plan "
          "neighbourhood graph search. Ends when a limit is hit, when the plan is proven optimal, or when it "
          "costs at most `enough` (a known lower bound). InputError where the actions are no plan.");
}
