#include "search/search.hpp"
#include "state/registry.hpp"

namespace misstep {

std::vector<std::uint64_t> count_states(const StateSpace& space, const Word* start, std::uint32_t max_depth,
                                        const Budget& budget, LimitHit& limit) {
    BudgetWatch watch(budget);
    StateRegistry registry(space.num_words());
    registry.insert(start);
    std::vector<std::uint64_t> counts{1};
    std::vector<ActionId> actions;
    std::vector<Word> state(space.num_words()), successor(space.num_words());
    StateId next = 0;
    while (counts.size() <= max_depth && next < registry.size()) {
        StateId layer_end = registry.size();
        for (; next < layer_end; ++next) {
            limit = watch.check(next, registry.bytes(), 1);
            if (limit != LimitHit::kNone) return counts;
            state.assign(registry.state(next), registry.state(next) + space.num_words());
            actions.clear();
            space.generator.applicable(state.data(), actions);
            for (ActionId action : actions) {
                space.generator.apply(state.data(), action, successor.data());
                registry.insert(successor.data());
            }
        }
        if (registry.size() == layer_end) break;
        counts.push_back(registry.size() - layer_end);
    }
    return counts;
}

}  // namespace misstep
