#include "jani/explore.hpp"

#include <chrono>

namespace misstep::jani {

Counts explore(Successors& successors, std::uint64_t max_states, std::optional<double> max_seconds) {
    const auto start = std::chrono::steady_clock::now();
    Counts counts;
    initial_states(successors, 1'000'000);
    for (std::uint32_t s = 0; s < successors.registry().size(); ++s) {
        if (successors.registry().size() > max_states) break;
        if (max_seconds && s % 4096 == 0 &&
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > *max_seconds)
            break;
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
