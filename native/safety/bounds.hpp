// What is proved of each state so far: bounds on J*(s), the number of deviations from the policy that safety
// needs, with the evidence for both sides.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "safety/game.hpp"

namespace misstep::safety {

// One line of a strategy: in this state take this move; at most `value` deviations lie ahead.
struct StrategyStep {
    StateId state;
    std::uint32_t value;
    std::uint32_t move;  // index into the state's moves, or `infinite` where the state has none or is a goal
};

// One line of a refutation: the state is not safe with `budget` deviations left, because each affordable move
// has an outcome that is unsafe or refuted by an earlier line.
struct RefutationStep {
    StateId state;
    std::uint32_t budget;
    std::vector<std::pair<std::uint32_t, StateId>> answers;  // move index, losing outcome
};

// Whether the line of a state, with its value or budget, is known to the one who asks: it is left out, and so
// is what only it rests on. Empty where nothing is known.
using Known = std::function<bool(StateId, std::uint32_t)>;

// Costs are 1 per deviation, or 0 for all moves where the radius is infinite; J* is `infinite` in a state
// that is not safe at any price. Lower bounds only grow and every growth is logged, so that a refutation can
// be read off in the order in which it was found: that makes it well-founded.
class Bounds {
  public:
    explicit Bounds(bool counts_deviations) : counts_(counts_deviations) {}

    // The moves that indices of this table are about: without counting, the policy does not matter.
    Moves moves(Game& game, StateId s) const { return counts_ ? game.moves(s) : game.plain_moves(s); }
    std::uint32_t cost(const Move& move) const { return counts_ && move.deviates ? 1 : 0; }
    // The value from which on a state is lost for this radius.
    std::uint32_t cap(std::uint32_t radius) const { return counts_ ? radius + 1 : 1; }

    void grow(std::size_t states);
    std::size_t bytes() const { return lower_.capacity() * 16 + log_.capacity() * sizeof(Raise); }
    std::uint32_t lower(StateId s) const { return lower_[s]; }
    std::uint32_t upper(StateId s) const { return upper_[s]; }
    bool settled(StateId s) const { return upper_[s] != infinite; }
    // J*(s) >= value, by a Bellman step on the bounds as they are now.
    void raise(StateId s, std::uint32_t value);
    // J*(s) <= value: the move's outcomes all have upper bounds of at most value minus the move's cost, or
    // get them in the same breath.
    void settle(StateId s, std::uint32_t value, std::uint32_t move);
    // States without a move and goals; unsafe ones.
    void settle_leaf(StateId s) { settle(s, 0, infinite); }
    void lose_leaf(StateId s) { lower_[s] = infinite; }

    std::vector<StrategyStep> strategy(Game& game, StateId start, const Known& known) const;
    std::vector<RefutationStep> refutation(Game& game, StateId start, std::uint32_t budget,
                                           const Known& known) const;

  private:
    struct Raise {
        StateId state;
        std::uint32_t value;
        std::uint32_t previous;  // index of the state's raise before this one, or `infinite`
    };
    std::uint32_t first_raise(StateId s, std::uint32_t value) const;

    bool counts_;
    std::vector<std::uint32_t> lower_, upper_, move_, last_raise_;
    std::vector<Raise> log_;
};

}  // namespace misstep::safety
