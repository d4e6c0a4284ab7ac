// LRTDP: greedy trials towards the worst open outcome, back-ups on the way home, and labels for the states
// whose whole greedy graph has converged.
#include "safety/greedy.hpp"

namespace misstep::safety {

namespace {

class Lrtdp final : public GreedyDecider {
  public:
    using GreedyDecider::GreedyDecider;

  protected:
    void solve(StateId root, Bounds& bounds, std::uint32_t cap) override {
        while (!closed(root, bounds, cap)) {
            std::vector<StateId> path = trial(root, bounds, cap);
            while (!path.empty()) {
                StateId s = path.back();
                path.pop_back();
                if (!closed(s, bounds, cap) && !check_solved(s, bounds, cap)) break;
            }
        }
    }

  private:
    std::vector<StateId> trial(StateId root, Bounds& bounds, std::uint32_t cap) {
        new_walk();
        std::vector<StateId> path;
        // A trial ends where it closes a cycle: costs are 0 there, so it would never end by itself.
        for (StateId s = root; !closed(s, bounds, cap) && visit(s);) {
            path.push_back(s);
            Backup best = backup(s, bounds, cap);
            bounds.raise(s, best.value);
            if (best.move == infinite) break;
            StateId next = s;
            bool found = false;
            for (StateId t : bounds.moves(game_, s)[best.move].outcomes) {
                if (closed(t, bounds, cap)) continue;
                if (!found || bounds.lower(t) > bounds.lower(next)) next = t;
                found = true;
            }
            if (!found) break;
            s = next;
        }
        return path;
    }

    // Labels the greedy graph of s as solved if no value in it changes; backs all of it up otherwise.
    bool check_solved(StateId s, Bounds& bounds, std::uint32_t cap) {
        new_walk();
        std::vector<StateId> open{s}, walked;
        std::vector<std::uint32_t> greedy;
        visit(s);
        bool converged = true;
        while (!open.empty()) {
            StateId u = open.back();
            open.pop_back();
            Backup best = backup(u, bounds, cap);
            if (bounds.settled(u)) continue;  // no moves at all
            walked.push_back(u);
            greedy.push_back(best.move);
            if (best.value != bounds.lower(u)) {
                converged = false;
                continue;
            }
            for (StateId t : bounds.moves(game_, u)[best.move].outcomes)
                if (!closed(t, bounds, cap) && visit(t)) open.push_back(t);
        }
        if (converged) {
            for (std::size_t i = 0; i < walked.size(); ++i)
                bounds.settle(walked[i], bounds.lower(walked[i]), greedy[i]);
        } else {
            for (std::size_t i = walked.size(); i-- > 0;) update(walked[i], bounds, cap);
        }
        return converged;
    }
};

}  // namespace

std::unique_ptr<Decider> make_lrtdp(Game& game) {
    return std::make_unique<Lrtdp>(game);
}

}  // namespace misstep::safety
