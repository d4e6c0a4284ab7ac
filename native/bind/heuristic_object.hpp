// A heuristic as Python holds it, for the bindings that take one.
#pragma once

#include "bind/objects.hpp"

namespace misstep {

struct HeuristicObject {
    nb::object task;
    const TaskObject* core;
    std::string name;
    std::unique_ptr<Heuristic> heuristic;
    // Heuristics keep scratch memory and the GIL is released while they work.
    std::unique_ptr<std::mutex> busy = std::make_unique<std::mutex>();
};

}  // namespace misstep
