// How a state lies in memory: each variable takes just the bits it needs inside one 32-bit word.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fdr/task.hpp"

namespace misstep {

using Word = std::uint32_t;

struct PackedVariable {
    std::uint32_t word;
    std::uint32_t shift;
    Word mask;  // before shifting
};

// A partial assignment to the variables inside one word.
struct WordCondition {
    std::uint32_t word;
    Word mask;
    Word bits;
};

class StatePacker {
  public:
    explicit StatePacker(const Task& task);

    std::uint32_t num_words() const { return num_words_; }
    int num_variables() const { return static_cast<int>(variables_.size()); }
    const PackedVariable& variable(int var) const { return variables_[var]; }

    std::int32_t get(const Word* state, int var) const {
        const PackedVariable& v = variables_[var];
        return static_cast<std::int32_t>((state[v.word] >> v.shift) & v.mask);
    }
    void pack(const std::int32_t* values, Word* state) const;
    void unpack(const Word* state, std::int32_t* values) const {
        for (std::size_t var = 0; var < variables_.size(); ++var)
            values[var] = get(state, static_cast<int>(var));
    }
    // One entry a word that the facts touch.
    std::vector<WordCondition> condition(std::span<const Fact> facts) const;

  private:
    std::vector<PackedVariable> variables_;
    std::uint32_t num_words_ = 0;
};

inline bool holds(std::span<const WordCondition> condition, const Word* state) {
    for (const WordCondition& c : condition)
        if ((state[c.word] & c.mask) != c.bits) return false;
    return true;
}

}  // namespace misstep
