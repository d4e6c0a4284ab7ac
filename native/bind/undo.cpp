// Proofs that actions can be undone, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "bind/objects.hpp"
#include "undo/undo_proofs.hpp"
#include "util/error.hpp"

using namespace misstep;

namespace {

struct UndoObject {
    UndoObject(nb::object task_, const TaskObject& core_, const UndoOptions& options)
        : task(std::move(task_)), core(&core_), proofs(core_.space, options) {}

    nb::object task;
    const TaskObject* core;
    UndoProofs proofs;
    std::mutex busy;  // proofs are made when first asked for, maybe by several threads
};

template <class Work>
auto exclusively(UndoObject& object, Work&& work) {
    nb::gil_scoped_release no_gil;
    std::scoped_lock lock(object.busy);
    return work();
}

void require_applicable(const UndoObject& self, const ActionObject& action, const StateObject& before) {
    require_same_task(*self.core, *before.core, "state");
    if (!self.core->space.generator.is_applicable(before.words.data(), action.id))
        throw InputError(action.action().name + " is not applicable in the state " +
                         facts_text(*self.core, before.words.data()));
}

nb::object inverse(UndoObject& self, const ActionObject& action, const StateObject* before) {
    require_same_task(*self.core, *action.core, "action");
    if (before != nullptr) require_applicable(self, action, *before);
    std::optional<ActionId> id = exclusively(self, [&] {
        return before == nullptr ? self.proofs.inverse(action.id)
                                 : self.proofs.inverse(action.id, before->words.data());
    });
    return id ? nb::cast(ActionObject{self.task, self.core, *id}) : nb::none();
}

nb::object undo_plan(UndoObject& self, const ActionObject& action, const StateObject& before) {
    require_same_task(*self.core, *action.core, "action");
    require_applicable(self, action, before);
    auto plan = exclusively(self, [&] { return self.proofs.undo_plan(action.id, before.words.data()); });
    if (!plan) return nb::none();
    nb::list actions;
    for (ActionId id : *plan) actions.append(ActionObject{self.task, self.core, id});
    return actions;
}

// Ends early where a signal comes in or, if asked for, with the first action without a proof.
std::vector<ActionObject> unproven(UndoObject& self, bool only_first) {
    Budget budget;
    std::vector<ActionId> ids;
    run_interruptible(budget, [&] {
        std::scoped_lock lock(self.busy);
        BudgetWatch watch(budget);
        for (ActionId id = 0; id < self.core->task.actions.size(); ++id) {
            if (watch.check(0, 0, 100) != LimitHit::kNone || (only_first && !ids.empty())) return;
            if (!self.proofs.is_undoable(id)) ids.push_back(id);
        }
    });
    std::vector<ActionObject> actions;
    for (ActionId id : ids) actions.push_back({self.task, self.core, id});
    return actions;
}

}  // namespace

void bind_undo(nb::module_& m) {
    nb::class_<UndoObject>(
        m, "UndoProofs",
        "Proofs that actions can be undone in all reachable states in which they are applicable, made when "
        "first asked for. They use what is known before and after an action only: its precondition, what "
        "follows from it by mutexes of h^2, its effect.")
        .def(
            "__init__",
            [](UndoObject* self, nb::object task, std::uint64_t max_expansions, std::size_t max_plan) {
                const TaskObject& core = nb::cast<const TaskObject&>(task);
                new (self) UndoObject(std::move(task), core, {max_expansions, max_plan});
            },
            nb::arg("task"), nb::kw_only(), nb::arg("max_expansions") = UndoOptions{}.max_expansions,
            nb::arg("max_plan") = UndoOptions{}.max_plan,
            nb::sig("def __init__(self, task: Task, *, max_expansions: int = 1000, max_plan: int = 8) -> "
                    "None"),
            "The limits are on partial states and steps in the search for the way back of one action.")
        .def("inverse", &inverse, nb::arg("action"), nb::arg("before") = nb::none(),
             nb::sig("def inverse(self, action: Action, before: State | None = None) -> Action | None"),
             "The cheapest action that restores every reachable state exactly in which `action` was applied; "
             "with `before`, one that restores this state, whatever it does elsewhere.")
        .def("undo_plan", &undo_plan, nb::arg("action"), nb::arg("before"),
             nb::sig("def undo_plan(self, action: Action, before: State) -> list[Action] | None"),
             "A way back from where `action` leads in `before` to a state that is at least as good: it "
             "differs from `before` only in variables whose old value no precondition and no goal asks for. "
             "It works from any state at least as good as that, too. None where there is no proof.")
        .def_prop_ro(
            "all_undoable", [](UndoObject& self) { return unproven(self, true).empty(); },
            "Whether every action is proven undoable in every reachable state: then all of them are "
            "solvable if the initial one is.")
        .def_prop_ro(
            "unproven", [](UndoObject& self) { return unproven(self, false); },
            nb::sig("def unproven(self) -> list[Action]"),
            "The actions without a proof for every reachable state in which they are applicable.");
}
