// Task for Python: made from SAS text, and the place where states and actions come from.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>

#include "bind/objects.hpp"
#include "fdr/h2.hpp"
#include "util/error.hpp"

using namespace misstep;

namespace {

// The value of a variable of which no atom is listed: "none of those" or, failing that, a negated atom.
std::optional<std::int32_t> unlisted_value(const Variable& variable) {
    for (std::size_t value = 0; value < variable.values.size(); ++value)
        if (variable.values[value].empty()) return static_cast<std::int32_t>(value);
    for (std::size_t value = 0; value < variable.values.size(); ++value)
        if (variable.values[value].starts_with("(not ")) return static_cast<std::int32_t>(value);
    return std::nullopt;
}

StateObject state_from_values(nb::object self, const std::vector<std::int32_t>& values) {
    const TaskObject& core = nb::cast<const TaskObject&>(self);
    return make_state(std::move(self), core, values);
}

StateObject state_from_facts(nb::object self, const std::vector<std::string>& facts) {
    const TaskObject& core = nb::cast<const TaskObject&>(self);
    std::vector<std::int32_t> values(core.task.variables.size(), -1);
    for (const std::string& text : facts) {
        auto found = core.fact_by_atom.find(normalised(text));
        if (found == core.fact_by_atom.end())
            throw InputError("'" + text +
                             "' is not a fact of this task that can change; facts are written like " +
                             (core.fact_by_atom.empty()
                                  ? "(on a b)"
                                  : std::min_element(core.fact_by_atom.begin(), core.fact_by_atom.end(),
                                                     [](auto& a, auto& b) { return a.first < b.first; })
                                        ->first));
        auto [var, value] = found->second;
        if (values[var] != -1 && values[var] != value)
            throw InputError("'" + text + "' and '" + core.task.variables[var].values[values[var]] +
                             "' exclude each other");
        values[var] = value;
    }
    for (std::size_t var = 0; var < values.size(); ++var) {
        if (values[var] != -1) continue;
        std::optional<std::int32_t> value = unlisted_value(core.task.variables[var]);
        if (!value) {
            std::string atoms;
            for (const std::string& atom : core.task.variables[var].values) atoms += " " + atom;
            throw InputError("the state is incomplete: one of these facts must hold:" + atoms);
        }
        values[var] = *value;
    }
    return state_from_values(self, values);
}

StateObject apply(nb::object self, const StateObject& state, const ActionObject& action) {
    const TaskObject& core = nb::cast<const TaskObject&>(self);
    require_same_task(core, *state.core, "state");
    require_same_task(core, *action.core, "action");
    if (!core.space.generator.is_applicable(state.words.data(), action.id))
        throw InputError(action.action().name + " is not applicable in the state " +
                         facts_text(core, state.words.data()));
    StateObject result{std::move(self), &core, std::vector<Word>(core.space.num_words())};
    core.space.generator.apply(state.words.data(), action.id, result.words.data());
    return result;
}

std::vector<ActionId> applicable_ids(const TaskObject& core, const StateObject& state) {
    require_same_task(core, *state.core, "state");
    std::vector<ActionId> ids;
    core.space.generator.applicable(state.words.data(), ids);
    std::ranges::sort(ids);
    return ids;
}

ActionObject action_by_name(nb::object self, const std::string& name) {
    const TaskObject& core = nb::cast<const TaskObject&>(self);
    auto found = core.actions_by_name.find(normalised(name));
    if (found == core.actions_by_name.end())
        throw InputError("'" + name + "' is not an action of this task; actions are written like " +
                         (core.task.actions.empty() ? "(move a b)" : core.task.actions[0].name));
    return {std::move(self), &core, found->second[0]};
}

struct H2Object {
    H2Reachability reachable;
};

// The actions of a task as a sequence that makes its items when asked.
struct ActionsObject {
    nb::object task;
    const TaskObject* core;
};

void bind_actions(nb::module_& m) {
    nb::class_<ActionsObject>(m, "Actions", "All actions of a task, in its order.")
        .def("__len__", [](const ActionsObject& a) { return a.core->task.actions.size(); })
        .def("__getitem__",
             [](const ActionsObject& a, std::int64_t index) {
                 std::int64_t n = a.core->task.num_actions();
                 if (index < -n || index >= n)
                     throw nb::index_error(
                         ("action " + std::to_string(index) + " of " + std::to_string(n)).c_str());
                 return ActionObject{a.task, a.core, static_cast<ActionId>(index < 0 ? index + n : index)};
             })
        .def(
            "__iter__",
            [](const ActionsObject& a) {
                nb::list actions;
                for (ActionId id = 0; id < a.core->task.actions.size(); ++id)
                    actions.append(ActionObject{a.task, a.core, id});
                return nb::iter(actions);
            },
            nb::sig("def __iter__(self) -> collections.abc.Iterator[Action]"));
}

}  // namespace

void bind_fdr(nb::module_& m) {
    bind_actions(m);
    nb::class_<H2Object>(m, "H2", "What forward h^2 found reachable.")
        .def_prop_ro(
            "facts", [](const H2Object& h) { return h.reachable.facts; }, "By variable and value.")
        .def_prop_ro("actions", [](const H2Object& h) { return h.reachable.actions; })
        .def_prop_ro(
            "limit", [](const H2Object& h) { return limit_name(h.reachable.limit); },
            nb::sig("def limit(self) -> str | None"),
            "The limit that was hit: then everything counts as reachable.");

    nb::class_<TaskObject>(m, "Task", "A classical planning task in finite-domain representation.")
        .def(
            "__init__",
            [](TaskObject* self, std::string_view sas, const std::string& source) {
                new (self) TaskObject(parse_sas(sas, source));
            },
            nb::arg("sas"), nb::kw_only(), nb::arg("source") = "<sas>",
            "Reads SAS text, version 3; `source` is named in errors.")
        .def("__getstate__", [](const TaskObject& t) { return write_sas(t.task); })
        .def("__setstate__",
             [](TaskObject& self, const std::string& sas) {
                 new (&self) TaskObject(parse_sas(sas, "<pickled task>"));
             })
        .def(
            "__eq__", [](const TaskObject& a, const TaskObject& b) { return a.same_as(b); },
            nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__", [](const TaskObject& t) { return static_cast<std::int64_t>(t.fingerprint >> 3); })
        .def("__repr__",
             [](const TaskObject& t) {
                 return "<Task: " + std::to_string(t.task.num_actions()) + " actions, " +
                        std::to_string(t.task.num_variables()) + " variables>";
             })
        .def_prop_ro("num_variables", [](const TaskObject& t) { return t.task.num_variables(); })
        .def_prop_ro("domain_sizes",
                     [](const TaskObject& t) {
                         std::vector<int> sizes;
                         for (const Variable& v : t.task.variables) sizes.push_back(v.domain_size());
                         return sizes;
                     })
        .def_prop_ro(
            "has_metric", [](const TaskObject& t) { return t.task.has_metric; },
            "Whether actions have costs of their own; otherwise each costs 1.")
        .def_prop_ro("actions",
                     [](nb::object self) { return ActionsObject{self, &nb::cast<const TaskObject&>(self)}; })
        .def_prop_ro(
            "goal",
            [](const TaskObject& t) {
                std::vector<std::pair<int, int>> goal;
                for (Fact f : t.task.goal) goal.emplace_back(f.var, f.value);
                return goal;
            },
            "Pairs (variable, value).")
        .def_prop_ro("initial_state",
                     [](nb::object self) {
                         const TaskObject& core = nb::cast<const TaskObject&>(self);
                         return StateObject{self, &core, core.space.initial};
                     })
        .def_prop_ro(
            "sas", [](const TaskObject& t) { return write_sas(t.task); }, "The task as SAS text.")
        .def(
            "fact_name",
            [](const TaskObject& t, int var, int value) -> std::optional<std::string> {
                if (var < 0 || var >= t.task.num_variables() || value < 0 ||
                    value >= t.task.variables[var].domain_size())
                    throw InputError("there is no fact (" + std::to_string(var) + ", " +
                                     std::to_string(value) + ")");
                const std::string& atom = t.task.variables[var].values[value];
                return atom.empty() ? std::nullopt : std::optional(atom);
            },
            nb::arg("variable"), nb::arg("value"),
            "`(on a b)`, `(not (on a b))`, or None for 'none of those'.")
        .def("state", &state_from_facts, nb::arg("facts"),
             nb::sig("def state(self, facts: collections.abc.Sequence[str]) -> State"),
             "The state in which exactly these atoms hold.")
        .def("state_from_values", &state_from_values, nb::arg("values"),
             nb::sig("def state_from_values(self, values: collections.abc.Sequence[int]) -> State"))
        .def("action", &action_by_name, nb::arg("name"), nb::sig("def action(self, name: str) -> Action"),
             "The action with this name, `(move a b)`; the first one where the translator split it into "
             "several.")
        .def_prop_ro(
            "has_splits", [](const TaskObject& t) { return t.space.has_splits(); },
            "Whether several actions have one name, because the translator split one.")
        .def(
            "meant",
            [](nb::object self, const StateObject& state, const ActionObject& action) {
                const TaskObject& core = nb::cast<const TaskObject&>(self);
                require_same_task(core, *state.core, "state");
                require_same_task(core, *action.core, "action");
                return ActionObject{self, &core, core.space.meant(state.words.data(), action.id)};
            },
            nb::arg("state"), nb::arg("action"),
            nb::sig("def meant(self, state: State, action: Action) -> Action"),
            "The action that this one stands for as an answer in a state: of all with its name, which are "
            "the "
            "splits that the translator made of one action, the first that applies, or the first where none "
            "does.")
        .def(
            "is_goal",
            [](const TaskObject& t, const StateObject& s) {
                require_same_task(t, *s.core, "state");
                return t.space.is_goal(s.words.data());
            },
            nb::arg("state"))
        .def(
            "applicable",
            [](nb::object self, const StateObject& s) {
                const TaskObject& core = nb::cast<const TaskObject&>(self);
                std::vector<ActionObject> actions;
                for (ActionId id : applicable_ids(core, s)) actions.push_back({self, &core, id});
                return actions;
            },
            nb::arg("state"), nb::sig("def applicable(self, state: State) -> list[Action]"),
            "The applicable actions, in the task's order.")
        .def("apply", &apply, nb::arg("state"), nb::arg("action"),
             nb::sig("def apply(self, state: State, action: Action) -> State"),
             "The successor; InputError where the action is not applicable.")
        .def(
            "successors",
            [](nb::object self, const StateObject& s) {
                const TaskObject& core = nb::cast<const TaskObject&>(self);
                std::vector<std::pair<ActionObject, StateObject>> result;
                for (ActionId id : applicable_ids(core, s)) {
                    StateObject next{self, &core, std::vector<Word>(core.space.num_words())};
                    core.space.generator.apply(s.words.data(), id, next.words.data());
                    result.emplace_back(ActionObject{self, &core, id}, std::move(next));
                }
                return result;
            },
            nb::arg("state"), nb::sig("def successors(self, state: State) -> list[tuple[Action, State]]"))
        .def(
            "batch",
            [](nb::object self, const std::vector<StateObject>& states) {
                const TaskObject& core = nb::cast<const TaskObject&>(self);
                std::size_t n = static_cast<std::size_t>(core.task.num_variables());
                std::vector<std::int32_t> values(states.size() * n);
                for (std::size_t i = 0; i < states.size(); ++i) {
                    require_same_task(core, *states[i].core, "state");
                    core.space.packer.unpack(states[i].words.data(), values.data() + i * n);
                }
                return make_batch(self, core, states.size(), std::move(values));
            },
            nb::arg("states"),
            nb::sig("def batch(self, states: collections.abc.Sequence[State]) -> StateBatch"))
        .def(
            "h2",
            [](const TaskObject& t, const Budget* budget) {
                Budget spending = copy_of(budget);
                H2Object result;
                run_interruptible(spending, [&] { result.reachable = h2_reachability(t.task, spending); });
                return result;
            },
            nb::kw_only(), nb::arg("budget") = nb::none(), "Forward h^2 reachability from the initial state.")
        .def(
            "pruned_sas",
            [](const TaskObject& t, const Budget* budget) {
                Budget spending = copy_of(budget);
                std::string sas;
                run_interruptible(
                    spending, [&] { sas = write_sas(pruned(t.task, h2_reachability(t.task, spending))); });
                return sas;
            },
            nb::kw_only(), nb::arg("budget") = nb::none(),
            "The task without facts and actions that h^2 shows unreachable, as SAS text.");
}
