// The fuzzer and weighted selection for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/policy_object.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/weighted_select.hpp"

using namespace misstep;

namespace {

struct FuzzerObject {
    nb::object graph;
    nb::object bias;  // kept alive; the name of a published one or any callable
    std::unique_ptr<Fuzzer> fuzzer;
    GraphObject& owner() const { return nb::cast<GraphObject&>(graph); }
};

template <class Enum>
Enum choice(const char* what, const std::string& name,
            std::initializer_list<std::pair<const char*, Enum>> choices) {
    std::string known;
    for (const auto& [text, value] : choices) {
        if (name == text) return value;
        known += std::string(known.empty() ? "" : ", ") + text;
    }
    throw InputError(std::string("unknown ") + what + " '" + name + "'; there are " + known);
}

BiasKind bias_kind(const std::string& name) {
    return choice<BiasKind>("bias", name,
                            {{"none", BiasKind::kNone},
                             {"plan-length", BiasKind::kPlanLength},
                             {"loopiness", BiasKind::kLoopiness},
                             {"detour", BiasKind::kDetour},
                             {"surface", BiasKind::kSurface}});
}

BiasDistance bias_distance(const std::string& name) {
    return choice<BiasDistance>("distance", name, {{"ff", BiasDistance::kFF}, {"star", BiasDistance::kStar}});
}

// A Python callable that takes a list of (states, actions, outcome) and returns a number for each. It is
// called while the graph is locked, so what it gets holds copies and never asks the graph.
class CallableBias final : public Bias {
  public:
    CallableBias(const GraphObject& graph, nb::handle callable) : owner_(graph), callable_(callable) {}

    void weigh(std::span<const RunInfo> runs, const Budget& /*budget*/, double* values) override {
        nb::gil_scoped_acquire gil;
        nb::list given;
        for (const RunInfo& run : runs) given.append(shown(run));
        nb::object answers = callable_(given);
        std::size_t count = 0;
        for (nb::handle answer : answers) {
            double value = 0;
            if (!nb::try_cast(answer, value) || value != value)
                throw InputError("the bias answered something that is not a number");
            if (count < runs.size()) values[count] = value;
            ++count;
        }
        if (count != runs.size())
            throw InputError("the bias was asked for " + std::to_string(runs.size()) + " runs and gave " +
                             std::to_string(count) + " answers");
    }

  private:
    nb::tuple shown(const RunInfo& run) const {
        const GraphObject& g = owner_;
        nb::list states, actions;
        for (StateId id : g.graph->trace(run.start, run.steps)) {
            const Word* words = g.graph->state(id);
            if (states.size() < run.steps) actions.append(ActionObject{g.task, g.core, g.graph->action(id)});
            states.append(StateObject{g.task, g.core, {words, words + g.core->space.num_words()}});
        }
        return nb::make_tuple(states, actions, outcome_name(run.outcome));
    }

    const GraphObject& owner_;
    nb::handle callable_;
};

double value_of_run(const nb::object& run_object, const std::string& bias, const std::string& distance,
                    std::uint64_t max_star_expansions) {
    const RunObject& run = nb::cast<const RunObject&>(run_object);
    const GraphObject& g = run.owner();
    if (run.info.steps == 0) throw InputError("a run without steps has no bias");
    BiasKind kind = bias_kind(bias);
    BiasDistance by = bias_distance(distance);
    return exclusively(g, [&] {
        std::unique_ptr<Distances> distances = by == BiasDistance::kFF
                                                   ? make_ff_distances(*g.graph)
                                                   : make_star_distances(*g.graph, max_star_expansions);
        std::vector<StateId> trace = g.graph->trace(run.info.start, run.info.steps);
        return bias_value(kind, trace, g.graph->step_costs(trace), *distances);
    });
}

FuzzerOptions make_options(const std::string& kind, std::uint32_t max_walk, std::uint32_t state_budget,
                           std::uint32_t expansion_budget, std::uint32_t max_steps, int novelty,
                           std::uint64_t max_idle_walks, std::uint64_t seed) {
    FuzzerOptions options;
    options.kind = choice<FuzzerKind>("fuzzer", kind,
                                      {{"refined", FuzzerKind::kRefined}, {"classic", FuzzerKind::kClassic}});
    if (max_walk < 1 || state_budget < 1 || expansion_budget < 1 || max_steps < 1)
        throw InputError("walk length and budgets must be at least 1");
    if (novelty < 0 || novelty > 2)
        throw InputError("the novelty level is " + std::to_string(novelty) +
                         "; it can be 0 (no filter), 1 or 2");
    options.max_walk = max_walk;
    options.state_budget = state_budget;
    options.expansion_budget = expansion_budget;
    options.max_steps = max_steps;
    options.novelty = novelty;
    options.max_idle_walks = max_idle_walks;
    options.seed = seed;
    return options;
}

std::unique_ptr<Bias> bias_of(const GraphObject& graph, nb::handle bias, FuzzerKind fuzzer,
                              const std::string& distance, std::uint64_t max_star_expansions) {
    std::string name;
    bool is_published = nb::try_cast(bias, name);
    if (fuzzer == FuzzerKind::kClassic && name != "none" && name != "plan-length")
        throw InputError("the classic fuzzer has the biases none and plan-length; " +
                         (is_published ? "'" + name + "'" : std::string("a bias of your own")) +
                         " needs the refined one");
    if (!is_published) return std::make_unique<CallableBias>(graph, bias);
    return make_bias(*graph.graph, bias_kind(name), bias_distance(distance), max_star_expansions);
}

nb::object entry(const FuzzerObject& f, std::size_t index) {
    const GraphObject& g = f.owner();
    const PoolEntry& e = f.fuzzer->pool()[index];
    const Word* words = g.graph->state(e.state);
    nb::list walk;
    for (ActionId id : e.walk) walk.append(ActionObject{g.task, g.core, id});
    nb::object parent = e.parent == kNoParent ? nb::none() : nb::cast(e.parent);
    return nb::make_tuple(StateObject{g.task, g.core, {words, words + g.core->space.num_words()}}, parent,
                          walk, e.rng_after);
}

}  // namespace

void bind_fuzz(nb::module_& m) {
    nb::class_<FuzzerObject>(m, "NativeFuzzer", "Builds a pool of test states by biased random walks.")
        .def(
            "__init__",
            [](FuzzerObject* self, nb::object graph, const std::string& kind, nb::object bias,
               const std::string& distance, std::uint32_t max_walk, std::uint32_t state_budget,
               std::uint32_t expansion_budget, std::uint32_t max_steps, int novelty,
               std::uint64_t max_star_expansions, std::uint64_t max_idle_walks, std::uint64_t seed) {
                GraphObject& g = nb::cast<GraphObject&>(graph);
                if (g.options.is_ahead)  // a pool refers to states of the graph
                    throw InputError("a graph that works ahead forgets its states; fuzz on the other one");
                FuzzerOptions options = make_options(kind, max_walk, state_budget, expansion_budget,
                                                     max_steps, novelty, max_idle_walks, seed);
                std::unique_ptr<Bias> weights = bias_of(g, bias, options.kind, distance, max_star_expansions);
                new (self) FuzzerObject{graph, bias,
                                        std::make_unique<Fuzzer>(*g.graph, options, std::move(weights))};
            },
            nb::arg("graph"), nb::kw_only(), nb::arg("kind"), nb::arg("bias"), nb::arg("distance"),
            nb::arg("max_walk"), nb::arg("state_budget"), nb::arg("expansion_budget"), nb::arg("max_steps"),
            nb::arg("novelty"), nb::arg("max_star_expansions"), nb::arg("max_idle_walks"), nb::arg("seed"),
            nb::sig("def __init__(self, graph: PolicyGraph, *, kind: str, bias: str | "
                    "collections.abc.Callable[[list[tuple[list[State], list[Action], str]]], "
                    "collections.abc.Sequence[float]], distance: str, max_walk: int, state_budget: int, "
                    "expansion_budget: int, max_steps: int, novelty: int, max_star_expansions: int, "
                    "max_idle_walks: int, seed: "
                    "int) -> None"),
            "`bias` names a published one, or is called with (states, actions, outcome) of all partial runs "
            "of an expansion and returns a number for each.")
        .def("__len__", [](const FuzzerObject& f) { return f.fuzzer->pool().size(); })
        .def(
            "entry",
            [](const FuzzerObject& f, std::size_t index) {
                if (index >= f.fuzzer->pool().size()) throw nb::index_error("no such pool entry");
                return entry(f, index);
            },
            nb::arg("index"),
            nb::sig("def entry(self, index: int) -> tuple[State, int | None, list[Action], int]"),
            "The state, the index of the entry it was walked to from, the walk, and the state of the random "
            "numbers after it.")
        .def_prop_ro(
            "known_outcomes",
            [](const FuzzerObject& f) {
                std::size_t known = 0, solved = 0;
                for (const PoolEntry& e : f.fuzzer->pool()) {
                    std::optional<Outcome> outcome = f.owner().graph->known_outcome(e.state);
                    known += outcome.has_value();
                    solved += outcome == Outcome::kSolved;
                }
                return nb::make_tuple(known, solved);
            },
            nb::sig("def known_outcomes(self) -> tuple[int, int]"),
            "How many pool states have a run that is known, and how many of these reach the goal.")
        .def_prop_ro("walks", [](const FuzzerObject& f) { return f.fuzzer->walks(); })
        .def_prop_ro(
            "bound_hit", [](const FuzzerObject& f) { return f.fuzzer->bound_hit(); },
            "Whether an exact distance was given up and replaced by a lower bound.")
        .def(
            "restore",
            [](FuzzerObject& f, std::uint32_t parent, const std::vector<ActionObject>& walk,
               std::uint64_t rng_after) {
                std::vector<ActionId> ids;
                for (const ActionObject& a : walk) {
                    require_same_task(*f.owner().core, *a.core, "action");
                    ids.push_back(a.id);
                }
                return f.fuzzer->restore(parent, ids, rng_after);
            },
            nb::arg("parent"), nb::arg("walk"), nb::arg("rng_after"),
            nb::sig("def restore(self, parent: int, walk: collections.abc.Sequence[Action], rng_after: int) "
                    "-> bool"),
            "Adds an entry of an earlier session; False where it does not fit.")
        .def(
            "extend",
            [](FuzzerObject& f, std::size_t size, const Budget* budget) {
                Budget spending = copy_of(budget);
                FuzzStop reason = FuzzStop::kFull;
                try {
                    std::mutex& busy = *f.owner().busy;
                    run_interruptible(spending, [&] {
                        std::scoped_lock lock(busy);
                        reason = f.fuzzer->extend(size, spending);
                    });
                } catch (const FlakyPolicy& error) {
                    raise_flaky(f.owner(), error);
                }
                if (reason == FuzzStop::kFull) return "full";
                return reason == FuzzStop::kExhausted ? "exhausted" : limit_name(f.fuzzer->limit());
            },
            nb::arg("size"), nb::kw_only(), nb::arg("budget") = nb::none(),
            nb::sig("def extend(self, size: int, *, budget: Budget | None = None) -> str"),
            "Walks until the pool has `size` states: `full`, `exhausted` where nothing new was found for "
            "long, or the limit that was hit.");

    m.def("bias_value", &value_of_run, nb::arg("run"), nb::kw_only(), nb::arg("bias"),
          nb::arg("distance") = "ff", nb::arg("max_star_expansions") = 100'000,
          nb::sig("def bias_value(run: Run, *, bias: str, distance: str = 'ff', max_star_expansions: int = "
                  "100000) -> "
                  "float"),
          "The bias that the fuzzer gives to the start of a run of at least one step that has not failed.");

    m.def(
        "weighted_select",
        [](const std::vector<double>& weights, std::uint64_t seed, std::size_t count) {
            for (double w : weights)
                if (w != w) throw InputError("a weight is not a number");
            Rng rng(seed);
            nb::list chosen;
            for (std::size_t i = 0; i < count; ++i) {
                std::optional<std::size_t> index = weighted_select(weights, rng);
                chosen.append(index ? nb::cast(*index) : nb::none());
            }
            return chosen;
        },
        nb::arg("weights"), nb::arg("seed"), nb::arg("count"),
        nb::sig("def weighted_select(weights: collections.abc.Sequence[float], seed: int, count: int) -> "
                "list[int | None]"),
        "Draws `count` indices as the fuzzer does.");
}
