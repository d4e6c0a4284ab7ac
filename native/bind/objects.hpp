// The native objects behind the Python classes. Each keeps the Python task alive and knows the native one.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bind/bind.hpp"
#include "fdr/task.hpp"
#include "heuristics/heuristic.hpp"
#include "state/registry.hpp"
#include "state/successor_generator.hpp"
#include "util/budget.hpp"

namespace misstep {

struct TaskObject {
    explicit TaskObject(Task task);
    TaskObject(const TaskObject&) = delete;
    TaskObject& operator=(const TaskObject&) = delete;

    bool same_as(const TaskObject& other) const { return this == &other || fingerprint == other.fingerprint; }

    Task task;
    StateSpace space;
    // Of the task as SAS text: tasks that are written alike are interchangeable, in other processes too.
    std::uint64_t fingerprint;
    std::unordered_map<std::string, Fact> fact_by_atom;
    std::unordered_map<std::string, std::vector<ActionId>> actions_by_name;
};

struct ActionObject {
    nb::object task;
    const TaskObject* core;
    ActionId id;
    const Action& action() const { return core->task.actions[id]; }
};

struct StateObject {
    nb::object task;
    const TaskObject* core;
    std::vector<Word> words;
};

using BatchArray = nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

struct BatchObject {
    nb::object task;
    const TaskObject* core;
    BatchArray values;

    std::size_t size() const { return values.shape(0); }
    // All states packed one after another. The array belongs to Python and may have been written to since the
    // batch was made, so every value is checked here; throws InputError.
    std::vector<Word> packed() const;
};

// Throws InputError where the values are not those of a state of the task.
StateObject make_state(nb::object task, const TaskObject& core, const std::vector<std::int32_t>& values);
BatchObject make_batch(nb::object task, const TaskObject& core, std::size_t num_states,
                       std::vector<std::int32_t> values);
std::vector<const Word*> pointers(const std::vector<Word>& packed, std::size_t num_words);
// Throws InputError where the object belongs to another task.
void require_same_task(const TaskObject& task, const TaskObject& other, const char* what);
std::string facts_text(const TaskObject& core, const Word* state);
std::vector<std::string> fact_list(const TaskObject& core, const Word* state);

// What a call may spend; without a budget there is no limit.
inline Budget copy_of(const Budget* budget) {
    return budget == nullptr ? Budget{} : *budget;
}

// Runs `work` without the GIL, looks for signals on the way, and lets Python raise what they raised.
template <class Work>
void run_interruptible(Budget& budget, Work&& work) {
    bool interrupted = false;
    budget.poll = [&interrupted] {
        nb::gil_scoped_acquire gil;
        interrupted |= PyErr_CheckSignals() != 0;
        return !interrupted;
    };
    {
        nb::gil_scoped_release no_gil;
        work();
    }
    if (interrupted) throw nb::python_error();
}

const char* limit_name(LimitHit limit);  // nullptr for kNone

}  // namespace misstep
