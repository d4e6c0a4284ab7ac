#include "jani/explore.hpp"

namespace misstep::jani {

Counts explore(Successors& successors, std::uint64_t max_states, const Budget& budget) {
    BudgetWatch watch(budget);
    Counts counts;
    initial_states(successors, 1'000'000);
    for (std::uint32_t s = 0; s < successors.registry().size(); ++s) {
        if (successors.registry().size() > max_states) break;
        if (watch.check(s, successors.registry().bytes(), 1) != LimitHit::kNone) break;
        successors.expand(s);
        ++counts.expanded;
        counts.choices += successors.choices().size();
        counts.transitions += successors.outcomes().size();
        counts.deadlocks += successors.choices().empty();
    }
    counts.states = successors.registry().size();
    return counts;
}

}  // namespace misstep::jani
