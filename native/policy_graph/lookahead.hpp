// The lookahead oracle: all paths up to a depth, then the policy (Steinmetz et al. 2022, section 4.4).
#pragma once

#include "policy_graph/policy_graph.hpp"

namespace misstep {

struct LookaheadOptions {
    std::uint32_t depth = 2;
    Total bound = kEndless;          // only plans cheaper than this are of interest
    std::uint32_t max_steps = 1000;  // of a policy run
    std::uint64_t max_leaves = 100'000;
    Budget budget;  // its expansions are states that the policy is asked about
};

struct LookaheadResult {
    std::vector<ActionId> plan;  // the cheapest one found
    Total cost = kEndless;       // of the plan; infinite where there is none below the bound
    LimitHit limit = LimitHit::kNone;
    std::uint64_t leaves = 0;  // distinct states from which the policy was run
    std::uint64_t asked = 0;   // states that the policy was asked about, beyond what it had said before
};

// The cheapest plan that makes at most `depth` free choices and then follows the policy; goals on the way
// count.
LookaheadResult lookahead(PolicyGraph& graph, StateId start, const LookaheadOptions& options);

}  // namespace misstep
