// Heuristic for Python: one state, a batch, or all pairs of two batches.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>

#include "bind/heuristic_object.hpp"
#include "heuristics/lmcut.hpp"
#include "heuristics/relaxation_heuristics.hpp"
#include "util/error.hpp"

using namespace misstep;

namespace {

double as_float(Cost cost) {
    return cost == kInfinity ? std::numeric_limits<double>::infinity() : static_cast<double>(cost);
}

nb::object array_of(const std::vector<Cost>& costs, std::size_t rows, std::optional<std::size_t> columns) {
    auto* values = new std::vector<double>(costs.size());
    nb::capsule owner(values, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    for (std::size_t i = 0; i < costs.size(); ++i) (*values)[i] = as_float(costs[i]);
    if (columns)
        return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<2>>(values->data(), {rows, *columns}, owner));
    return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<1>>(values->data(), {rows}, owner));
}

RelaxationHeuristic& as_relaxation(const HeuristicObject& h) {
    auto* relaxation = dynamic_cast<RelaxationHeuristic*>(h.heuristic.get());
    if (relaxation == nullptr)
        throw InputError("'" + h.name + "' estimates the way to the goal only; use hmax, hadd or ff");
    return *relaxation;
}

// Evaluates in pieces, so that Ctrl-C is noticed between them.
template <class Evaluate>
void in_pieces(std::size_t n, std::size_t piece, Evaluate&& evaluate) {
    Budget budget;
    run_interruptible(budget, [&] {
        BudgetWatch watch(budget);
        for (std::size_t first = 0; first < n; first += piece) {
            if (watch.look() != LimitHit::kNone) return;
            evaluate(first, std::min(piece, n - first));
        }
    });
}

nb::object pairwise(HeuristicObject& h, const BatchObject& sources, const BatchObject& targets) {
    require_same_task(*h.core, *sources.core, "batch");
    require_same_task(*h.core, *targets.core, "batch");
    RelaxationHeuristic& relaxation = as_relaxation(h);
    std::vector<Word> packed_sources = sources.packed(), packed_targets = targets.packed();
    auto from = pointers(packed_sources, h.core->space.num_words());
    auto to = pointers(packed_targets, h.core->space.num_words());
    std::vector<Cost> costs(from.size() * to.size());
    in_pieces(from.size(), 64, [&](std::size_t first, std::size_t n) {
        std::scoped_lock lock(*h.busy);
        relaxation.pairwise(std::span(from).subspan(first, n), to, costs.data() + first * to.size());
    });
    return array_of(costs, from.size(), to.size());
}

nb::object relaxed_plan(HeuristicObject& h, const StateObject& s) {
    require_same_task(*h.core, *s.core, "state");
    auto* ff = dynamic_cast<HFF*>(h.heuristic.get());
    if (ff == nullptr) throw InputError("only ff has relaxed plans, not '" + h.name + "'");
    std::scoped_lock lock(*h.busy);
    if (ff->evaluate(s.words.data()) == kInfinity) return nb::none();
    nb::list actions;
    for (std::int32_t a : ff->relaxed_plan())
        actions.append(ActionObject{h.task, h.core, static_cast<ActionId>(a)});
    return actions;
}

nb::object landmarks(HeuristicObject& h, const StateObject& s) {
    require_same_task(*h.core, *s.core, "state");
    auto* lmcut = dynamic_cast<LMCut*>(h.heuristic.get());
    if (lmcut == nullptr) throw InputError("only lmcut has landmarks, not '" + h.name + "'");
    std::vector<Landmark> found;
    std::scoped_lock lock(*h.busy);
    if (lmcut->evaluate(s.words.data(), found) == kInfinity) return nb::none();
    nb::list result;
    for (const Landmark& landmark : found) {
        nb::list actions;
        for (ActionId a : landmark.actions) actions.append(ActionObject{h.task, h.core, a});
        result.append(nb::make_tuple(actions, landmark.cost));
    }
    return result;
}

}  // namespace

void bind_heuristics(nb::module_& m) {
    nb::class_<HeuristicObject>(m, "Heuristic",
                                "Estimates of the cost to the goal: blind, hmax, hadd, ff or lmcut.")
        .def(
            "__init__",
            [](HeuristicObject* self, nb::object task, const std::string& name) {
                const TaskObject& core = nb::cast<const TaskObject&>(task);
                auto heuristic = make_heuristic(core.space, name);
                new (self) HeuristicObject{std::move(task), &core, name, std::move(heuristic)};
            },
            nb::arg("task"), nb::arg("name"), nb::sig("def __init__(self, task: Task, name: str) -> None"))
        .def_prop_ro("name", [](const HeuristicObject& h) { return h.name; })
        .def_prop_ro("is_admissible", [](const HeuristicObject& h) { return h.heuristic->is_admissible(); })
        .def(
            "__call__",
            [](HeuristicObject& h, const StateObject& s) {
                require_same_task(*h.core, *s.core, "state");
                std::scoped_lock lock(*h.busy);
                return as_float(h.heuristic->evaluate(s.words.data()));
            },
            nb::arg("state"), "The estimate for one state; infinity where the relaxed task has no plan.")
        .def(
            "evaluate",
            [](HeuristicObject& h, const BatchObject& batch) {
                require_same_task(*h.core, *batch.core, "batch");
                std::vector<Word> packed = batch.packed();
                auto states = pointers(packed, h.core->space.num_words());
                std::vector<Cost> costs(states.size());
                in_pieces(states.size(), 4096, [&](std::size_t first, std::size_t n) {
                    std::scoped_lock lock(*h.busy);
                    h.heuristic->evaluate(std::span<const Word* const>(states).subspan(first, n),
                                          costs.data() + first);
                });
                return array_of(costs, costs.size(), std::nullopt);
            },
            nb::arg("batch"),
            nb::sig("def evaluate(self, batch: StateBatch) -> numpy.typing.NDArray[numpy.float64]"),
            "The same values as one call a state, many times faster.")
        .def(
            "to",
            [](HeuristicObject& h, const StateObject& source, const StateObject& target) {
                require_same_task(*h.core, *source.core, "state");
                require_same_task(*h.core, *target.core, "state");
                const Word* from = source.words.data();
                const Word* to = target.words.data();
                Cost cost = 0;
                std::scoped_lock lock(*h.busy);
                as_relaxation(h).pairwise({&from, 1}, {&to, 1}, &cost);
                return as_float(cost);
            },
            nb::arg("source"), nb::arg("target"), "The estimate from one state to another full state.")
        .def("pairwise", &pairwise, nb::arg("sources"), nb::arg("targets"),
             nb::sig("def pairwise(self, sources: StateBatch, targets: StateBatch) -> "
                     "numpy.typing.NDArray[numpy.float64]"),
             "Estimates from every source to every target, (sources, targets); one relaxed exploration a "
             "source.")
        .def("relaxed_plan", &relaxed_plan, nb::arg("state"),
             nb::sig("def relaxed_plan(self, state: State) -> list[Action] | None"),
             "The actions whose costs h^FF adds up, in no particular order; None where there are none.")
        .def("landmarks", &landmarks, nb::arg("state"),
             nb::sig("def landmarks(self, state: State) -> list[tuple[list[Action], int]] | None"),
             "LM-cut's landmarks with the cost charged to each; their sum is the estimate. None for a dead "
             "end.");
}
