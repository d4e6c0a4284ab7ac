#include "abstraction/abstraction.hpp"

#include <algorithm>

namespace misstep {

Abstraction::Abstraction(const StateSpace& space, const AbstractionOptions& options) : space_(space) {
    BudgetWatch watch(options.budget);
    FactorOptions factors;
    factors.max_transitions = options.max_transitions;
    factors.max_states = options.max_states;
    factors.order = options.order;
    factors.keeps_steps = true;
    factors.max_work = options.budget.effort;
    task_ = make_factors(space, factors, watch);
    seconds_ = watch.seconds();
}

Cost Abstraction::value(const Word* state) const {
    Cost best = 0;
    bool is_reachable = true;
    for (const Factor& factor : task_.factors) {
        std::int32_t at = factor.projection(space_.packer, state);
        if (at == kPruned) is_reachable = false;
        if (at == kDead) best = kInfinity;
        if (at >= 0) best = std::max(best, factor.goal_distance[at]);
    }
    return is_reachable ? best : 0;
}

}  // namespace misstep
