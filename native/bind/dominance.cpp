// Dominance functions for Python.
#include "dominance/dominance.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>

#include "bind/dominance_object.hpp"
#include "util/error.hpp"

using namespace misstep;

namespace {

using FloatMatrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
using ValueMatrix = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstValueMatrix = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

double as_float(Total value) {
    return value == kNever ? kMinusInfinity : static_cast<double>(value);
}

void make(DominanceObject* self, nb::object task, const std::string& factors, std::uint64_t max_transitions,
          const Budget* budget, std::optional<std::uint64_t> max_merges,
          const std::optional<std::string>& order, bool fixed_point) {
    const TaskObject& core = nb::cast<const TaskObject&>(task);
    if (factors != "merged" && factors != "atomic")
        throw InputError("factors is '" + factors + "'; there are merged and atomic");
    DominanceOptions options;
    options.factors.merged = factors == "merged";
    options.factors.max_transitions = std::min<std::uint64_t>(max_transitions, 1U << 30);
    if (max_merges) options.factors.max_merges = *max_merges;
    if (order && *order != "newest" && *order != "smallest")
        throw InputError("order is '" + *order + "'; there are newest and smallest");
    options.one_order = order.has_value();
    if (order == "smallest") options.factors.order = MergeOrder::kSmallestFirst;
    options.fixed_point = fixed_point;
    options.budget = copy_of(budget);
    std::unique_ptr<Dominance> dominance;
    run_interruptible(options.budget,
                      [&] { dominance = std::make_unique<Dominance>(make_dominance(core.space, options)); });
    new (self) DominanceObject{std::move(task), &core, std::move(dominance), max_transitions};
}

const Word* words(const DominanceObject& self, const StateObject& state) {
    require_same_task(*self.core, *state.core, "state");
    return state.words.data();
}

std::vector<std::int32_t> projected(const DominanceObject& self, const BatchObject& batch) {
    require_same_task(*self.core, *batch.core, "batch");
    std::vector<Word> packed = batch.packed();
    const std::size_t num_words = self.core->space.num_words(), k = self.dominance->num_factors();
    std::vector<std::int32_t> result(batch.size() * k);
    for (std::size_t i = 0; i < batch.size(); ++i)
        self.dominance->project(packed.data() + i * num_words, result.data() + i * k);
    return result;
}

FloatMatrix values(const DominanceObject& self, const BatchObject& sources, const BatchObject& targets) {
    const std::size_t k = self.dominance->num_factors(), n = sources.size(), m = targets.size();
    std::vector<std::int32_t> s = projected(self, sources), t = projected(self, targets);
    auto* result = new double[std::max<std::size_t>(1, n * m)];
    nb::capsule owner(result, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    {
        nb::gil_scoped_release no_gil;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < m; ++j)
                result[i * m + j] = as_float(self.dominance->value(s.data() + i * k, t.data() + j * k));
    }
    return FloatMatrix(result, {n, m}, owner);
}

nb::dict describe(const DominanceObject& self, std::size_t i) {
    const FactoredTask& task = self.dominance->task();
    const Factor& factor = task.factors[i];
    std::vector<int> variables;
    factor.projection.collect_variables(variables);
    std::ranges::sort(variables);
    const std::vector<DominanceValue>& all = self.dominance->values(i);
    auto finite = static_cast<std::size_t>(std::ranges::count_if(all, [](auto v) { return v != kNever; }));
    if (all.empty()) finite = static_cast<std::size_t>(factor.num_states);
    double pairs = static_cast<double>(factor.num_states) * factor.num_states;
    nb::dict result;
    result["variables"] = variables;
    result["states"] = factor.num_states;
    result["transitions"] = task.num_transitions(factor);
    result["tau_moves"] = all.empty() ? std::size_t{0} : self.dominance->tau().edges(i).size();
    result["finite_pairs"] = finite;
    result["finite_share"] = pairs == 0 ? 0.0 : static_cast<double>(finite) / pairs;
    return result;
}

ValueMatrix factor_values(const DominanceObject& self, std::size_t i) {
    if (i >= self.dominance->num_factors()) throw nb::index_error("no such factor");
    const std::vector<DominanceValue>& all = self.dominance->values(i);
    std::size_t n = all.empty() ? 0 : static_cast<std::size_t>(self.dominance->task().factors[i].num_states);
    auto* copy = new std::vector<DominanceValue>(all);
    nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<DominanceValue>*>(p); });
    return ValueMatrix(copy->data(), {n, n}, owner);
}

void replace_values(DominanceObject& self, const std::vector<ConstValueMatrix>& matrices) {
    std::vector<std::vector<DominanceValue>> all;
    for (const ConstValueMatrix& matrix : matrices)
        all.emplace_back(matrix.data(), matrix.data() + matrix.size());
    nb::gil_scoped_release no_gil;
    self.dominance->replace_values(std::move(all));
}

std::vector<ActionObject> carry(const DominanceObject& self, const StateObject& s,
                                const std::vector<ActionObject>& plan, const StateObject& t) {
    std::vector<ActionId> ids;
    for (const ActionObject& action : plan) {
        require_same_task(*self.core, *action.core, "plan");
        ids.push_back(action.id);
    }
    std::vector<ActionObject> result;
    for (ActionId id : self.dominance->carry(words(self, s), ids, words(self, t)))
        result.push_back({self.task, self.core, id});
    return result;
}

nb::list morph(const DominanceObject& self, const StateObject& t, std::size_t most, std::uint64_t seed) {
    nb::list result;
    for (Morph& morph : self.dominance->morph(words(self, t), most, seed))
        result.append(
            nb::make_tuple(StateObject{self.task, self.core, std::move(morph.state)}, as_float(morph.value)));
    return result;
}

}  // namespace

void bind_dominance(nb::module_& m) {
    nb::class_<DominanceObject>(
        m, "Dominance",
        "A dominance function: D(s, t) <= h*(s) - h*(t) for all states s that have a plan (Torralba 2017).")
        .def("__init__", &make, nb::arg("task"), nb::kw_only(), nb::arg("factors") = "merged",
             nb::arg("max_transitions") = 10'000, nb::arg("budget") = nb::none(),
             nb::arg("max_merges") = nb::none(), nb::arg("order") = nb::none(), nb::arg("fixed_point") = true,
             nb::sig(
                 "def __init__(self, task: Task, *, factors: str = 'merged', max_transitions: int = 10000, "
                 "budget: Budget | None = None, max_merges: int | None = None, order: str | None = None, "
                 "fixed_point: bool = True) -> None"),
             "`factors`: `atomic` (one a variable) or `merged` (merge-and-shrink, DFP order, at most "
             "`max_transitions` a factor, counted for each label after label reduction). `order`: which of "
             "equally "
             "good pairs is merged, `newest` or `smallest`; None tries both and keeps what knows most. A "
             "limit "
             "that is hit "
             "gives a sound function that knows less: `limit` and `is_fallback` say so.")
        .def_prop_ro(
            "task", [](const DominanceObject& d) { return d.task; }, nb::sig("def task(self) -> Task"))
        .def(
            "value",
            [](const DominanceObject& d, const StateObject& s, const StateObject& t) {
                return as_float(d.dominance->value(words(d, s), words(d, t)));
            },
            nb::arg("s"), nb::arg("t"), nb::sig("def value(self, s: State, t: State) -> float"),
            "D(s, t); minus infinity where nothing is known. It speaks of s only where s has a plan.")
        .def("values", &values, nb::arg("sources"), nb::arg("targets"),
             nb::sig("def values(self, sources: StateBatch, targets: StateBatch) -> "
                     "numpy.typing.NDArray[numpy.float64]"),
             "D of every source against every target, as an (n, m) array.")
        .def("carry", &carry, nb::arg("s"), nb::arg("plan"), nb::arg("t"),
             nb::sig("def carry(self, s: State, plan: collections.abc.Sequence[Action], t: State) -> "
                     "list[Action]"),
             "A plan of t with cost at most that of s's plan minus D(s, t). DominanceDefect where D promised "
             "too much, which would be a bug of misstep.")
        .def("morph", &morph, nb::arg("t"), nb::kw_only(), nb::arg("most") = 10, nb::arg("seed") = 0,
             nb::sig(
                 "def morph(self, t: State, *, most: int = 10, seed: int = 0) -> list[tuple[State, float]]"),
             "At most `most` states s that differ from t in one variable, with D(s, t) > -inf, chosen at "
             "random "
             "from the seed (Eisenhut et al. 2023, algorithm 2). They need not be reachable, nor solvable.")
        .def_prop_ro(
            "limit", [](const DominanceObject& d) { return limit_name(d.dominance->limit()); },
            nb::sig("def limit(self) -> str | None"),
            "What ended the computation early; None where nothing did.")
        .def_prop_ro(
            "is_fallback", [](const DominanceObject& d) { return d.dominance->is_fallback(); },
            "Whether a limit left only the distances by tau moves.")
        .def_prop_ro(
            "factors",
            [](const DominanceObject& d) -> std::string {
                return d.dominance->is_merged() ? "merged" : "atomic";
            },
            "`merged` or `atomic`.")
        .def_prop_ro("max_transitions", [](const DominanceObject& d) { return d.max_transitions; })
        .def_prop_ro(
            "order",
            [](const DominanceObject& d) -> std::string {
                return d.dominance->order() == MergeOrder::kSmallestFirst ? "smallest" : "newest";
            },
            "Which of equally good pairs were merged first.")
        .def_prop_ro("num_merges", [](const DominanceObject& d) { return d.dominance->task().num_merges; })
        .def_prop_ro("num_labels", [](const DominanceObject& d) { return d.dominance->task().labels.size(); })
        .def(
            "describe",
            [](const DominanceObject& d) {
                nb::list all;
                for (std::size_t i = 0; i < d.dominance->num_factors(); ++i) all.append(describe(d, i));
                return all;
            },
            nb::sig("def describe(self) -> list[dict[str, typing.Any]]"),
            "The factors: variables, states, transitions, tau_moves, finite_pairs, finite_share.")
        .def("factor_values", &factor_values, nb::arg("factor"),
             nb::sig("def factor_values(self, factor: int) -> numpy.typing.NDArray[numpy.int32]"),
             "A copy of one factor's values; -2**29 stands for minus infinity.")
        .def("replace_values", &replace_values, nb::arg("values").noconvert(),
             nb::sig("def replace_values(self, values: "
                     "collections.abc.Sequence[numpy.typing.NDArray[numpy.int32]]) -> None"),
             "Takes values from a file; InputError unless they are a dominance function of this task.");
}
