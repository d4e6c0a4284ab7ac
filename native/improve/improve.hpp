// Plan improvement: cheaper plans near a given one (action elimination and plan neighbourhood graph search
// after Nakhost & Mueller 2010, with reordering and a guided search beside them).
#pragma once

#include <span>
#include <vector>

#include "state/successor_generator.hpp"
#include "util/budget.hpp"

namespace misstep {

struct ImproveOptions {
    Budget budget;
    Total enough = 0;  // a known lower bound: a plan as cheap as this cannot be improved
};

struct ImproveResult {
    std::vector<ActionId> plan;
    Total cost = kEndless;
    std::uint64_t expanded = 0;
    double seconds = 0;
    LimitHit limit = LimitHit::kNone;
    bool exhausted = false;  // every state from which a cheaper plan could go on was expanded: it is optimal
};

// Never worse than the given plan. Throws InputError where the actions are no plan for `start`.
ImproveResult improve_plan(const StateSpace& space, const Word* start, std::span<const ActionId> plan,
                           const ImproveOptions& options);

}  // namespace misstep
