// The native object behind misstep.Dominance.
#pragma once

#include "bind/objects.hpp"
#include "dominance/dominance.hpp"

namespace misstep {

struct DominanceObject {
    nb::object task;
    const TaskObject* core;
    std::unique_ptr<Dominance> dominance;
};

}  // namespace misstep
