// What a policy said about states, shared by several graphs of the same policy that work at the same time.
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "policy_graph/policy.hpp"
#include "state/registry.hpp"

namespace misstep {

// Any thread may read and write at any time. An answer stays as it was written first.
class AnswerBook {
  public:
    explicit AnswerBook(std::uint32_t num_words) : registry_(num_words, sizeof(Note) / sizeof(Word)) {}

    struct Note {
        ActionId action;
        std::uint16_t is_counted;   // asked by the graph that counts, not only by one that works ahead of it
        std::uint16_t is_dead_end;  // so that nobody asks
    };
    static_assert(sizeof(Note) % sizeof(Word) == 0);
    using Notes = std::vector<std::optional<Note>>;

    // Of each state what is written, if anything is. A state with an answer is neither a goal nor a dead end.
    Notes read(std::span<const Word* const> states) const;
    void write(std::span<const Word* const> states, std::span<const ActionId> actions, bool is_counted);
    void write_dead_end(const Word* state);

  private:
    // The place of the state's note, and whether it is new; with the lock.
    std::pair<Word*, bool> place(const Word* state);

    mutable std::mutex busy_;
    StateRegistry registry_;
};

}  // namespace misstep
