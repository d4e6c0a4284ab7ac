// The native object behind NativePolicy and its subclasses.
#pragma once

#include <memory>
#include <mutex>

#include "bind/objects.hpp"
#include "policy_graph/policy.hpp"

namespace misstep {

struct PolicyObject {
    PolicyObject(nb::object task_, const TaskObject& core_, std::unique_ptr<Policy> policy_)
        : task(std::move(task_)), core(&core_), policy(std::move(policy_)) {}

    nb::object task;
    const TaskObject* core;
    std::unique_ptr<Policy> policy;
    // Policies keep scratch memory and the GIL is released while they work.
    std::unique_ptr<std::mutex> busy = std::make_unique<std::mutex>();
};

}  // namespace misstep
