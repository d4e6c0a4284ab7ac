// Action, State, StateBatch and StateRegistry for Python.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bind/objects.hpp"
#include "util/error.hpp"

using namespace misstep;

namespace {

std::vector<std::pair<int, int>> pairs(const std::vector<Fact>& facts) {
    std::vector<std::pair<int, int>> result;
    for (Fact f : facts) result.emplace_back(f.var, f.value);
    return result;
}

std::vector<std::int32_t> unpacked(const TaskObject& core, const Word* state) {
    std::vector<std::int32_t> values(static_cast<std::size_t>(core.task.num_variables()));
    core.space.packer.unpack(state, values.data());
    return values;
}

std::size_t checked_index(std::int64_t index, std::size_t size, const char* what) {
    std::int64_t n = static_cast<std::int64_t>(size);
    if (index < -n || index >= n)
        throw nb::index_error(
            (std::string(what) + " " + std::to_string(index) + " of " + std::to_string(size)).c_str());
    return static_cast<std::size_t>(index < 0 ? index + n : index);
}

struct RegistryObject {
    RegistryObject(nb::object task_, const TaskObject& core_)
        : task(std::move(task_)), core(&core_), registry(core_.space.num_words()) {}
    nb::object task;
    const TaskObject* core;
    StateRegistry registry;
};

// Lets the garbage collector see that states and actions hold their task: a task may keep some of its states.
template <class Object>
int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Object>(self)->task.ptr());
    return 0;
}

template <class Object>
int clear(PyObject* self) {
    nb::inst_ptr<Object>(self)->task.reset();
    return 0;
}

template <class Object>
PyType_Slot* collected() {
    static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse<Object>)},
                                  {Py_tp_clear, reinterpret_cast<void*>(clear<Object>)},
                                  {0, nullptr}};
    return slots;
}

void bind_action(nb::module_& m) {
    nb::class_<ActionObject>(
        m, "Action", "A ground action of a task. Prints as a PDDL atom; compares and hashes by value.")
        .def_prop_ro("task", [](const ActionObject& a) { return a.task; })
        .def_prop_ro(
            "index", [](const ActionObject& a) { return a.id; }, "Its number in `task.actions`.")
        .def_prop_ro(
            "name", [](const ActionObject& a) { return a.action().name; }, "As in a plan file: `(move a b)`.")
        .def_prop_ro("cost", [](const ActionObject& a) { return a.action().cost; })
        .def_prop_ro(
            "precondition", [](const ActionObject& a) { return pairs(a.action().precondition); },
            "Pairs (variable, value).")
        .def_prop_ro(
            "effect", [](const ActionObject& a) { return pairs(a.action().effect); },
            "Pairs (variable, value); what the precondition guarantees is left out.")
        .def("__str__", [](const ActionObject& a) { return a.action().name; })
        .def("__repr__",
             [](const ActionObject& a) {
                 return "Action('" + a.action().name + "', cost=" + std::to_string(a.action().cost) + ")";
             })
        .def(
            "__getstate__", [](const ActionObject& a) { return nb::make_tuple(a.task, a.id); },
            nb::sig("def __getstate__(self) -> tuple[object, int]"))
        .def("__setstate__",
             [](ActionObject& self, const std::pair<nb::object, ActionId>& pickled) {
                 const TaskObject& core = nb::cast<const TaskObject&>(pickled.first);
                 if (pickled.second >= core.task.actions.size())
                     throw InputError("the pickled action is not of its task");
                 new (&self) ActionObject{pickled.first, &core, pickled.second};
             })
        .def("__copy__", [](nb::object self) { return self; })
        .def(
            "__deepcopy__", [](nb::object self, nb::handle) { return self; }, nb::arg("memo"),
            "Actions do not change, and their task is large.")
        .def(
            "__eq__",
            [](const ActionObject& a, const ActionObject& b) {
                return a.id == b.id && a.core->same_as(*b.core);
            },
            nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__", [](const ActionObject& a) {
            return static_cast<std::int64_t>((a.core->fingerprint ^ (a.id * 0x9e3779b97f4a7c15ULL)) >> 3);
        });
}

// The first facts only: states of large tasks have hundreds.
std::string state_repr(const StateObject& state) {
    constexpr std::size_t kMost = 6;
    std::vector<std::string> facts = fact_list(*state.core, state.words.data());
    std::string text = "State(";
    for (std::size_t i = 0; i < std::min(facts.size(), kMost); ++i)
        text += (i == 0 ? "'" : ", '") + facts[i] + "'";
    if (facts.size() > kMost) text += ", ... " + std::to_string(facts.size() - kMost) + " more";
    return text + ")";
}

void bind_single_state(nb::module_& m) {
    nb::class_<StateObject>(m, "State", nb::type_slots(collected<StateObject>()),
                            "A state of a task. Prints as PDDL atoms; compares and hashes by value.")
        .def_prop_ro("task", [](const StateObject& s) { return s.task; })
        .def_prop_ro(
            "values", [](const StateObject& s) { return unpacked(*s.core, s.words.data()); },
            "The value of each variable.")
        .def_prop_ro(
            "facts", [](const StateObject& s) { return fact_list(*s.core, s.words.data()); },
            "The atoms that hold, sorted; atoms that hold in every state of the task are not among them.")
        .def("__str__", [](const StateObject& s) { return facts_text(*s.core, s.words.data()); })
        .def("__repr__", &state_repr)
        .def(
            "__getstate__",
            [](const StateObject& s) { return nb::make_tuple(s.task, unpacked(*s.core, s.words.data())); },
            nb::sig("def __getstate__(self) -> tuple[object, list[int]]"))
        .def("__setstate__",
             [](StateObject& self, const std::pair<nb::object, std::vector<std::int32_t>>& pickled) {
                 const TaskObject& core = nb::cast<const TaskObject&>(pickled.first);
                 new (&self) StateObject(make_state(pickled.first, core, pickled.second));
             })
        .def("__copy__", [](nb::object self) { return self; })
        .def(
            "__deepcopy__", [](nb::object self, nb::handle) { return self; }, nb::arg("memo"),
            "States do not change, and their task is large.")
        .def(
            "__eq__",
            [](const StateObject& a, const StateObject& b) {
                return a.words == b.words && a.core->same_as(*b.core);
            },
            nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__", [](const StateObject& s) {
            return static_cast<std::int64_t>(
                (hash_state(s.words.data(), static_cast<std::uint32_t>(s.words.size())) ^
                 s.core->fingerprint) >>
                3);
        });
}

BatchObject batch_of_array(nb::object task, BatchArray values) {
    const TaskObject& core = nb::cast<const TaskObject&>(task);
    if (values.shape(1) != static_cast<std::size_t>(core.task.num_variables()))
        throw InputError("the array has " + std::to_string(values.shape(1)) + " columns; the task has " +
                         std::to_string(core.task.num_variables()) + " variables");
    return {std::move(task), &core, std::move(values)};
}

void bind_batch(nb::module_& m) {
    nb::class_<BatchObject>(m, "StateBatch", nb::type_slots(collected<BatchObject>()),
                            "Many states as one (n, variables) array; the array is shared, not copied.")
        .def(
            "__init__",
            [](BatchObject* self, nb::object task, BatchArray values) {
                new (self) BatchObject(batch_of_array(std::move(task), std::move(values)));
            },
            nb::arg("task"), nb::arg("values").noconvert(),
            nb::sig("def __init__(self, task: Task, values: numpy.typing.NDArray[numpy.int32]) -> None"))
        .def_prop_ro("task", [](const BatchObject& b) { return b.task; })
        .def_prop_ro(
            "values", [](const BatchObject& b) { return b.values; }, nb::rv_policy::reference,
            nb::sig("def values(self) -> numpy.typing.NDArray[numpy.int32]"),
            "The values, one row a state: the very array that the batch was made from.")
        .def(
            "__getstate__",
            [](nb::object self) { return nb::make_tuple(self.attr("task"), self.attr("values")); },
            nb::sig("def __getstate__(self) -> tuple[object, numpy.typing.NDArray[numpy.int32]]"))
        .def("__setstate__",
             [](BatchObject& self, const std::pair<nb::object, BatchArray>& pickled) {
                 new (&self) BatchObject(batch_of_array(pickled.first, pickled.second));
             })
        .def("__repr__",
             [](nb::object self) {
                 return nb::str("<StateBatch: {} states of {!r}>").format(nb::len(self), self.attr("task"));
             })
        .def("__len__", [](const BatchObject& b) { return b.size(); })
        .def("__getitem__",
             [](const BatchObject& b, std::int64_t index) {
                 std::size_t i = checked_index(index, b.size(), "state");
                 std::vector<Word> packed = b.packed();
                 std::size_t w = b.core->space.num_words();
                 return StateObject{b.task,
                                    b.core,
                                    {packed.begin() + static_cast<std::ptrdiff_t>(i * w),
                                     packed.begin() + static_cast<std::ptrdiff_t>((i + 1) * w)}};
             })
        .def(
            "__iter__",
            [](const BatchObject& b) {
                nb::list states;
                std::vector<Word> packed = b.packed();
                for (const Word* s : pointers(packed, b.core->space.num_words()))
                    states.append(StateObject{b.task, b.core, {s, s + b.core->space.num_words()}});
                return nb::iter(states);
            },
            nb::sig("def __iter__(self) -> collections.abc.Iterator[State]"));
}

void bind_registry(nb::module_& m) {
    nb::class_<RegistryObject>(m, "StateRegistry", "Distinct states under small consecutive ids.")
        .def(
            "__init__",
            [](RegistryObject* self, nb::object task) {
                const TaskObject& core = nb::cast<const TaskObject&>(task);
                new (self) RegistryObject(std::move(task), core);
            },
            nb::arg("task"), nb::sig("def __init__(self, task: Task) -> None"))
        .def("__len__", [](const RegistryObject& r) { return r.registry.size(); })
        .def_prop_ro(
            "bytes", [](const RegistryObject& r) { return r.registry.bytes(); },
            "What the states and their index take in memory.")
        .def(
            "insert",
            [](RegistryObject& r, const StateObject& s) {
                require_same_task(*r.core, *s.core, "state");
                return r.registry.insert(s.words.data()).first;
            },
            nb::arg("state"), "The id of the state, which is added where it is new.")
        .def(
            "find",
            [](const RegistryObject& r, const StateObject& s) -> nb::object {
                require_same_task(*r.core, *s.core, "state");
                StateId id = r.registry.find(s.words.data());
                return id == kNoState ? nb::none() : nb::cast(id);
            },
            nb::arg("state"), nb::sig("def find(self, state: State) -> int | None"),
            "The id of the state, None where it was never added.")
        .def(
            "insert_batch",
            [](RegistryObject& r, const BatchObject& batch) {
                require_same_task(*r.core, *batch.core, "batch");
                std::vector<Word> packed = batch.packed();
                auto* ids = new std::vector<StateId>();
                nb::capsule owner(ids,
                                  [](void* p) noexcept { delete static_cast<std::vector<StateId>*>(p); });
                for (const Word* s : pointers(packed, r.core->space.num_words()))
                    ids->push_back(r.registry.insert(s).first);
                return nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<1>>(ids->data(), {ids->size()}, owner);
            },
            nb::arg("batch"),
            nb::sig("def insert_batch(self, batch: StateBatch) -> numpy.typing.NDArray[numpy.uint32]"))
        .def(
            "state",
            [](const RegistryObject& r, std::int64_t id) {
                if (id < 0) throw nb::index_error("state ids are not negative");
                const Word* s =
                    r.registry.state(static_cast<StateId>(checked_index(id, r.registry.size(), "state id")));
                return StateObject{r.task, r.core, {s, s + r.core->space.num_words()}};
            },
            nb::arg("id"))
        .def(
            "batch",
            [](const RegistryObject& r, const std::vector<std::uint32_t>& ids) {
                std::size_t n = static_cast<std::size_t>(r.core->task.num_variables());
                std::vector<std::int32_t> values(ids.size() * n);
                for (std::size_t i = 0; i < ids.size(); ++i)
                    r.core->space.packer.unpack(r.registry.state(static_cast<StateId>(
                                                    checked_index(ids[i], r.registry.size(), "state id"))),
                                                values.data() + i * n);
                return make_batch(r.task, *r.core, ids.size(), std::move(values));
            },
            nb::arg("ids"));
}

}  // namespace

void bind_state(nb::module_& m) {
    bind_action(m);
    bind_single_state(m);
    bind_batch(m);
    bind_registry(m);
}
