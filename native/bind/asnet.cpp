// AsnetPolicy for Python.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "bind/asnet_object.hpp"
#include "util/error.hpp"

using namespace misstep;

namespace {

// For each state a list of pairs (action, `value of the scores`).
template <class Transform>
nb::list scores(AsnetObject& p, const BatchObject& batch, Transform&& transform) {
    require_same_task(*p.core, *batch.core, "batch");
    std::vector<Word> packed = batch.packed();
    auto states = pointers(packed, p.core->space.num_words());
    std::vector<std::vector<ActionScore>> found(states.size());
    {
        nb::gil_scoped_release no_gil;
        std::scoped_lock lock(*p.busy);
        for (std::size_t i = 0; i < states.size(); ++i) {
            found[i] = p.asnet().scores(states[i]);
            transform(found[i]);
        }
    }
    nb::list result;
    for (const auto& of_state : found) {
        nb::list row;
        for (ActionScore s : of_state)
            row.append(nb::make_tuple(ActionObject{p.task, p.core, s.action}, s.score));
        result.append(row);
    }
    return result;
}

// The greatest score is taken away first, so that the sum is at least 1 and needs no clipping.
void softmax(std::vector<ActionScore>& scores) {
    if (scores.empty()) return;
    const float most = std::ranges::max(scores, {}, &ActionScore::score).score;
    float sum = 0;
    for (ActionScore& s : scores) sum += s.score = std::exp(s.score - most);
    for (ActionScore& s : scores) s.score /= sum;
}

}  // namespace

void bind_asnet(nb::module_& m) {
    nb::class_<AsnetObject, PolicyObject>(m, "AsnetPolicy",
                                          "An action schema network of one task; see misstep.policies.asnet.")
        .def(
            "__init__",
            [](AsnetObject* self, nb::object task, int hidden, const Array<std::int32_t>& operators,
               const Array<std::int32_t>& schema_start, const std::vector<Array<std::int32_t>>& slot_facts,
               const Array<std::int32_t>& predicate_start, const Array<std::int32_t>& fact_variables,
               const Array<std::int32_t>& fact_values, const Array<std::uint8_t>& goal,
               const std::vector<std::vector<std::pair<int, int>>>& predicate_slots,
               const std::vector<std::vector<ModuleArrays>>& action_modules,
               const std::vector<std::vector<ModuleArrays>>& predicate_modules) {
                const AsnetNetwork net =
                    make_network(hidden, operators, schema_start, slot_facts, predicate_start, fact_variables,
                                 fact_values, goal, predicate_slots, action_modules, predicate_modules);
                const TaskObject& core = nb::cast<const TaskObject&>(task);
                auto policy = std::make_unique<AsnetPolicy>(core.space, net);
                new (self) AsnetObject(std::move(task), core, std::move(policy));
            },
            nb::arg("task"), nb::kw_only(), nb::arg("hidden"), nb::arg("operators"), nb::arg("schema_start"),
            nb::arg("slot_facts"), nb::arg("predicate_start"), nb::arg("fact_variables"),
            nb::arg("fact_values"), nb::arg("goal"), nb::arg("predicate_slots"), nb::arg("action_modules"),
            nb::arg("predicate_modules"),
            nb::sig(
                "def __init__(self, task: Task, *, hidden: int, "
                "operators: numpy.typing.NDArray[numpy.int32], "
                "schema_start: numpy.typing.NDArray[numpy.int32], "
                "slot_facts: collections.abc.Sequence[numpy.typing.NDArray[numpy.int32]], "
                "predicate_start: numpy.typing.NDArray[numpy.int32], "
                "fact_variables: numpy.typing.NDArray[numpy.int32], "
                "fact_values: numpy.typing.NDArray[numpy.int32], goal: numpy.typing.NDArray[numpy.uint8], "
                "predicate_slots: collections.abc.Sequence[collections.abc.Sequence[tuple[int, int]]], "
                "action_modules: collections.abc.Sequence[collections.abc.Sequence["
                "tuple[numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32]]]], "
                "predicate_modules: collections.abc.Sequence[collections.abc.Sequence["
                "tuple[numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32]]]]) -> None"),
            "From flat arrays as misstep.policies.asnet.GroundNet and AsnetModel describe them.")
        .def_prop_ro(
            "num_operators", [](AsnetObject& p) { return p.asnet().num_operators(); },
            "How many actions of the task compete.")
        .def_prop_ro("num_facts", [](AsnetObject& p) { return p.asnet().num_facts(); })
        .def(
            "scores", [](AsnetObject& p, const BatchObject& batch) { return scores(p, batch, [](auto&) {}); },
            nb::arg("states"),
            nb::sig("def scores(self, states: StateBatch, /) -> list[list[tuple[Action, float]]]"),
            "For each state the applicable actions that compete, with the network's outputs.")
        .def(
            "probabilities",
            [](AsnetObject& p, const BatchObject& batch) { return scores(p, batch, softmax); },
            nb::arg("states"),
            nb::sig("def probabilities(self, states: StateBatch, /) -> list[list[tuple[Action, float]]]"),
            "For each state the applicable actions that compete, with the softmax of their scores.");
}
