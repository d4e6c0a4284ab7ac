#include "policy_graph/heuristic_policy.hpp"

#include <algorithm>

namespace misstep {

void HeuristicPolicy::choose(std::span<const Word* const> states, ActionId* actions) {
    // The successors of all states together: full batches for the heuristic.
    std::vector<ActionId> applicable;
    std::vector<std::size_t> first{0};
    for (const Word* state : states) {
        space_.generator.applicable(state, applicable);
        std::sort(applicable.begin() + static_cast<std::ptrdiff_t>(first.back()), applicable.end());
        first.push_back(applicable.size());
    }
    const std::size_t width = space_.num_words();
    std::vector<Word> words(applicable.size() * width);
    std::vector<const Word*> successors(applicable.size());
    for (std::size_t s = 0; s < states.size(); ++s) {
        for (std::size_t i = first[s]; i < first[s + 1]; ++i) {
            space_.generator.apply(states[s], applicable[i], words.data() + i * width);
            successors[i] = words.data() + i * width;
        }
    }
    std::vector<Cost> values(applicable.size());
    heuristic_->evaluate(successors, values.data());
    for (std::size_t s = 0; s < states.size(); ++s) {
        Cost best = kInfinity;
        actions[s] = kNoAction;
        for (std::size_t i = first[s]; i < first[s + 1]; ++i) {
            if (values[i] < best) {
                best = values[i];
                actions[s] = applicable[i];
            }
        }
    }
}

}  // namespace misstep
