// Policy iteration on the product of states and budgets (iPI, Schmalz and Jain, ICAPS 2026): walk the
// candidate policy depth first, move a state's cursor forward where an outcome is lost, repeat until a walk
// finds nothing. Polynomial: a cursor never moves back.
#include "safety/decider.hpp"
#include "safety/pair_map.hpp"

namespace misstep::safety {

namespace {

class PolicyIteration final : public Decider {
  public:
    using Decider::Decider;

  protected:
    void solve(StateId root, Bounds& bounds, std::uint32_t cap) override {
        const std::uint32_t budget = cap - 1;
        while (bounds.lower(root) <= budget && bounds.upper(root) > budget) {
            nodes_.clear();
            index_.clear();
            changed_ = false;
            walk(root, budget, bounds);
            if (changed_) continue;
            for (const Node& node : nodes_) bounds.settle(node.state, node.budget, node.move);
        }
    }

  private:
    struct Node {
        StateId state;
        std::uint32_t budget;
        std::uint32_t move;
    };
    struct Frame {
        std::uint32_t node;
        std::uint32_t next = 0;
    };

    bool lost(StateId t, std::uint32_t budget, Bounds& bounds) {
        meet(t, bounds);
        return bounds.lower(t) > budget;
    }

    // The first move from `move` on that has no lost outcome. Lost outcomes stay lost: the cursor is implied
    // by the bounds and needs no storage between walks.
    std::uint32_t cursor(const Node& node, std::uint32_t move, Bounds& bounds) {
        Moves moves = bounds.moves(game_, node.state);
        for (; move < moves.size(); ++move) {
            Move candidate = moves[move];
            std::uint32_t cost = bounds.cost(candidate);
            if (cost > node.budget) continue;
            bool good = true;
            for (StateId t : candidate.outcomes)
                if (lost(t, node.budget - cost, bounds)) {
                    good = false;
                    break;
                }
            if (good) return move;
        }
        return infinite;
    }

    void walk(StateId root, std::uint32_t budget, Bounds& bounds) {
        std::vector<Frame> frames;
        auto enter = [&](StateId s, std::uint32_t b) {
            meet(s, bounds);
            if (bounds.upper(s) <= b || bounds.lower(s) > b) return;
            auto fresh = static_cast<std::uint32_t>(nodes_.size());
            if (index_.at(s, b, fresh) != fresh) return;  // seen on this walk: tentatively safe
            if (expand(s, bounds).size() == 0) return;
            nodes_.push_back({s, b, 0});
            nodes_.back().move = cursor(nodes_.back(), 0, bounds);
            frames.push_back({fresh});
        };
        enter(root, budget);
        while (!frames.empty()) {
            meter_.tick();
            Frame& frame = frames.back();
            Node& node = nodes_[frame.node];
            if (node.move == infinite) {
                bounds.raise(node.state, node.budget + 1);
                changed_ = true;
                frames.pop_back();
                continue;
            }
            Move move = bounds.moves(game_, node.state)[node.move];
            std::uint32_t left = node.budget - bounds.cost(move);
            if (frame.next > 0 && lost(move.outcomes[frame.next - 1], left, bounds)) {
                node.move = cursor(node, node.move + 1, bounds);
                frame.next = 0;
            } else if (frame.next == move.outcomes.size()) {
                // An outcome that was tentative when we passed it may be lost by now.
                std::uint32_t now = cursor(node, node.move, bounds);
                if (now == node.move) {
                    frames.pop_back();
                } else {
                    node.move = now;
                    frame.next = 0;
                }
            } else {
                enter(move.outcomes[frame.next++], left);
            }
        }
    }

    std::vector<Node> nodes_;
    PairMap index_;
    bool changed_ = false;
};

}  // namespace

std::unique_ptr<Decider> make_policy_iteration(Game& game) {
    return std::make_unique<PolicyIteration>(game);
}

}  // namespace misstep::safety
