// LAO*, in its depth-first form: walk the best partial graph, expand its tips, back up on the way home; done
// when a walk meets no tip and changes no value.
#include "safety/greedy.hpp"

namespace misstep::safety {

namespace {

class Lao final : public GreedyDecider {
  public:
    using GreedyDecider::GreedyDecider;

  protected:
    void solve(StateId root, Bounds& bounds, std::uint32_t cap) override {
        while (bounds.lower(root) < cap) {
            std::vector<StateId> order = walk(root, bounds, cap);
            if (!tips_.empty()) {
                for (StateId s : tips_) {
                    mark_expanded(s);
                    expand(s, bounds);
                }
            }
            // To a fixed point on the graph as it was walked: a tip's new value must reach all its ancestors
            // before the best partial graph is read off again.
            bool any = false;
            for (bool changed = true; changed;) {
                changed = false;
                for (StateId s : order)
                    if (bounds.lower(s) < cap && update(s, bounds, cap)) changed = any = true;
            }
            if (any || !tips_.empty()) continue;
            for (StateId s : order) bounds.settle(s, bounds.lower(s), backup(s, bounds, cap).move);
            return;
        }
    }

  private:
    bool is_expanded(StateId s) const { return s < expanded_.size() && expanded_[s]; }
    void mark_expanded(StateId s) {
        if (expanded_.size() <= s) expanded_.resize(std::max<std::size_t>(game_.size(), s + 1));
        expanded_[s] = true;
    }

    // The states of the best partial graph, children before parents as far as cycles allow; fills tips_.
    std::vector<StateId> walk(StateId root, Bounds& bounds, std::uint32_t cap) {
        new_walk();
        tips_.clear();
        std::vector<StateId> order;
        struct Frame {
            StateId state;
            std::uint32_t move;
            std::uint32_t next = 0;
        };
        std::vector<Frame> frames;
        auto enter = [&](StateId s) {
            if (closed(s, bounds, cap) || !visit(s)) return;
            if (!is_expanded(s)) {
                tips_.push_back(s);
                order.push_back(s);
                return;
            }
            std::uint32_t move = backup(s, bounds, cap).move;
            if (move == infinite)
                order.push_back(s);  // lost at this cap: the back-up that follows says so
            else
                frames.push_back({s, move});
        };
        enter(root);
        while (!frames.empty()) {
            meter_.tick();
            Frame& frame = frames.back();
            auto outcomes = bounds.moves(game_, frame.state)[frame.move].outcomes;
            if (frame.next == outcomes.size()) {
                order.push_back(frame.state);
                frames.pop_back();
            } else {
                enter(outcomes[frame.next++]);
            }
        }
        return order;
    }

    std::vector<StateId> tips_;
    std::vector<bool> expanded_;
};

}  // namespace

std::unique_ptr<Decider> make_lao(Game& game) {
    return std::make_unique<Lao>(game);
}

}  // namespace misstep::safety
