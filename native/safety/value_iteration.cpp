// Value iteration: build all that is reachable, then back up from 0 until nothing changes.
#include "safety/decider.hpp"

namespace misstep::safety {

namespace {

class ValueIteration final : public Decider {
  public:
    using Decider::Decider;

  protected:
    void solve(StateId root, Bounds& bounds, std::uint32_t cap) override {
        std::vector<StateId> states{root};
        std::vector<bool> seen(game_.size());
        seen[root] = true;
        for (std::size_t next = 0; next < states.size(); ++next) {
            Moves moves = expand(states[next], bounds);
            seen.resize(game_.size());
            for (std::uint32_t i = 0; i < moves.size(); ++i)
                for (StateId t : moves[i].outcomes) {
                    if (seen[t] || closed(t, bounds, cap)) continue;
                    seen[t] = true;
                    states.push_back(t);
                }
        }
        // Deep states first, in place: any order is right as long as values start from 0.
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t i = states.size(); i-- > 0;) {
                StateId s = states[i];
                if (bounds.lower(s) >= cap) continue;
                std::uint32_t value = backup(s, bounds, cap).value;
                if (value == bounds.lower(s)) continue;
                bounds.raise(s, value);
                changed = true;
            }
        }
        for (StateId s : states)
            if (bounds.lower(s) < cap) bounds.settle(s, bounds.lower(s), backup(s, bounds, cap).move);
    }
};

}  // namespace

std::unique_ptr<Decider> make_value_iteration(Game& game) {
    return std::make_unique<ValueIteration>(game);
}

}  // namespace misstep::safety
