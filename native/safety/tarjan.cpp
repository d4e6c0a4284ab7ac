// TarjanSafe (Algorithm 2 of the paper) in the form that is right with shared caches and polynomial: the
// stack is cleaned when a move fails, low links are folded only after committing, whole components are
// marked, and outcomes are checked against the caches before any is entered. Iterative, because runs can be
// long.
#include <algorithm>

#include "safety/decider.hpp"
#include "safety/pair_map.hpp"

namespace misstep::safety {

namespace {

class Tarjan final : public Decider {
  public:
    using Decider::Decider;

  protected:
    void solve(StateId root, Bounds& bounds, std::uint32_t cap) override {
        stack_.clear();
        frames_.clear();
        position_.clear();
        if (!enter(root, cap - 1, bounds)) return;
        while (!frames_.empty()) step(bounds);
    }

  private:
    struct Node {  // on the Tarjan stack: under way, or safe if the nodes below it are
        StateId state;
        std::uint32_t budget;
        std::uint32_t low;
        std::uint32_t move;
    };
    struct Frame {
        std::uint32_t index;
        std::uint32_t move = 0;
        std::uint32_t outcome = 0;
        bool started = false;
    };
    static constexpr std::uint32_t off_stack = infinite;

    // Pushes a frame, or returns false where the state has no moves (and is settled now).
    bool enter(StateId s, std::uint32_t budget, Bounds& bounds) {
        if (expand(s, bounds).size() == 0) return false;
        auto index = static_cast<std::uint32_t>(stack_.size());
        stack_.push_back({s, budget, index, 0});
        position_.at(s, budget, off_stack) = index;
        frames_.push_back({index});
        return true;
    }

    void cut(std::size_t size) {
        while (stack_.size() > size) {
            position_.at(stack_.back().state, stack_.back().budget, off_stack) = off_stack;
            stack_.pop_back();
        }
    }

    bool lost(StateId t, std::uint32_t budget, Bounds& bounds) {
        meet(t, bounds);
        return bounds.lower(t) > budget;
    }

    void step(Bounds& bounds) {
        meter_.tick();
        Frame& frame = frames_.back();
        const StateId s = stack_[frame.index].state;
        const std::uint32_t budget = stack_[frame.index].budget;
        Moves moves = bounds.moves(game_, s);
        if (!frame.started) {
            cut(frame.index + 1);
            if (!next_move(frame, moves, budget, bounds)) {
                bounds.raise(s, budget + 1);
                cut(frame.index);
                frames_.pop_back();
                if (!frames_.empty()) fail(frames_.back());
                return;
            }
        }
        Move move = moves[frame.move];
        const std::uint32_t left = budget - bounds.cost(move);
        for (; frame.outcome < move.outcomes.size(); ++frame.outcome) {
            StateId t = move.outcomes[frame.outcome];
            if (position_.get(t, left, off_stack) != off_stack || bounds.upper(t) <= left) continue;
            if (lost(t, left, bounds)) return fail(frame);
            if (enter(t, left, bounds)) return;
        }
        commit(frame, move, left, bounds);
    }

    static void fail(Frame& frame) {
        ++frame.move;
        frame.started = false;
    }

    bool next_move(Frame& frame, const Moves& moves, std::uint32_t budget, Bounds& bounds) {
        for (; frame.move < moves.size(); ++frame.move) {
            Move move = moves[frame.move];
            std::uint32_t cost = bounds.cost(move);
            if (cost > budget) continue;
            if (std::any_of(move.outcomes.begin(), move.outcomes.end(),
                            [&](StateId t) { return lost(t, budget - cost, bounds); }))
                continue;
            frame.started = true;
            frame.outcome = 0;
            return true;
        }
        return false;
    }

    void commit(const Frame& frame, const Move& move, std::uint32_t left, Bounds& bounds) {
        Node& node = stack_[frame.index];
        node.low = frame.index;
        node.move = frame.move;
        for (StateId t : move.outcomes) {
            std::uint32_t at = position_.get(t, left, off_stack);
            if (at != off_stack) node.low = std::min(node.low, stack_[at].low);
        }
        if (node.low == frame.index) {
            for (std::size_t i = frame.index; i < stack_.size(); ++i)
                bounds.settle(stack_[i].state, stack_[i].budget, stack_[i].move);
            cut(frame.index);
        }
        frames_.pop_back();
        if (!frames_.empty()) ++frames_.back().outcome;
    }

    std::vector<Node> stack_;
    std::vector<Frame> frames_;
    PairMap position_;
};

}  // namespace

std::unique_ptr<Decider> make_tarjan(Game& game) {
    return std::make_unique<Tarjan>(game);
}

}  // namespace misstep::safety
