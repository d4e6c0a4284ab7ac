// States with what a search knows of them, and the expansion step that all searches share.
#pragma once

#include <algorithm>
#include <vector>

#include "search/search.hpp"
#include "state/registry.hpp"
#include "util/rng.hpp"

namespace misstep {

// Kept beside the packed state, in the same record.
struct Node {
    StateId parent;
    ActionId action;
    Cost g;  // at most kMaxCost, where the path may cost more
};

template <class NodeType>
class NodeStore {
  public:
    explicit NodeStore(const StateSpace& space)
        : registry_(space.num_words(), sizeof(NodeType) / sizeof(Word)) {}

    StateRegistry& registry() { return registry_; }
    const Word* state(StateId id) const { return registry_.state(id); }
    NodeType& node(StateId id) { return *reinterpret_cast<NodeType*>(registry_.extra(id)); }
    const NodeType& node(StateId id) const { return *reinterpret_cast<const NodeType*>(registry_.extra(id)); }

    std::vector<ActionId> plan_to(StateId id) const {
        std::vector<ActionId> plan;
        for (; node(id).parent != kNoState; id = node(id).parent) plan.push_back(node(id).action);
        std::ranges::reverse(plan);
        return plan;
    }

  private:
    static_assert(sizeof(NodeType) % sizeof(Word) == 0 && alignof(NodeType) <= alignof(Word));
    StateRegistry registry_;
};

// Generates all successors of a state into one buffer and fetches their places in the hash table ahead of
// time.
class Successors {
  public:
    Successors(const StateSpace& space, const SearchOptions& options)
        : space_(space),
          num_words_(space.num_words()),
          shuffled_(options.seed.has_value()),
          rng_(options.seed.value_or(0)) {}

    void generate(const Word* state, const StateRegistry& registry) {
        actions_.clear();
        space_.generator.applicable(state, actions_);
        if (shuffled_) rng_.shuffle(actions_);
        words_.resize(actions_.size() * num_words_);
        hashes_.resize(actions_.size());
        for (std::size_t i = 0; i < actions_.size(); ++i) {
            Word* successor = words_.data() + i * num_words_;
            space_.generator.apply(state, actions_[i], successor);
            hashes_[i] = registry.hash(successor);
            registry.prefetch(hashes_[i]);
        }
    }
    std::size_t size() const { return actions_.size(); }
    ActionId action(std::size_t i) const { return actions_[i]; }
    const Word* state(std::size_t i) const { return words_.data() + i * num_words_; }
    std::uint64_t hash(std::size_t i) const { return hashes_[i]; }

  private:
    const StateSpace& space_;
    std::uint32_t num_words_;
    bool shuffled_;
    Rng rng_;
    std::vector<ActionId> actions_;
    std::vector<Word> words_;
    std::vector<std::uint64_t> hashes_;
};

}  // namespace misstep
