// States that satisfy a condition, found by randomised backtracking over the variables' domains.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "jani/successors.hpp"
#include "util/budget.hpp"

namespace misstep::jani {

// Up to `count` distinct states; `compiled` is the same condition as code. They are random, not uniformly
// distributed. Locations range over all combinations. Gives up after `max_nodes` assignments; an empty answer
// then means "none found", not "none exists".
std::vector<std::uint32_t> sample_states(Successors& successors, const Expr* condition,
                                         std::uint32_t compiled, std::size_t count, std::uint64_t seed,
                                         std::uint64_t max_nodes, const Budget& budget);

}  // namespace misstep::jani
