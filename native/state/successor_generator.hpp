// Finds the applicable actions of a packed state with a flattened decision tree over variables.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "state/packer.hpp"

namespace misstep {

using ActionId = std::uint32_t;
inline constexpr ActionId kNoAction = ~ActionId{0};

// What the actions cost together.
inline Total plan_cost(const Task& task, std::span<const ActionId> plan) {
    Total cost = 0;
    for (ActionId action : plan) cost += task.actions[action].cost;
    return cost;
}

class SuccessorGenerator {
  public:
    SuccessorGenerator(const Task& task, const StatePacker& packer);

    // Appends the applicable actions; their order depends on the task only.
    void applicable(const Word* state, std::vector<ActionId>& out) const;

    bool is_applicable(const Word* state, ActionId action) const {
        return holds(slice(preconditions_, precondition_start_, action), state);
    }
    // Writes the successor; `from` and `to` must not overlap. Does not check applicability.
    void apply(const Word* from, ActionId action, Word* to) const {
        for (std::uint32_t i = 0; i < num_words_; ++i) to[i] = from[i];
        for (const WordCondition& e : slice(effects_, effect_start_, action))
            to[e.word] = (to[e.word] & ~e.mask) | e.bits;
    }

  private:
    // Tree code, one node after another in `code_`: see build().
    void build(const Task& task, const StatePacker& packer, std::span<const ActionId> first, int depth);
    std::vector<ActionId> build_switch(const Task& task, const StatePacker& packer,
                                       std::span<const ActionId> actions, int depth);
    void visit(const Word* state, const std::uint32_t* node, std::vector<ActionId>& out) const;

    static std::span<const WordCondition> slice(const std::vector<WordCondition>& all,
                                                const std::vector<std::uint32_t>& start, ActionId action) {
        return {all.data() + start[action], all.data() + start[action + 1]};
    }

    std::uint32_t num_words_;
    std::vector<std::uint32_t> code_;
    std::vector<WordCondition> preconditions_, effects_;
    std::vector<std::uint32_t> precondition_start_, effect_start_;
};

// All that is needed to walk the state space of a task. Refers to the task, which must outlive it.
struct StateSpace {
    explicit StateSpace(const Task& task_);
    const Task& task;
    StatePacker packer;
    SuccessorGenerator generator;
    std::vector<WordCondition> goal;
    std::vector<Word> initial;

    std::uint32_t num_words() const { return packer.num_words(); }
    bool is_goal(const Word* state) const { return holds(goal, state); }

    // An action is what PDDL names. A translator splits one whose precondition is a disjunction into several
    // of its name, and whoever answers with one of them means the one that applies: the first, where several
    // do (they do the same then); where none does, the first of all. What is no action is returned as it is.
    ActionId meant(const Word* state, ActionId answer) const;
    bool has_splits() const { return !next_split_.empty(); }

  private:
    // Empty where all names differ; else of each action the first of its name, and the next one, if any.
    std::vector<ActionId> first_split_, next_split_;
};

}  // namespace misstep
