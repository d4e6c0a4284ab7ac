// The native objects behind NativePolicy, its subclasses and the policy graph.
#pragma once

#include <memory>
#include <mutex>

#include "bind/objects.hpp"
#include "policy_graph/policy_graph.hpp"
#include "util/error.hpp"

namespace misstep {

struct PolicyObject {
    PolicyObject(nb::object task_, const TaskObject& core_, std::unique_ptr<Policy> policy_)
        : task(std::move(task_)), core(&core_), policy(std::move(policy_)) {}

    nb::object task;
    const TaskObject* core;
    std::unique_ptr<Policy> policy;
    std::vector<std::string> warnings;  // what a user should know about how it fits the task
    // Policies keep scratch memory and the GIL is released while they work.
    std::unique_ptr<std::mutex> busy = std::make_unique<std::mutex>();
};

struct GraphObject {
    GraphObject(nb::object task_, const TaskObject& core_, nb::object policy_,
                const PolicyGraphOptions& options);
    // One that works ahead of another, with a policy of its own.
    GraphObject(const GraphObject& main, std::unique_ptr<Policy> policy_, std::shared_ptr<AnswerBook> book_);

    nb::object task;
    const TaskObject* core;
    nb::object policy;  // kept alive; native or any callable
    PolicyGraphOptions options;
    std::unique_ptr<Policy> adapter;
    std::shared_ptr<AnswerBook> book;  // shared with those that work ahead; null where nobody does
    std::uint64_t times_forgotten = 0;
    std::unique_ptr<PolicyGraph> graph;
    // One thread at a time; taken without the GIL, because a policy in Python needs it while the graph is at
    // work.
    std::unique_ptr<std::mutex> busy = std::make_unique<std::mutex>();
};

// Runs `work`, which must not touch Python, while no other thread uses the graph.
template <class Work>
auto exclusively(const GraphObject& graph, Work&& work) {
    nb::gil_scoped_release no_gil;
    std::scoped_lock lock(*graph.busy);
    return work();
}

struct RunObject {
    nb::object graph;
    RunInfo info;
    std::uint64_t times_forgotten;  // of the graph, when the run was made
    GraphObject& owner() const {
        GraphObject& g = nb::cast<GraphObject&>(graph);
        if (g.times_forgotten != times_forgotten)
            throw InputError("the graph has forgotten the states of this run; read it before `forget`");
        return g;
    }
};

const char* outcome_name(Outcome outcome);
// Raises misstep.errors.FlakyPolicy with the state's facts and both answers.
[[noreturn]] void raise_flaky(const GraphObject& graph, const FlakyPolicy& error);

}  // namespace misstep
