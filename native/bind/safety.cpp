// Games and deciders for Python.
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bind/bind.hpp"
#include "bind/objects.hpp"
#include "safety/decider.hpp"
#include "safety/fuzz.hpp"
#include "safety/goal_plan.hpp"
#include "util/error.hpp"

using namespace nb::literals;
using namespace misstep::safety;

namespace {

using Radius = std::optional<std::uint32_t>;  // None is infinite

std::uint32_t native_radius(const Radius& radius) {
    if (!radius) return infinite;
    if (*radius > 1'000'000)
        throw misstep::InputError("a finite radius is at most 1000000; use None for infinity");
    return *radius;
}

const char* name(Verdict verdict) {
    return verdict == Verdict::safe ? "safe" : verdict == Verdict::unsafe ? "unsafe" : "unknown";
}

// Owns the decider and keeps the game alive through a Python reference.
class PyDecider {
  public:
    PyDecider(Game& game, const std::string& algorithm, const std::string& order)
        : algorithm_(algorithm), decider_(make_decider(algorithm, game, outcome_order(order))) {}

    static OutcomeOrder outcome_order(const std::string& name) {
        if (name == "shared") return OutcomeOrder::shared;
        if (name == "last-first") return OutcomeOrder::last_first;
        if (name == "first-first") return OutcomeOrder::first_first;
        throw misstep::InputError("unknown outcome order '" + name +
                                  "'; known are shared, last-first, first-first");
    }
    void check(StateId s) const {
        if (s >= decider_->game().size()) throw misstep::InputError("no such state in this game");
    }

    std::string algorithm_;
    std::unique_ptr<Decider> decider_;
};

Strategy strategy(const std::string& name) {
    if (name == "uniform") return Strategy::uniform;
    if (name == "greedy") return Strategy::greedy;
    if (name == "sampling") return Strategy::sampling;
    throw misstep::InputError("unknown strategy '" + name + "'; known are uniform, greedy, sampling");
}

const char* name(RunEnd end) {
    switch (end) {
        case RunEnd::unsafe:
            return "unsafe";
        case RunEnd::exhausted:
            return "exhausted";
        case RunEnd::steps:
            return "max_steps";
        case RunEnd::lookahead:
            return "max_lookahead";
    }
    return "";
}

void check(const Game& game, StateId s) {
    if (s >= game.size()) throw misstep::InputError("no such state in this game");
}

void bind_fuzzer(nb::module_& m) {
    nb::class_<Fuzzer>(m, "SafetyFuzzer", "Policy runs biased towards unsafety (Algorithm 1).")
        .def(
            "__init__",
            [](Fuzzer* self, Game& game, const std::string& name, std::optional<std::uint32_t> depth,
               std::uint32_t max_steps, std::uint64_t max_lookahead, double temperature, std::uint64_t seed) {
                if (depth && *depth == 0) throw misstep::InputError("the look-ahead depth is at least 1");
                if (!(temperature > 0)) throw misstep::InputError("the temperature must be positive");
                new (self) Fuzzer(game, {strategy(name), depth, max_steps, max_lookahead, temperature}, seed);
            },
            "game"_a, "strategy"_a = "greedy", nb::kw_only(), "depth"_a.none() = 1, "max_steps"_a = 1000,
            "max_lookahead"_a = 100'000, "temperature"_a = 1.0, "seed"_a, nb::keep_alive<1, 2>(),
            "depth None looks ahead until the policy graph is exhausted.")
        .def(
            "run",
            [](Fuzzer& fuzzer, StateId start, const misstep::Budget* budget) {
                if (start >= fuzzer.game().size()) throw misstep::InputError("no such state in this game");
                Run run{RunEnd::steps, {}};
                misstep::Budget spending = misstep::copy_of(budget);
                std::string end;
                misstep::run_interruptible(spending, [&] {
                    Meter meter;
                    meter.start(spending);
                    try {
                        run = fuzzer.run(start, meter);
                        end = name(run.end);
                    } catch (const OutOfBudget& hit) {
                        run.states.assign(1, start);
                        end = misstep::limit_name(hit.limit);
                    }
                });
                return std::pair(end, std::move(run.states));
            },
            "start"_a, nb::kw_only(), "budget"_a.none() = nb::none(),
            "How the run ended (unsafe, exhausted, max_steps, max_lookahead, or what of the budget was used "
            "up) and its states.");
}

void bind_goal_plan(nb::module_& m) {
    nb::class_<GoalPlan>(m, "GoalPlan", "How often the goal can be reached by moves that risk nothing.")
        .def(
            "__init__",
            [](GoalPlan* self, Game& game, const std::vector<StateId>& starts, std::size_t max_states,
               const misstep::Budget* budget) {
                for (StateId s : starts) check(game, s);
                misstep::Budget spending = misstep::copy_of(budget);
                misstep::run_interruptible(spending,
                                           [&] { new (self) GoalPlan(game, starts, max_states, spending); });
            },
            "game"_a, "starts"_a, nb::kw_only(), "max_states"_a, "budget"_a.none() = nb::none(),
            nb::keep_alive<1, 2>(), "Looks at all that can be reached from the starts; asks no policy.")
        .def("__len__", &GoalPlan::states)
        .def_prop_ro("complete", &GoalPlan::complete,
                     "Whether all was looked at; otherwise values are lower bounds.")
        .def("is_safe", &GoalPlan::safe, "state"_a, "Whether unsafe states are known to be avoidable there.")
        .def("value", &GoalPlan::value, "state"_a,
             "The probability of the goal by the best safe moves; 0 where the state is not known to be safe.")
        .def("best", &GoalPlan::best, "state"_a, "The labels of the safe moves that attain the value.")
        .def(
            "way",
            [](GoalPlan& plan, StateId s) -> std::optional<std::uint32_t> {
                const std::uint32_t label = plan.way(s);
                return label == infinite ? std::nullopt : std::optional(label);
            },
            "state"_a,
            "The best label that is nearest to the goal; taken everywhere, it attains the value. None where "
            "no safe way is known.");
}

}  // namespace

void bind_safety(nb::module_& m) {
    nb::class_<Game>(m, "Game", "A game of labelled moves with sets of outcomes, expanded on demand.")
        .def("__len__", &Game::size)
        .def("is_unsafe", [](Game& g, StateId s) { return s < g.size() && g.leaf(s) == Leaf::unsafe; })
        .def("is_goal", [](Game& g, StateId s) { return s < g.size() && g.leaf(s) == Leaf::goal; })
        .def(
            "moves",
            [](Game& g, StateId s) {
                check(g, s);
                std::vector<std::tuple<std::uint32_t, bool, std::vector<StateId>>> result;
                Moves moves = g.moves(s);
                for (std::uint32_t i = 0; i < moves.size(); ++i) {
                    Move move = moves[i];
                    result.emplace_back(move.label, move.deviates,
                                        std::vector<StateId>(move.outcomes.begin(), move.outcomes.end()));
                }
                return result;
            },
            "(label, deviates from the policy, outcomes) of each move; the policy's own first.")
        .def(
            "plain_moves",
            [](Game& g, StateId s) {
                check(g, s);
                std::vector<std::pair<std::uint32_t, std::vector<StateId>>> result;
                Moves moves = g.plain_moves(s);
                for (std::uint32_t i = 0; i < moves.size(); ++i)
                    result.emplace_back(moves[i].label, std::vector<StateId>(moves[i].outcomes.begin(),
                                                                             moves[i].outcomes.end()));
                return result;
            },
            "(label, outcomes) of each move, without asking the policy.");

    using Spec = std::tuple<std::vector<std::pair<std::uint32_t, std::vector<StateId>>>, bool, bool,
                            std::optional<std::uint32_t>>;
    nb::class_<ExplicitGame, Game>(m, "ExplicitGame", "A game given state by state.")
        .def(
            "__init__",
            [](ExplicitGame* self, const std::vector<Spec>& specs) {
                std::vector<ExplicitGame::Node> nodes;
                for (const auto& [choices, unsafe, goal, policy] : specs) {
                    ExplicitGame::Node node;
                    for (const auto& [label, outcomes] : choices) node.choices.push_back({label, outcomes});
                    node.unsafe = unsafe;
                    node.goal = goal;
                    node.has_policy = policy.has_value();
                    node.policy = policy.value_or(0);
                    nodes.push_back(std::move(node));
                }
                new (self) ExplicitGame(std::move(nodes));
            },
            "states"_a, "Each state is ([(label, outcomes)], unsafe, goal, label of the policy or None).");

    nb::class_<PyDecider>(
        m, "Decider", "Decides r-safety; what one query proves serves the next. None is the infinite radius.")
        .def(nb::init<Game&, const std::string&, const std::string&>(), "game"_a, "algorithm"_a = "level",
             nb::kw_only(), "outcome_order"_a = "shared", nb::keep_alive<1, 2>())
        .def_ro("algorithm", &PyDecider::algorithm_)
        .def_prop_ro(
            "expanded", [](PyDecider& d) { return d.decider_->expanded(); }, "Expansions over all queries.")
        .def(
            "decide",
            [](PyDecider& d, StateId s, Radius radius, const misstep::Budget* budget) {
                d.check(s);
                Answer answer{};
                misstep::Budget spending = misstep::copy_of(budget);
                const std::uint32_t r = native_radius(radius);
                misstep::run_interruptible(spending, [&] { answer = d.decider_->decide(s, r, spending); });
                const char* limit = misstep::limit_name(answer.limit);
                return std::tuple(std::string(name(answer.verdict)),
                                  limit ? std::optional<std::string>(limit) : std::nullopt, answer.expanded,
                                  answer.seconds);
            },
            "state"_a, "radius"_a.none(), nb::kw_only(), "budget"_a.none() = nb::none(),
            "(verdict, limit that was hit where it is unknown, expansions, seconds).")
        .def(
            "minimal_radius",
            [](PyDecider& d, StateId s, std::uint32_t most, const misstep::Budget* budget) -> Radius {
                d.check(s);
                misstep::Budget spending = misstep::copy_of(budget);
                Radius result;
                const std::uint32_t r = native_radius(most);
                misstep::run_interruptible(spending,
                                           [&] { result = d.decider_->minimal_radius(s, r, spending); });
                return result;
            },
            "state"_a, nb::kw_only(), "most"_a = 16, "budget"_a.none() = nb::none(),
            "The least r <= most for which the state is r-safe.")
        .def(
            "strategy",
            [](PyDecider& d, StateId s, Radius radius, const Known& known) {
                d.check(s);
                std::vector<std::tuple<StateId, std::uint32_t, std::optional<std::uint32_t>>> result;
                const std::uint32_t r = native_radius(radius);
                for (const StrategyStep& step : d.decider_->strategy(s, r, known)) {
                    std::optional<std::uint32_t> label;
                    if (step.move != infinite) label = d.decider_->moves(step.state, r)[step.move].label;
                    result.emplace_back(step.state, step.value, label);
                }
                return result;
            },
            "state"_a, "radius"_a.none(), "known"_a.none() = nb::none(),
            "[(state, deviations ahead, label or None at a leaf)], the queried state first; empty unless "
            "safe. Lines for whose state and deviations `known` is true are left out.")
        .def(
            "refutation",
            [](PyDecider& d, StateId s, Radius radius, const Known& known) {
                d.check(s);
                std::vector<
                    std::tuple<StateId, std::uint32_t, std::vector<std::pair<std::uint32_t, StateId>>>>
                    result;
                const std::uint32_t r = native_radius(radius);
                for (const RefutationStep& step : d.decider_->refutation(s, r, known)) {
                    std::vector<std::pair<std::uint32_t, StateId>> answers;
                    Moves moves = d.decider_->moves(step.state, r);
                    for (auto [move, t] : step.answers) answers.emplace_back(moves[move].label, t);
                    result.emplace_back(step.state, step.budget, std::move(answers));
                }
                return result;
            },
            "state"_a, "radius"_a.none(), "known"_a.none() = nb::none(),
            "[(state, budget, [(label, losing outcome)])], each line resting on earlier ones; empty unless "
            "unsafe. Lines for whose state and budget `known` is true are left out.");
    bind_fuzzer(m);
    bind_goal_plan(m);
}
