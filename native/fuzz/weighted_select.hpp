// How a walk chooses among weighted successors (Eisenhut et al. 2024, "weightedSelect").
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "util/rng.hpp"

namespace misstep {

// An index, or nothing where all weights are minus infinity. Any +infinity: uniform among those. Otherwise
// negative weights shift all of them up until the least is 0, and the choice is proportional; all 0: uniform.
// Weights must not be NaN. Draws exactly one random number.
std::optional<std::size_t> weighted_select(std::span<const double> weights, Rng& rng);

}  // namespace misstep
