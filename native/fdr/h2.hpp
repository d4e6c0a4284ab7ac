// Forward h^2 reachability (Haslum & Geffner 2000 without costs): which facts, pairs of facts and actions can
// be reached.
#pragma once

#include <cstdint>
#include <vector>

#include "fdr/task.hpp"
#include "util/budget.hpp"

namespace misstep {

struct H2Reachability {
    std::vector<std::vector<bool>> facts;  // by variable and value
    std::vector<bool> actions;
    LimitHit limit = LimitHit::kNone;     // where one was hit everything counts as reachable
    std::vector<std::size_t> first_fact;  // by variable: facts are numbered in a row
    std::size_t width = 0;                // words in a row of `pairs`
    std::vector<std::uint64_t> pairs;     // a row of bits for each fact; empty where a limit was hit

    // False where the two facts are proven never to hold in one reachable state.
    bool together(Fact one, Fact other) const {
        if (pairs.empty()) return true;
        std::size_t p = first_fact[static_cast<std::size_t>(one.var)] + static_cast<std::size_t>(one.value);
        std::size_t q =
            first_fact[static_cast<std::size_t>(other.var)] + static_cast<std::size_t>(other.value);
        return (pairs[p * width + q / 64] >> (q % 64)) & 1;
    }
};

// An over-approximation of what is reachable from the initial state: pairs of facts that are jointly
// unreachable (mutexes) rule out actions, which rule out further pairs. O(actions * facts / 64) a sweep.
H2Reachability h2_reachability(const Task& task, const Budget& budget);
// The same from any other state, given by the value of each variable.
H2Reachability h2_reachability(const Task& task, const std::vector<std::int32_t>& from, const Budget& budget);

// The task without facts and actions that are not reachable. Every variable keeps its place; values are
// renumbered. A goal fact that is unreachable stays, without an action that could reach it.
Task pruned(const Task& task, const H2Reachability& reachable);

}  // namespace misstep
