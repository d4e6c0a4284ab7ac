// Relational network policies for Python.
#include "nn/gnn.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind/policy_object.hpp"
#include "util/error.hpp"

using namespace misstep;

namespace {

using Weights = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

struct NetworkObject {
    std::shared_ptr<const GnnNetwork> network;
};

Linear make_linear(const Weights& weights, const Weights& bias) {
    if (weights.ndim() != 2 || bias.ndim() != 1 || bias.shape(0) != weights.shape(0))
        throw InputError("weights must be (out, in) and biases (out)");
    return {{weights.data(), weights.data() + weights.size()},
            {bias.data(), bias.data() + bias.size()},
            weights.shape(1),
            weights.shape(0)};
}

Mlp make_mlp(const std::vector<Weights>& arrays, std::size_t first = 0) {
    if (arrays.size() < first + 4) throw InputError("a module of the network needs four arrays");
    return {make_linear(arrays[first], arrays[first + 1]), make_linear(arrays[first + 2], arrays[first + 3])};
}

Readout make_readout(const std::vector<Weights>& arrays) {
    return {make_mlp(arrays), make_mlp(arrays, 4)};
}

using FactPair = std::pair<std::int32_t, std::int32_t>;
using FactRowTuple = std::tuple<std::int32_t, std::int32_t, std::size_t, std::vector<std::uint32_t>>;
using ActionRowTuple = std::pair<std::size_t, std::vector<std::uint32_t>>;
using NoopTuple = std::tuple<std::string, std::vector<FactPair>, std::vector<FactPair>>;

std::vector<Fact> make_facts(const std::vector<FactPair>& pairs) {
    std::vector<Fact> facts;
    for (auto [var, value] : pairs) facts.push_back({var, value});
    return facts;
}

struct GnnPolicyObject : PolicyObject {
    using PolicyObject::PolicyObject;
    GnnPolicy& gnn() { return static_cast<GnnPolicy&>(*policy); }
};

}  // namespace

void bind_gnn(nb::module_& m) {
    nb::class_<NetworkObject>(m, "GnnNetwork", "The weights of a relational network; immutable.")
        .def(
            "__init__",
            [](NetworkObject* self, std::size_t hidden_size, std::size_t num_layers,
               std::vector<std::size_t> arities, const std::vector<std::vector<Weights>>& relations,
               const std::vector<Weights>& update, const std::vector<Weights>& value,
               const std::optional<std::vector<Weights>>& solvable, bool smooth, bool scores_actions) {
                GnnWeights weights{
                    hidden_size,        num_layers,
                    std::move(arities), {},
                    make_mlp(update),   make_readout(value),
                    std::nullopt,       smooth ? GnnAggregation::kSmoothMax : GnnAggregation::kMax,
                    scores_actions};
                for (const auto& module : relations) weights.relations.push_back(make_mlp(module));
                if (solvable) weights.solvable = make_readout(*solvable);
                new (self) NetworkObject{std::make_shared<GnnNetwork>(weights)};
            },
            nb::arg("hidden_size"), nb::arg("num_layers"), nb::arg("arities"), nb::arg("relations"),
            nb::arg("update"), nb::arg("value"), nb::arg("solvable").none(), nb::kw_only(),
            nb::arg("smooth") = true, nb::arg("scores_actions") = false,
            nb::sig("def __init__(self, hidden_size: int, num_layers: int, arities: "
                    "collections.abc.Sequence[int], relations: collections.abc.Sequence["
                    "collections.abc.Sequence[numpy.typing.NDArray[numpy.float32]]], update: "
                    "collections.abc.Sequence[numpy.typing.NDArray[numpy.float32]], value: "
                    "collections.abc.Sequence[numpy.typing.NDArray[numpy.float32]], solvable: "
                    "collections.abc.Sequence[numpy.typing.NDArray[numpy.float32]] | None, *, smooth: bool = "
                    "True, scores_actions: bool = False) -> None"))
        .def_prop_ro("hidden_size", [](const NetworkObject& n) { return n.network->hidden_size(); })
        .def_prop_ro("num_layers", [](const NetworkObject& n) { return n.network->num_layers(); });

    nb::class_<GnnPolicyObject, PolicyObject>(
        m, "GnnPolicy", "Takes the action of least value; misstep.policies.gnn makes them.")
        .def(
            "__init__",
            [](GnnPolicyObject* self, nb::object task, const NetworkObject& network, std::size_t num_objects,
               std::vector<std::vector<std::uint32_t>> fixed, const std::vector<FactRowTuple>& facts,
               const std::vector<NoopTuple>& noops, std::vector<std::size_t> rank,
               const std::vector<ActionRowTuple>& actions, int threads) {
                if (threads < 1 || threads > 1024)
                    throw InputError("a network needs 1 to 1024 threads, not " + std::to_string(threads));
                const TaskObject& core = nb::cast<const TaskObject&>(task);
                GnnEncoding encoding{num_objects, std::move(fixed), {}, {}, std::move(rank), {}};
                for (const auto& [var, value, relation, objects] : facts)
                    encoding.facts.push_back({{var, value}, relation, objects});
                for (const auto& [name, required, forbidden] : noops)
                    encoding.noops.push_back({name, make_facts(required), make_facts(forbidden)});
                for (const auto& [relation, objects] : actions)
                    encoding.actions.push_back({relation, objects});
                auto policy =
                    std::make_unique<GnnPolicy>(core.space, network.network, std::move(encoding), threads);
                new (self) GnnPolicyObject(std::move(task), core, std::move(policy));
            },
            nb::arg("task"), nb::arg("network"), nb::arg("num_objects"), nb::arg("fixed"), nb::arg("facts"),
            nb::arg("noops"), nb::arg("rank"), nb::arg("actions") = std::vector<ActionRowTuple>{},
            nb::kw_only(), nb::arg("threads") = 1,
            nb::sig(
                "def __init__(self, task: Task, network: GnnNetwork, num_objects: int, fixed: "
                "collections.abc.Sequence[collections.abc.Sequence[int]], facts: collections.abc.Sequence["
                "tuple[int, int, int, collections.abc.Sequence[int]]], noops: collections.abc.Sequence["
                "tuple[str, collections.abc.Sequence[tuple[int, int]], collections.abc.Sequence["
                "tuple[int, int]]]], rank: collections.abc.Sequence[int], actions: collections.abc.Sequence["
                "tuple[int, collections.abc.Sequence[int]]] = [], *, threads: int = 1) -> None"))
        .def_prop_ro(
            "work", [](GnnPolicyObject& p) { return p.gnn().work(); },
            "Multiplications of matrices so far, those by zero included.")
        .def(
            "values",
            [](GnnPolicyObject& p, const StateObject& state) {
                require_same_task(*p.core, *state.core, "state");
                std::vector<GnnPolicy::Candidate> found;
                {
                    nb::gil_scoped_release no_gil;
                    std::scoped_lock lock(*p.busy);
                    found = p.gnn().values(state.words.data());
                }
                nb::list result;
                for (const auto& candidate : found)
                    result.append(nb::make_tuple(*candidate.name, candidate.value));
                return result;
            },
            nb::arg("state"), nb::sig("def values(self, state: State) -> list[tuple[str, float]]"),
            "All applicable actions as (name, value), in the order that decides between equal values. "
            "Actions "
            "of "
            "the PDDL that change nothing are among them, although they are none of the task's.");
}
