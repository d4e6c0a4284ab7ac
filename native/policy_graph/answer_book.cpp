#include "policy_graph/answer_book.hpp"

namespace misstep {

AnswerBook::Notes AnswerBook::read(std::span<const Word* const> states) const {
    Notes notes(states.size());
    std::scoped_lock lock(busy_);
    for (std::size_t i = 0; i < states.size(); ++i) {
        const StateId id = registry_.find(states[i]);
        if (id == kNoState) continue;
        notes[i].emplace();
        std::memcpy(&*notes[i], registry_.extra(id), sizeof(Note));
    }
    return notes;
}

void AnswerBook::write(std::span<const Word* const> states, std::span<const ActionId> actions,
                       bool is_counted) {
    std::scoped_lock lock(busy_);
    for (std::size_t i = 0; i < states.size(); ++i) {
        auto [here, is_new] = place(states[i]);
        Note note{actions[i], is_counted, false};
        if (!is_new) {
            std::memcpy(&note, here, sizeof(Note));
            if (is_counted) note.is_counted = true;
        }
        std::memcpy(here, &note, sizeof(Note));
    }
}

void AnswerBook::write_dead_end(const Word* state) {
    std::scoped_lock lock(busy_);
    const Note note{kNoAction, false, true};
    auto [here, is_new] = place(state);
    if (is_new) std::memcpy(here, &note, sizeof(Note));
}

std::pair<Word*, bool> AnswerBook::place(const Word* state) {
    auto [id, is_new] = registry_.insert(state);
    return {registry_.extra(id), is_new};
}

}  // namespace misstep
