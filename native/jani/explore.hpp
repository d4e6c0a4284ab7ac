// Breadth-first exploration of a whole model: counts, for checks against other tools and for benchmarks.
#pragma once

#include <cstdint>

#include "jani/successors.hpp"
#include "util/budget.hpp"

namespace misstep::jani {

struct Counts {
    std::uint64_t states = 0;       // found
    std::uint64_t expanded = 0;     // fewer than found where a limit was hit
    std::uint64_t choices = 0;      // edges, or combinations of synchronised edges
    std::uint64_t transitions = 0;  // distinct outcomes, summed over choices
    std::uint64_t deadlocks = 0;
};

Counts explore(Successors& successors, std::uint64_t max_states, const Budget& budget);

}  // namespace misstep::jani
