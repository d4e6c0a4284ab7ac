#include "heuristics/relaxation_heuristics.hpp"

namespace misstep {
namespace {

// Calls `estimate(target facts)` for every pair, after one full exploration for each source.
template <class Exploration, class Estimate>
void for_all_pairs(const RelaxedTask& task, Exploration& exploration, std::span<const Word* const> sources,
                   std::span<const Word* const> targets, Cost* values, Estimate&& estimate) {
    std::vector<FactId> goals(targets.size() * static_cast<std::size_t>(task.num_variables));
    for (std::size_t k = 0; k < targets.size(); ++k)
        task.facts_of(targets[k], goals.data() + k * static_cast<std::size_t>(task.num_variables));
    for (const Word* source : sources) {
        exploration.explore(source, {});
        for (std::size_t k = 0; k < targets.size(); ++k) {
            std::span<const FactId> goal(goals.data() + k * static_cast<std::size_t>(task.num_variables),
                                         static_cast<std::size_t>(task.num_variables));
            *values++ = estimate(goal);
        }
    }
}

}  // namespace

void HMax::pairwise(std::span<const Word* const> sources, std::span<const Word* const> targets,
                    Cost* values) {
    for_all_pairs(task_, exploration_, sources, targets, values,
                  [this](std::span<const FactId> goal) { return exploration_.estimate(goal); });
}

void HAdd::pairwise(std::span<const Word* const> sources, std::span<const Word* const> targets,
                    Cost* values) {
    for_all_pairs(task_, exploration_, sources, targets, values,
                  [this](std::span<const FactId> goal) { return exploration_.estimate(goal); });
}

Cost HFF::evaluate(const Word* state) {
    if (exploration_.explore(state, task_.goal) == kInfinity) return kInfinity;
    return plan_.extract(task_.goal, [this](FactId fact) { return exploration_.supporter(fact); });
}

void HFF::pairwise(std::span<const Word* const> sources, std::span<const Word* const> targets, Cost* values) {
    for_all_pairs(task_, exploration_, sources, targets, values, [this](std::span<const FactId> goal) {
        if (exploration_.estimate(goal) == kInfinity) return kInfinity;
        return plan_.extract(goal, [this](FactId fact) { return exploration_.supporter(fact); });
    });
}

}  // namespace misstep
