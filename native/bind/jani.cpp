// JANI models and their games for Python. Conditions cross as JSON text, states as lists of values.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "bind/bind.hpp"
#include "bind/objects.hpp"
#include "jani/explore.hpp"
#include "jani/sample.hpp"
#include "safety/jani_game.hpp"
#include "util/error.hpp"

using namespace nb::literals;
using namespace misstep;
using jani::Model;
using safety::JaniGame;
using safety::StateId;

namespace {

jani::OutOfBounds out_of_bounds(const std::string& name, bool reals) {
    if (name == "error") return jani::OutOfBounds::error;
    if (name == "clip") return jani::OutOfBounds::clip;
    if (name == "drop") return jani::OutOfBounds::drop;
    if (name == "allow" && reals) return jani::OutOfBounds::allow;
    throw InputError("unknown treatment of values out of bounds '" + name +
                     (reals ? "'; known are error, clip, drop, allow" : "'; known are error, clip, drop"));
}

const jani::Expr* condition(Model& model, const std::string& text, const std::string& file) {
    jani::Json json = jani::parse_json(text, file);
    return model.condition(json, jani::Path(file));
}

nb::object to_python(const Model& model, std::uint32_t field, jani::Value value) {
    switch (model.field_type(field)) {
        case jani::Type::boolean:
            return nb::bool_(value.i != 0);
        case jani::Type::integer:
            return nb::int_(value.i);
        case jani::Type::real:
            return nb::float_(value.d);
    }
    return nb::none();
}

jani::Value from_python(const Model& model, std::uint32_t field, nb::handle object) {
    const std::string& name = model.field_name(field);
    const bool bounded = model.field_bounded(field);
    if (model.field_type(field) == jani::Type::real) {
        double d = 0;
        if (!nb::try_cast(object, d) || !std::isfinite(d))
            throw InputError("'" + name + "': expected a finite number");
        return jani::make(d + 0.0);
    }
    std::int64_t i = 0;
    if (!nb::try_cast(object, i)) throw InputError("'" + name + "': expected an integer or a truth value");
    if (bounded && (i < model.field_lower(field).i || i > model.field_upper(field).i))
        throw InputError("'" + name + "': " + std::to_string(i) + " is out of bounds");
    return jani::make(i);
}

StateId checked(const JaniGame& game, StateId s) {
    if (s >= game.size()) throw InputError("no such state in this game");
    return s;
}

nb::list values(JaniGame& game, StateId s) {
    checked(game, s);
    const Model& model = game.model();
    jani::Value* frame = game.successors().load(game.model_state(s));
    nb::list result;
    for (std::uint32_t i = 0; i < model.layout.fields().size(); ++i)
        result.append(to_python(model, i, frame[model.layout.fields()[i].slot]));
    return result;
}

StateId add(JaniGame& game, nb::sequence row) {
    const Model& model = game.model();
    const auto& fields = model.layout.fields();
    if (nb::len(row) != fields.size())
        throw InputError("expected " + std::to_string(fields.size()) + " values for a state");
    std::vector<jani::Value> parsed;
    for (std::uint32_t i = 0; i < fields.size(); ++i) parsed.push_back(from_python(model, i, row[i]));
    std::vector<std::uint64_t> zero(model.layout.words());
    jani::Value* frame = game.successors().load(zero.data());
    for (std::size_t i = 0; i < fields.size(); ++i) frame[fields[i].slot] = parsed[i];
    return game.state(game.successors().store());
}

// A policy written in Python: function(values, applicable label numbers) -> label number or None.
class PyPolicy final : public safety::Policy {
  public:
    PyPolicy(std::shared_ptr<Model> model, nb::callable function)
        : model_(std::move(model)), function_(std::move(function)) {}
    ~PyPolicy() override {
        nb::gil_scoped_acquire acquire;
        function_.reset();
    }
    std::uint32_t choose(const jani::Value* frame, std::span<const std::uint32_t> applicable,
                         std::vector<double>&) override {
        nb::gil_scoped_acquire acquire;
        nb::list row, labels;
        for (std::uint32_t i = 0; i < model_->layout.fields().size(); ++i)
            row.append(to_python(*model_, i, frame[model_->layout.fields()[i].slot]));
        for (std::uint32_t label : applicable) labels.append(nb::int_(label));
        nb::object answer = function_(row, labels);
        if (answer.is_none()) return safety::infinite;
        std::uint32_t label = 0;
        if (!nb::try_cast(answer, label) || label >= model_->labels.size())
            throw InputError("the policy returned something that is not the number of a label");
        return label;
    }

  private:
    std::shared_ptr<Model> model_;
    nb::callable function_;
};

void bind_model(nb::module_& m) {
    nb::class_<Model>(m, "JaniModel", "A JANI model, resolved and compiled.")
        .def_static(
            "parse",
            [](const std::string& text, const std::string& file,
               const std::vector<std::pair<std::string, std::string>>& constants, bool ignore_rates,
               const std::string& integers, const std::string& reals, bool keep_impossible,
               std::uint32_t box_points) -> std::shared_ptr<Model> {
                jani::Options options;
                options.ignore_rates = ignore_rates;
                options.keep_impossible = keep_impossible;
                options.box_points = box_points;
                options.integers = out_of_bounds(integers, false);
                options.reals = out_of_bounds(reals, true);
                for (const auto& [name, value] : constants)
                    options.constants.emplace_back(name, jani::parse_json(value, "constant " + name));
                nb::gil_scoped_release release;
                return jani::load_model(text, file, std::move(options));
            },
            "text"_a, "file"_a, nb::kw_only(), "constants"_a = nb::list(), "ignore_rates"_a = false,
            "integers"_a = "error", "reals"_a = "allow", "keep_impossible"_a = false, "box_points"_a = 0,
            "constants are (name, JSON text); integers and reals say what becomes of values out of bounds "
            "(error, clip, drop the outcome, allow).")
        .def_prop_ro("name", [](const Model& model) { return model.name; })
        .def_prop_ro("type", [](const Model& model) { return model.type; })
        .def_prop_ro(
            "labels", [](const Model& model) { return model.labels; },
            "Labels of moves; '' is the silent one.")
        .def_prop_ro("has_reals", [](const Model& model) { return model.has_reals; })
        .def_prop_ro(
            "fields",
            [](const Model& model) {
                std::vector<std::string> names;
                for (std::uint32_t i = 0; i < model.layout.fields().size(); ++i)
                    names.push_back(model.field_name(i));
                return names;
            },
            "The names of a state's values, in order: variables, array cells, locations.")
        .def_prop_ro(
            "bounds",
            [](const Model& model) {
                std::vector<std::optional<std::pair<double, double>>> result;
                for (std::uint32_t i = 0; i < model.layout.fields().size(); ++i) {
                    auto as_double = [&](jani::Value v) {
                        return model.layout.fields()[i].real ? v.d : static_cast<double>(v.i);
                    };
                    if (model.field_bounded(i))
                        result.emplace_back(
                            std::pair(as_double(model.field_lower(i)), as_double(model.field_upper(i))));
                    else
                        result.emplace_back(std::nullopt);
                }
                return result;
            },
            "Lower and upper bound of each field, or None.")
        .def_prop_ro(
            "instances",
            [](const Model& model) {
                std::vector<std::tuple<std::string, std::string, std::vector<std::string>>> result;
                for (const auto& in : model.instances)
                    result.emplace_back(in.name, in.automaton, in.locations);
                return result;
            },
            "(name, automaton, locations) of each element of the system.")
        .def(
            "words", [](const Model& model) { return model.layout.words(); },
            "64-bit words of a packed state.")
        .def(
            "explore",
            [](std::shared_ptr<Model> model, std::uint64_t max_states, const Budget* budget) {
                jani::Counts c;
                Budget spending = copy_of(budget);
                run_interruptible(spending, [&] {
                    jani::Successors successors(model);
                    c = jani::explore(successors, max_states, spending);
                });
                return std::tuple(c.states, c.expanded, c.choices, c.transitions, c.deadlocks);
            },
            nb::kw_only(), "max_states"_a = 1'000'000'000, "budget"_a.none() = nb::none(),
            "(states, expanded, choices, transitions, deadlocks), breadth first from the initial states.");
}

void bind_game(nb::module_& m) {
    nb::class_<JaniGame, safety::Game>(m, "JaniGame",
                                       "The safety game of a JANI model; conditions are JSON text.")
        .def(
            "__init__",
            [](JaniGame* self, std::shared_ptr<Model> model, const std::string& unsafe,
               const std::optional<std::string>& goal, std::shared_ptr<safety::Policy> policy,
               std::optional<std::uint32_t> horizon, double epsilon, bool normalised, bool by_edge) {
                JaniGame::Setup setup;
                setup.unsafe = condition(*model, unsafe, "unsafety condition");
                if (goal) setup.goal = condition(*model, *goal, "goal");
                setup.policy = std::move(policy);
                setup.horizon = horizon;
                setup.epsilon = epsilon;
                setup.normalised = normalised;
                setup.by_edge = by_edge;
                new (self) JaniGame(std::move(model), std::move(setup));
            },
            "model"_a, "unsafe"_a, "goal"_a.none() = nb::none(), nb::kw_only(),
            "policy"_a.none() = nb::none(), "horizon"_a.none() = nb::none(), "epsilon"_a = 1e-5,
            "normalised"_a = false, "by_edge"_a = false,
            "by_edge says how outcomes are drawn: an enabled edge of the label, all equally likely, then an "
            "outcome "
            "by its probability; otherwise all outcome states of the label are equally likely.")
        .def("values", &values, "state"_a,
             nb::sig("def values(self, state: int) -> list[int | float | bool]"),
             "The values of a state, in the order of JaniModel.fields.")
        .def("add", &add, "values"_a,
             nb::sig("def add(self, values: collections.abc.Sequence[int | float | bool | str]) -> int"),
             "The number of the state with these values.")
        .def(
            "initial",
            [](JaniGame& game, std::size_t most) {
                std::vector<StateId> result;
                for (std::uint32_t s : jani::initial_states(game.successors(), most))
                    result.push_back(game.state(s));
                return result;
            },
            nb::kw_only(), "most"_a = 1'000'000, "The initial states of the model.")
        .def(
            "sample",
            [](JaniGame& game, const std::string& text, std::size_t count, std::uint64_t seed,
               std::uint64_t max_nodes, const Budget* budget) {
                const jani::Expr* e = condition(game.model(), text, "start condition");
                std::uint32_t code = game.successors().program().compile_condition(e);
                std::vector<StateId> result;
                Budget spending = copy_of(budget);
                run_interruptible(spending, [&] {
                    for (std::uint32_t s :
                         jani::sample_states(game.successors(), e, code, count, seed, max_nodes, spending))
                        result.push_back(game.state(s));
                });
                return result;
            },
            "condition"_a, "count"_a, nb::kw_only(), "seed"_a, "max_nodes"_a = 20'000'000,
            "budget"_a.none() = nb::none(),
            "Random distinct states that satisfy a condition: at most count, fewer where no more were found.")
        .def(
            "distance", [](JaniGame& game, StateId s) { return game.distance(checked(game, s)); }, "state"_a,
            "h_u of the state.")
        .def(
            "step", [](JaniGame& game, StateId s) { return game.step(checked(game, s)); }, "state"_a,
            "Steps from the start, counted where the game has a horizon.")
        .def(
            "chosen", [](JaniGame& game, StateId s) { return game.chosen(checked(game, s)); }, "state"_a,
            "The label the policy chose there, applicable or not.")
        .def(
            "weights",
            [](JaniGame& game, StateId s, std::uint32_t label) {
                safety::Moves moves = game.moves(checked(game, s));
                std::vector<double> weights;
                for (std::uint32_t i = 0; i < moves.size(); ++i)
                    if (moves[i].label == label) game.weights(s, moves[i], weights);
                return weights;
            },
            "state"_a, "label"_a,
            "Relative weights of the outcomes of a move, in the order of moves(); empty where all are "
            "equally "
            "likely.")
        .def_prop_ro("policy_calls", &JaniGame::policy_calls)
        .def_prop_ro(
            "out_of_bounds", [](JaniGame& game) { return game.successors().out_of_bounds(); },
            "How often a real value left its bounds.");
}

}  // namespace

void bind_jani(nb::module_& m) {
    bind_model(m);
    nb::class_<safety::Policy>(m, "SafetyPolicy", "A policy that safety games can ask.");
    m.def(
        "python_policy",
        [](std::shared_ptr<Model> model, nb::callable function) -> std::shared_ptr<safety::Policy> {
            return std::make_shared<PyPolicy>(std::move(model), std::move(function));
        },
        "model"_a, "function"_a,
        nb::sig(
            "def python_policy(model: JaniModel, function: "
            "collections.abc.Callable[[list[int | float | bool], list[int]], int | None]) -> SafetyPolicy"),
        "function(values, applicable label numbers) -> label number or None.");
    bind_game(m);
}
