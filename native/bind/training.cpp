// Training for Python: enumerated state spaces and AsnetTrainer.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "bind/asnet_object.hpp"
#include "training/asnet_trainer.hpp"
#include "training/enumerate.hpp"

using namespace misstep;

namespace {

using Parameters = nb::ndarray<nb::numpy, float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct TrainerObject {
    TrainerObject(const AsnetNetwork& net, int threads, std::uint64_t seed)
        : network(net), trainer(net, threads, seed) {}
    AsnetNetwork network;  // for the shapes of its modules
    AsnetTrainer trainer;
    std::vector<nb::object> tasks;
    std::vector<const TaskObject*> cores;

    const TaskObject& core(std::size_t task) const {
        if (task >= cores.size())
            throw InputError("there is no task " + std::to_string(task) + ", only " +
                             std::to_string(cores.size()));
        return *cores[task];
    }
};

struct EnumerationObject {
    nb::object task;
    const TaskObject* core;
    std::unique_ptr<Enumeration> all;
};

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T> values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}

AsnetLossRule make_rule(const std::string& loss, std::uint32_t max_regret) {
    AsnetLossRule rule;
    if (loss == "teacher")
        rule.loss = AsnetLoss::kTeacher;
    else if (loss == "any-good")
        rule.loss = AsnetLoss::kAnyGood;
    else if (loss == "all-good")
        rule.loss = AsnetLoss::kAllGood;
    else
        throw InputError("unknown loss '" + loss + "'; there are teacher, any-good, all-good");
    const auto regret = std::min<std::uint32_t>(max_regret, ActionLabel::kWorst - 1);
    rule.max_regret = static_cast<std::uint16_t>(regret);
    return rule;
}

std::uint16_t label_regret(Total regret) {
    return static_cast<std::uint16_t>(std::min<Total>(regret, ActionLabel::kWorst));
}

void check_size(const TrainerObject& t, const Parameters& values) {
    if (values.size() != t.trainer.layout().size)
        throw InputError("there are " + std::to_string(t.trainer.layout().size) + " parameters, not " +
                         std::to_string(values.size()));
}

// The states that teach something, at most so many of them, evenly drawn.
std::vector<StateId> teaching_states(const Enumeration& all, std::size_t max_samples, std::uint64_t seed) {
    std::vector<StateId> ids;
    for (StateId id = 0; id < all.states.size(); ++id)
        if (all.values[id] != 0 && all.values[id] != kEndless) ids.push_back(id);
    if (ids.size() <= max_samples) return ids;
    Rng(seed).shuffle(ids);
    ids.resize(max_samples);
    std::ranges::sort(ids);
    return ids;
}

// Adds solvable states that are no goals; their number, and None where there were too many states.
std::optional<std::size_t> add_state_space(TrainerObject& t, std::size_t number, std::uint32_t max_states,
                                           std::size_t max_samples, std::uint64_t seed,
                                           const Budget* budget) {
    const TaskObject& core = t.core(number);
    LimitHit limit = LimitHit::kNone;
    Budget spending = copy_of(budget);
    std::optional<std::size_t> added;
    run_interruptible(spending, [&] {
        auto all = enumerate_states(core.space, core.space.initial.data(), max_states, spending, limit);
        if (!all->complete) return;
        added = 0;
        std::vector<ActionLabel> labels;
        for (StateId id : teaching_states(*all, max_samples, seed)) {
            labels.clear();
            for (const auto& edge : all->edges_of(id))
                if (const Index op = t.trainer.task(number).operator_of_action[edge.action]; op >= 0)
                    labels.push_back({op, label_regret(all->regret(core.task, id, edge))});
            auto best = std::ranges::min_element(labels, {}, &ActionLabel::regret);
            if (best == labels.end() || best->regret != 0) continue;
            std::swap(*labels.begin(), *best);
            t.trainer.add_sample(number, all->states.state(id), labels);
            ++*added;
        }
    });
    return added;
}

void add_sample(TrainerObject& t, std::size_t number, const StateObject& state,
                const std::vector<std::pair<std::uint32_t, std::optional<double>>>& regrets) {
    const TaskObject& core = t.core(number);
    require_same_task(core, *state.core, "state");
    std::vector<ActionLabel> labels;
    for (const auto& [action, regret] : regrets) {
        if (action >= static_cast<std::uint32_t>(core.task.num_actions()) ||
            !core.space.generator.is_applicable(state.words.data(), action))
            throw InputError("action " + std::to_string(action) + " is not applicable in the state");
        if (const Index op = t.trainer.task(number).operator_of_action[action]; op >= 0)
            labels.push_back({op, !regret ? ActionLabel::kUnknown
                                          : label_regret(static_cast<Total>(
                                                std::clamp<double>(*regret, 0, ActionLabel::kWorst)))});
    }
    t.trainer.add_sample(number, state.words.data(), labels);
}

double train(TrainerObject& t, std::size_t batches, const std::string& loss, std::uint32_t max_regret,
             std::size_t batch, double rate, double dropout, double weight_decay, double task_power,
             const Budget* budget) {
    if (batch < 1 || batch > 65536) throw InputError("a minibatch has 1 to 65536 states");
    AsnetTrainingOptions options{make_rule(loss, max_regret), batch, rate, dropout, weight_decay, task_power};
    LimitHit limit = LimitHit::kNone;
    Budget spending = copy_of(budget);
    double result = 0;
    run_interruptible(spending, [&] { result = t.trainer.train(batches, options, spending, limit); });
    return result;
}

nb::tuple modules(const TrainerObject& t, const Parameters& parameters) {
    check_size(t, parameters);
    AsnetNetwork net = t.network;
    t.trainer.layout().unpack(parameters.data(), net);
    auto layers = [](const std::vector<std::vector<AsnetModule>>& all) {
        nb::list result;
        for (const auto& layer : all) {
            nb::list row;
            for (const AsnetModule& module : layer)
                row.append(nb::make_tuple(to_numpy(module.weights), to_numpy(module.bias)));
            result.append(row);
        }
        return result;
    };
    return nb::make_tuple(layers(net.action_modules), layers(net.predicate_modules));
}

AsnetObject* policy(TrainerObject& t, std::size_t number, const Parameters& parameters) {
    const TaskObject& core = t.core(number);
    check_size(t, parameters);
    AsnetNetwork net = t.trainer.task(number).net;
    t.trainer.layout().unpack(parameters.data(), net);
    return new AsnetObject(t.tasks[number], core, std::make_unique<AsnetPolicy>(core.space, net));
}

void bind_enumeration(nb::module_& m) {
    nb::class_<EnumerationObject>(m, "Enumeration",
                                  "All states that can be reached from one, with exact values.")
        .def("__len__", [](const EnumerationObject& e) { return e.all->states.size(); })
        .def_prop_ro(
            "complete", [](const EnumerationObject& e) { return e.all->complete; },
            "False where there were more states than allowed, or the budget was used up; then there are no "
            "values.")
        .def(
            "state",
            [](const EnumerationObject& e, StateId id) {
                if (id >= e.all->states.size()) throw nb::index_error();
                const Word* words = e.all->states.state(id);
                return StateObject{e.task, e.core, {words, words + e.core->space.num_words()}};
            },
            nb::arg("id"), nb::sig("def state(self, id: int) -> State"))
        .def(
            "values",
            [](const EnumerationObject& e) {
                std::vector<double> values;
                for (Total value : e.all->values)
                    values.push_back(value == kEndless ? INFINITY : static_cast<double>(value));
                return values;
            },
            "By state the cost of the best plan, infinity without one.")
        .def(
            "regrets",
            [](const EnumerationObject& e, StateId id) {
                if (id >= e.all->values.size()) throw nb::index_error();
                nb::list result;
                for (const auto& edge : e.all->edges_of(id)) {
                    const Total regret = e.all->regret(e.core->task, id, edge);
                    result.append(
                        nb::make_tuple(ActionObject{e.task, e.core, edge.action},
                                       regret == kEndless ? INFINITY : static_cast<double>(regret)));
                }
                return result;
            },
            nb::arg("id"), nb::sig("def regrets(self, id: int) -> list[tuple[Action, float]]"),
            "What each applicable action costs more than the best one; infinity for a dead end.")
        .def(
            "edges",
            [](const EnumerationObject& e) {
                std::vector<std::int64_t> first(e.all->first_edge.begin(), e.all->first_edge.end());
                std::vector<std::int64_t> actions, to;
                for (const auto& edge : e.all->edges) {
                    actions.push_back(edge.action);
                    to.push_back(edge.to);
                }
                return nb::make_tuple(to_numpy(std::move(first)), to_numpy(std::move(actions)),
                                      to_numpy(std::move(to)));
            },
            nb::sig("def edges(self) -> tuple[numpy.typing.NDArray[numpy.int64], "
                    "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]"),
            "All transitions: by state where its own begin (and the end of all), the numbers of their "
            "actions, and the states that they lead to.");
    m.def(
        "enumerate_states",
        [](nb::object task, std::uint32_t max_states, const Budget* budget) {
            const TaskObject& core = nb::cast<const TaskObject&>(task);
            Budget spending = copy_of(budget);
            LimitHit limit = LimitHit::kNone;
            EnumerationObject result{std::move(task), &core, nullptr};
            run_interruptible(spending, [&] {
                result.all =
                    enumerate_states(core.space, core.space.initial.data(), max_states, spending, limit);
            });
            return result;
        },
        nb::arg("task"), nb::kw_only(), nb::arg("max_states"), nb::arg("budget") = nb::none(),
        nb::sig("def enumerate_states(task: Task, *, max_states: int, budget: Budget | None = None) -> "
                "Enumeration"),
        "Enumerates the states that can be reached from the initial one, and their exact values.");
}

}  // namespace

void bind_training(nb::module_& m) {
    bind_enumeration(m);
    nb::class_<TrainerObject>(m, "AsnetTrainer",
                              "Trains an action schema network; see misstep.training.asnet.")
        .def(
            "__init__",
            [](TrainerObject* self, int hidden, const std::vector<std::vector<std::pair<int, int>>>& slots,
               const std::vector<std::vector<ModuleArrays>>& action_modules,
               const std::vector<std::vector<ModuleArrays>>& predicate_modules, int threads,
               std::uint64_t seed) {
                if (threads < 1 || threads > 64) throw InputError("training takes 1 to 64 threads");
                AsnetNetwork net;
                net.hidden = hidden;
                net.predicate_slots = slots;
                net.action_modules = copied(action_modules);
                net.predicate_modules = copied(predicate_modules);
                net.slot_facts.resize(net.action_modules.at(0).size());
                new (self) TrainerObject(net, threads, seed);
            },
            nb::kw_only(), nb::arg("hidden"), nb::arg("predicate_slots"), nb::arg("action_modules"),
            nb::arg("predicate_modules"), nb::arg("threads"), nb::arg("seed"))
        .def(
            "add_task",
            [](TrainerObject& t, nb::object task, int hidden, const Array<std::int32_t>& operators,
               const Array<std::int32_t>& schema_start, const std::vector<Array<std::int32_t>>& slot_facts,
               const Array<std::int32_t>& predicate_start, const Array<std::int32_t>& fact_variables,
               const Array<std::int32_t>& fact_values, const Array<std::uint8_t>& goal,
               const std::vector<std::vector<std::pair<int, int>>>& predicate_slots,
               const std::vector<std::vector<ModuleArrays>>& action_modules,
               const std::vector<std::vector<ModuleArrays>>& predicate_modules) {
                const TaskObject& core = nb::cast<const TaskObject&>(task);
                const std::size_t number = t.trainer.add_task(
                    core.space,
                    make_network(hidden, operators, schema_start, slot_facts, predicate_start, fact_variables,
                                 fact_values, goal, predicate_slots, action_modules, predicate_modules));
                t.tasks.push_back(std::move(task));
                t.cores.push_back(&core);
                return number;
            },
            nb::arg("task"), nb::kw_only(), nb::arg("hidden"), nb::arg("operators"), nb::arg("schema_start"),
            nb::arg("slot_facts"), nb::arg("predicate_start"), nb::arg("fact_variables"),
            nb::arg("fact_values"), nb::arg("goal"), nb::arg("predicate_slots"), nb::arg("action_modules"),
            nb::arg("predicate_modules"),
            "Takes the arguments of AsnetPolicy; returns the task's number here.")
        .def("add_state_space", &add_state_space, nb::arg("task"), nb::kw_only(), nb::arg("max_states"),
             nb::arg("max_samples"), nb::arg("seed"), nb::arg("budget") = nb::none(),
             nb::sig("def add_state_space(self, task: int, *, max_states: int, max_samples: int, seed: int, "
                     "budget: Budget | None = None) -> int | None"),
             "Adds the states of a task from which a goal can be reached, with exact labels: all of them, or "
             "so many drawn evenly. The number of them; None where the task has more states than allowed, or "
             "the budget was used up.")
        .def("add_sample", &add_sample, nb::arg("task"), nb::arg("state"), nb::arg("regrets"),
             nb::sig("def add_sample(self, task: int, state: State, "
                     "regrets: collections.abc.Sequence[tuple[int, float | None]]) -> None"),
             "Adds a state with (action number, regret or None where unknown) of all applicable actions, the "
             "teacher's first.")
        .def(
            "num_samples",
            [](const TrainerObject& t, std::size_t task) {
                t.core(task);
                return t.trainer.num_samples(task);
            },
            nb::arg("task"))
        .def("train", &train, nb::arg("batches"), nb::kw_only(), nb::arg("loss"), nb::arg("max_regret"),
             nb::arg("batch"), nb::arg("rate"), nb::arg("dropout"), nb::arg("weight_decay"),
             nb::arg("task_power"), nb::arg("budget") = nb::none(),
             nb::sig("def train(self, batches: int, *, loss: str, max_regret: int, batch: int, rate: float, "
                     "dropout: float, weight_decay: float, task_power: float, budget: Budget | None = None) "
                     "-> float"),
             "Trains on so many minibatches, on fewer where the budget is used up before; the mean loss.")
        .def(
            "gradient",
            [](TrainerObject& t, std::size_t task, const std::string& loss, std::uint32_t max_regret) {
                t.core(task);
                std::vector<float> result;
                const double value = t.trainer.gradient(task, make_rule(loss, max_regret), result);
                return nb::make_tuple(value, to_numpy(std::move(result)));
            },
            nb::arg("task"), nb::kw_only(), nb::arg("loss"), nb::arg("max_regret"),
            nb::sig("def gradient(self, task: int, *, loss: str, max_regret: int) -> "
                    "tuple[float, numpy.typing.NDArray[numpy.float32]]"),
            "The mean loss of all samples of a task without dropout, and its gradient by the parameters.")
        .def(
            "state",
            [](const TrainerObject& t) {
                return nb::make_tuple(to_numpy(t.trainer.parameters()), to_numpy(t.trainer.means()),
                                      to_numpy(t.trainer.squares()), t.trainer.steps(),
                                      t.trainer.random_state());
            },
            nb::sig("def state(self) -> tuple[numpy.typing.NDArray[numpy.float32], "
                    "numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32], int, int]"),
            "All that training goes on from, besides the samples: parameters, Adam's means and squares, "
            "steps, the state of the random numbers.")
        .def(
            "restore",
            [](TrainerObject& t, const Parameters& parameters, const Parameters& means,
               const Parameters& squares, std::uint64_t steps, std::uint64_t random_state) {
                for (const Parameters* values : {&parameters, &means, &squares}) check_size(t, *values);
                t.trainer.restore(parameters.data(), means.data(), squares.data(), steps, random_state);
            },
            nb::arg("parameters"), nb::arg("means"), nb::arg("squares"), nb::arg("steps"),
            nb::arg("random_state"),
            nb::sig("def restore(self, parameters: numpy.typing.NDArray[numpy.float32], "
                    "means: numpy.typing.NDArray[numpy.float32], "
                    "squares: numpy.typing.NDArray[numpy.float32], steps: int, random_state: int) -> None"),
            "Goes on from what state() told.")
        .def_prop_ro(
            "parameters", [](const TrainerObject& t) { return to_numpy(t.trainer.parameters()); },
            nb::rv_policy::move, nb::sig("def parameters(self) -> numpy.typing.NDArray[numpy.float32]"))
        .def("modules", &modules, nb::arg("parameters"),
             nb::sig("def modules(self, parameters: numpy.typing.NDArray[numpy.float32]) -> tuple["
                     "list[list[tuple[numpy.typing.NDArray[numpy.float32], "
                     "numpy.typing.NDArray[numpy.float32]]]], "
                     "list[list[tuple[numpy.typing.NDArray[numpy.float32], "
                     "numpy.typing.NDArray[numpy.float32]]]]]"),
             "The parameters as action modules and predicate modules: by layer and index flat weights and "
             "bias.")
        .def("policy", &policy, nb::arg("task"), nb::arg("parameters"), nb::rv_policy::take_ownership,
             nb::sig("def policy(self, task: int, parameters: numpy.typing.NDArray[numpy.float32]) -> "
                     "AsnetPolicy"),
             "The policy with these parameters on one of the tasks.");
}
