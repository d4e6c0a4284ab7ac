// Policies, the policy graph and its runs for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/policy_object.hpp"
#include "policy_graph/heuristic_policy.hpp"
#include "policy_graph/lookahead.hpp"

using namespace misstep;

namespace {

// A Python callable that takes a StateBatch and returns an action, its name or None for each state.
class CallablePolicy final : public Policy {
  public:
    CallablePolicy(nb::handle task, const TaskObject& core, nb::handle callable, std::size_t best_batch)
        : task_(task), core_(core), callable_(callable), best_batch_(best_batch) {}

    void choose(std::span<const Word* const> states, ActionId* actions) override {
        nb::gil_scoped_acquire gil;
        std::size_t width = static_cast<std::size_t>(core_.task.num_variables());
        std::vector<std::int32_t> values(states.size() * width);
        for (std::size_t i = 0; i < states.size(); ++i)
            core_.space.packer.unpack(states[i], values.data() + i * width);
        nb::object answers =
            callable_(make_batch(nb::borrow(task_), core_, states.size(), std::move(values)));
        std::size_t count = 0;
        for (nb::handle answer : answers) {
            if (count < states.size()) actions[count] = action_of(answer, states[count]);
            ++count;
        }
        if (count != states.size())
            throw InputError("the policy was asked for " + std::to_string(states.size()) +
                             " states and gave " + std::to_string(count) + " answers");
    }
    std::size_t best_batch() const override { return best_batch_; }

  private:
    ActionId action_of(nb::handle answer, const Word* state) {
        if (answer.is_none()) return kNoAction;
        ActionObject* action = nullptr;
        if (nb::try_cast(answer, action) && action != nullptr)
            return action->core->same_as(core_) ? action->id : kUnknownAction;
        // A name stands for the same action as in every test; what comes back is an action or a BadAnswer.
        if (nb::isinstance<nb::str>(answer)) return action_of(named(answer, state), state);
        // The guard's BadAnswer tells an action that the task does not have from no decision at all.
        nb::object outcome = nb::getattr(answer, "outcome", nb::none());
        std::string said;
        return nb::try_cast(outcome, said) && said == "illegal" ? kUnknownAction : kNoDecision;
    }

    nb::object named(nb::handle name, const Word* state) {
        nb::module_ answers = nb::module_::import_("misstep.answers.answer");
        nb::object task = nb::borrow(task_);
        if (!names_.is_valid()) names_ = answers.attr("ActionNames")(task);
        StateObject asked{task, &core_, std::vector<Word>(state, state + core_.space.num_words())};
        return answers.attr("read_answer")(name, asked, names_);
    }

    nb::handle task_;
    const TaskObject& core_;
    nb::handle callable_;
    nb::object names_;  // the actions by name, once one is named
    std::size_t best_batch_;
};

// A native policy that others may be using at the same time.
class SharedPolicy final : public Policy {
  public:
    explicit SharedPolicy(PolicyObject& object) : object_(object) {}
    void choose(std::span<const Word* const> states, ActionId* actions) override {
        std::scoped_lock lock(*object_.busy);
        object_.policy->choose(states, actions);
    }
    std::size_t best_batch() const override { return object_.policy->best_batch(); }

  private:
    PolicyObject& object_;
};

nb::object action_or_none(const nb::object& task, const TaskObject& core, ActionId id) {
    if (id >= core.task.actions.size()) return nb::none();
    return nb::cast(ActionObject{task, &core, id});
}

nb::list choose(PolicyObject& p, const BatchObject& batch) {
    require_same_task(*p.core, *batch.core, "batch");
    std::vector<Word> packed = batch.packed();
    auto states = pointers(packed, p.core->space.num_words());
    std::vector<ActionId> actions(states.size(), kNoAction);
    {
        nb::gil_scoped_release no_gil;
        std::scoped_lock lock(*p.busy);
        p.policy->choose(states, actions.data());
    }
    nb::list result;
    for (ActionId id : actions) {
        if (id == kUnknownAction || id == kNoDecision)
            result.append(nb::module_::import_("misstep.answers.answer")
                              .attr(id == kNoDecision ? "NO_NUMBER" : "NO_SUCH_ACTION"));
        else
            result.append(action_or_none(p.task, *p.core, id));
    }
    return result;
}

struct Trace {
    std::vector<std::vector<Word>> states;
    std::vector<ActionId> actions;
};

Trace trace_of(const RunObject& run) {
    const GraphObject& g = run.owner();
    return exclusively(g, [&] {
        Trace trace;
        for (StateId id : g.graph->trace(run.info.start, run.info.steps)) {
            const Word* words = g.graph->state(id);
            trace.states.emplace_back(words, words + g.core->space.num_words());
            if (trace.states.size() <= run.info.steps) trace.actions.push_back(g.graph->action(id));
        }
        return trace;
    });
}

std::vector<StateObject> run_states(const RunObject& run) {
    const GraphObject& g = run.owner();
    std::vector<StateObject> states;
    for (std::vector<Word>& words : trace_of(run).states)
        states.push_back({g.task, g.core, std::move(words)});
    return states;
}

std::vector<ActionObject> run_actions(const RunObject& run) {
    const GraphObject& g = run.owner();
    std::vector<ActionObject> actions;
    for (ActionId id : trace_of(run).actions) actions.push_back({g.task, g.core, id});
    return actions;
}

nb::object run_all(nb::object self, const BatchObject& starts, std::uint32_t max_steps,
                   const Budget* budget) {
    GraphObject& g = nb::cast<GraphObject&>(self);
    require_same_task(*g.core, *starts.core, "batch");
    std::vector<Word> packed = starts.packed();
    Budget spending = copy_of(budget);
    std::vector<RunInfo> runs;
    try {
        run_interruptible(spending, [&] {
            std::scoped_lock lock(*g.busy);
            std::vector<StateId> ids;
            for (const Word* state : pointers(packed, g.core->space.num_words()))
                ids.push_back(g.graph->insert(state));
            runs = g.graph->run(ids, max_steps, spending);
        });
    } catch (const FlakyPolicy& error) {
        raise_flaky(g, error);
    }
    nb::list result;
    for (const RunInfo& info : runs) result.append(RunObject{self, info, g.times_forgotten});
    return result;
}

// (plan or None, the limit that was hit or None, states asked)
nb::tuple look_ahead(GraphObject& g, const StateObject& state, std::uint32_t depth,
                     std::optional<Total> below, std::uint32_t max_steps, const Budget* budget) {
    require_same_task(*g.core, *state.core, "state");
    LookaheadOptions options;
    options.depth = depth;
    options.bound = below.value_or(kEndless);
    options.max_steps = max_steps;
    options.budget = copy_of(budget);
    LookaheadResult found;
    try {
        run_interruptible(options.budget, [&] {
            std::scoped_lock lock(*g.busy);
            found = lookahead(*g.graph, g.graph->insert(state.words.data()), options);
        });
    } catch (const FlakyPolicy& error) {
        raise_flaky(g, error);
    }
    nb::object plan = nb::none();
    if (found.cost < options.bound) {
        nb::list actions;
        for (ActionId id : found.plan) actions.append(ActionObject{g.task, g.core, id});
        plan = actions;
    }
    return nb::make_tuple(plan, limit_name(found.limit), found.asked);
}

GraphObject* work_ahead(GraphObject& g) {
    PolicyObject* native = nullptr;
    if (!nb::try_cast(g.policy, native) || native == nullptr) return nullptr;
    std::unique_ptr<Policy> policy;
    std::shared_ptr<AnswerBook> book;
    {
        nb::gil_scoped_release no_gil;
        std::scoped_lock lock(*g.busy, *native->busy);
        policy = native->policy->copy();
        if (policy == nullptr) return nullptr;
        if (g.book == nullptr) {
            g.book = std::make_shared<AnswerBook>(g.core->space.num_words());
            g.graph->share(g.book.get());
        }
        book = g.book;
    }
    return new GraphObject(g, std::move(policy), std::move(book));
}

void bind_run(nb::module_& m) {
    nb::class_<RunObject>(m, "Run", "How a policy fared from one state.")
        .def_prop_ro(
            "outcome", [](const RunObject& r) { return outcome_name(r.info.outcome); },
            "`solved`, `loop`, `stuck`, `illegal`, `dead-end`, `failed` or `cut-off`.")
        .def_prop_ro(
            "steps", [](const RunObject& r) { return r.info.steps; }, "The number of actions applied.")
        .def_prop_ro(
            "spent", [](const RunObject& r) { return r.info.cost; }, "The cost of these actions.")
        .def_prop_ro(
            "states", &run_states, nb::sig("def states(self) -> list[State]"),
            "From the start on, one more than there are steps; the last one of a loop was there before.")
        .def_prop_ro("actions", &run_actions, nb::sig("def actions(self) -> list[Action]"))
        .def_prop_ro(
            "answer",
            [](const RunObject& r) {
                const GraphObject& g = r.owner();
                return action_or_none(g.task, *g.core,
                                      exclusively(g, [&] { return g.graph->action(r.info.last); }));
            },
            nb::sig("def answer(self) -> Action | None"),
            "What the policy answered in the last state, None where it gave no action of the task.")
        .def("__repr__", [](const RunObject& r) {
            return "<Run " + std::string(outcome_name(r.info.outcome)) + ", " + std::to_string(r.info.steps) +
                   " steps>";
        });
}

}  // namespace

namespace misstep {

GraphObject::GraphObject(nb::object task_, const TaskObject& core_, nb::object policy_,
                         const PolicyGraphOptions& options_)
    : task(std::move(task_)), core(&core_), policy(std::move(policy_)), options(options_) {
    PolicyObject* native = nullptr;
    if (nb::try_cast(policy, native) && native != nullptr) {
        require_same_task(core_, *native->core, "policy");
        adapter = std::make_unique<SharedPolicy>(*native);
    } else {
        std::size_t best_batch = 256;
        if (nb::hasattr(policy, "best_batch")) best_batch = nb::cast<std::size_t>(policy.attr("best_batch"));
        adapter = std::make_unique<CallablePolicy>(task, core_, policy, best_batch);
    }
    graph = std::make_unique<PolicyGraph>(core_.space, *adapter, options);
}

GraphObject::GraphObject(const GraphObject& main, std::unique_ptr<Policy> policy_,
                         std::shared_ptr<AnswerBook> book_)
    : task(main.task),
      core(main.core),
      policy(main.policy),
      options(main.options),
      adapter(std::move(policy_)),
      book(std::move(book_)) {
    options.is_ahead = true;
    options.recheck_every = 0;
    graph = std::make_unique<PolicyGraph>(core->space, *adapter, options);
    graph->share(book.get());
}

const char* outcome_name(Outcome outcome) {
    switch (outcome) {
        case Outcome::kSolved:
            return "solved";
        case Outcome::kLoop:
            return "loop";
        case Outcome::kStuck:
            return "stuck";
        case Outcome::kIllegal:
            return "illegal";
        case Outcome::kDeadEnd:
            return "dead-end";
        case Outcome::kFailed:
            return "failed";
        case Outcome::kCutOff:
            break;
    }
    return "cut-off";
}

void raise_flaky(const GraphObject& graph, const FlakyPolicy& error) {
    auto shown = [&](ActionId id) {
        if (id == kNoAction) return std::string("nothing");
        return id < graph.core->task.actions.size() ? graph.core->task.actions[id].name
                                                    : std::string("no action of the task");
    };
    std::string text =
        "the policy is not deterministic: in the state " +
        facts_text(*graph.core, graph.graph->state(error.state)) + " it first chose " + shown(error.first) +
        ", later " + shown(error.second) +
        "; misstep tests deterministic policies without memory: switch off sampling and dropout, forget what "
        "was asked before, test the likeliest action where it can tell probabilities (misstep.argmax), or "
        "skip this check (recheck=False, --no-recheck)";
    PyErr_SetString(nb::module_::import_("misstep.errors").attr("FlakyPolicy").ptr(), text.c_str());
    throw nb::python_error();
}

}  // namespace misstep

void bind_policy(nb::module_& m) {
    nb::class_<PolicyObject>(m, "NativePolicy",
                             "A policy that is evaluated natively; a callable like any other policy.")
        .def_prop_ro("task", [](const PolicyObject& p) { return p.task; })
        .def_rw("warnings", &PolicyObject::warnings,
                "What a user should know about how the policy fits the task.")
        .def("__call__", &choose, nb::arg("states"),
             nb::sig("def __call__(self, states: StateBatch, /) -> list[Action | None]"),
             "The chosen action of each state, None where the policy has none; a BadAnswer with the reason "
             "where it chose no action of the task, or its network gave no number.");
    struct HeuristicPolicyObject : PolicyObject {
        using PolicyObject::PolicyObject;
    };
    nb::class_<HeuristicPolicyObject, PolicyObject>(
        m, "HeuristicPolicy", "Greedy descent: the best successor by a heuristic, the first action on ties.")
        .def(
            "__init__",
            [](HeuristicPolicyObject* self, nb::object task, const std::string& heuristic) {
                const TaskObject& core = nb::cast<const TaskObject&>(task);
                auto policy = std::make_unique<HeuristicPolicy>(core.space, heuristic);
                new (self) HeuristicPolicyObject(std::move(task), core, std::move(policy));
            },
            nb::arg("task"), nb::arg("heuristic"),
            nb::sig("def __init__(self, task: Task, heuristic: str) -> None"));

    bind_run(m);
    nb::class_<GraphObject>(m, "PolicyGraph",
                            "A policy on one task: every state is asked once, runs advance together.")
        .def(
            "__init__",
            [](GraphObject* self, nb::object task, nb::object policy, bool dead_ends, bool recheck,
               std::uint64_t seed) {
                const TaskObject& core = nb::cast<const TaskObject&>(task);
                PolicyGraphOptions options;
                options.detect_dead_ends = dead_ends;
                if (!recheck) options.recheck_every = 0;
                options.seed = seed;
                new (self) GraphObject(std::move(task), core, std::move(policy), options);
            },
            nb::arg("task"), nb::arg("policy"), nb::kw_only(), nb::arg("dead_ends") = true,
            nb::arg("recheck") = true, nb::arg("seed") = 0,
            nb::sig("def __init__(self, task: Task, policy: collections.abc.Callable[[StateBatch], "
                    "collections.abc.Sequence[Action | str | None]], *, "
                    "dead_ends: bool = True, recheck: bool = True, seed: int = 0) -> None"),
            "The policy answers each state with an action, its name, or None. "
            "`dead_ends`: runs end in states with h^max = infinity. `recheck`: the first states and later "
            "some are asked again, and FlakyPolicy is raised where the answer differs.")
        .def_prop_ro("task", [](const GraphObject& g) { return g.task; })
        .def_prop_ro(
            "policy", [](const GraphObject& g) { return g.policy; },
            nb::sig("def policy(self) -> collections.abc.Callable[[StateBatch], "
                    "collections.abc.Sequence[Action | str | None]]"))
        .def("run", &run_all, nb::arg("starts"), nb::kw_only(), nb::arg("max_steps") = 1000,
             nb::arg("budget") = nb::none(),
             nb::sig("def run(self, starts: StateBatch, *, max_steps: int = 1000, budget: Budget | None = "
                     "None) -> list[Run]"),
             "One run for each start; none where the budget was used up before all ended: `limit` says by "
             "what.")
        .def("lookahead", &look_ahead, nb::arg("state"), nb::kw_only(), nb::arg("depth") = 2,
             nb::arg("below") = nb::none(), nb::arg("max_steps") = 1000, nb::arg("budget") = nb::none(),
             nb::sig("def lookahead(self, state: State, *, depth: int = 2, below: int | None = None, "
                     "max_steps: int = 1000, budget: Budget | None = None) -> tuple[list[Action] | None, str "
                     "| None, int]"),
             "The cheapest plan that makes at most `depth` free choices and then follows the policy, None "
             "where none costs less than `below`; the limit that was hit; and how many states the policy was "
             "asked about, which are the expansions of the budget.")
        .def(
            "ahead", &work_ahead, nb::rv_policy::take_ownership,
            nb::sig("def ahead(self) -> PolicyGraph | None"),
            "A graph for another thread that works ahead of this one: what it asks, this one need not ask "
            "again, but counts it all the same. It counts what this one has not asked yet. None for policies "
            "of which there cannot be two.")
        .def(
            "end_ahead",
            [](GraphObject& g) {
                exclusively(g, [&] {
                    g.graph->share(nullptr);
                    g.book.reset();
                });
            },
            "Nobody works ahead of this graph any more: gives back the memory for what they asked.")
        .def(
            "forget",
            [](GraphObject& g) {
                if (!g.options.is_ahead)
                    throw InputError(
                        "only a graph made by `ahead` can forget; make a new PolicyGraph instead");
                exclusively(g, [&] {
                    g.graph->forget();
                    ++g.times_forgotten;
                });
            },
            "Begins again without any state; runs from before cannot be read any more. Only for graphs made "
            "by `ahead`.")
        .def_prop_ro(
            "limit", [](const GraphObject& g) { return limit_name(g.graph->limit()); },
            nb::sig("def limit(self) -> str | None"),
            "What ended the last `run` early: `seconds`, `memory` or `stopped`; None where nothing did.")
        .def_prop_ro("num_states", [](const GraphObject& g) { return g.graph->size(); })
        .def_prop_ro("states_asked", [](const GraphObject& g) { return g.graph->states_asked(); })
        .def_prop_ro("policy_calls", [](const GraphObject& g) { return g.graph->policy_calls(); })
        .def_prop_ro("policy_seconds", [](const GraphObject& g) { return g.graph->policy_seconds(); });
}
