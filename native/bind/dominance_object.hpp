// The native object behind misstep.Dominance.
#pragma once

#include "bind/objects.hpp"
#include "dominance/dominance.hpp"

namespace misstep {

struct DominanceObject {
    nb::object task;
    const TaskObject* core;
    std::unique_ptr<Dominance> dominance;
    std::uint64_t max_transitions;
};

}  // namespace misstep
