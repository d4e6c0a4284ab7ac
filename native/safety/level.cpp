// LevelSafe: a local fixed point with watched moves, the default decider.
//
// It plays on nodes: a state with the deviations that are left there (always 0 where the radius is infinite,
// since nothing costs any). A node is lost when every move that it can pay for has a lost outcome. An open
// node has a current move of which no outcome is lost, and it watches those outcomes; when one of them is
// lost, the node goes on to its next move, and is lost itself when none is left. Each (node, move) is looked
// at once, so a whole fault analysis costs O((r + 1) * edges seen), and nothing is lost between queries. Only
// nodes are looked at that the question needs: whether a state needs no deviation at all is never asked where
// one is left.
#include <algorithm>
#include <limits>

#include "safety/decider.hpp"

namespace misstep::safety {

namespace {

class Level final : public Decider {
  public:
    Level(Game& game, OutcomeOrder order) : Decider(game), order_(order) {}

  protected:
    void solve(StateId state, Bounds& bounds, std::uint32_t cap) override {
        tables_ = bounds.cap(0) == bounds.cap(1) ? &infinite_tables_ : &finite_tables_;
        bounds_ = &bounds;
        pending_.clear();
        may_cut_ = true;
        if (tables_->size() < cap) tables_->resize(cap);
        grow();
        const Node root{state, cap - 1};
        std::uint64_t walked = 0;
        if (!open(root)) pending_.push_back(root);
        while (true) {
            drain(root);
            if (lost(root)) return;
            // What was dropped on the way may be needed again: "expanded" is not "closed".
            if (close(root, walked)) return;
            if (walked > 4 * meter_.expansions() + 1000) may_cut_ = false;
        }
    }

  private:
    static constexpr std::uint32_t none = infinite;
    struct Node {
        StateId state;
        std::uint32_t left;  // deviations
    };
    struct Watch {
        Node watcher;
        std::uint32_t version;
        std::uint32_t next;
    };
    struct Entry {                      // of a node; together, because they are read together
        std::uint32_t current = none;   // place of the current move, or none: then the node is not open
        std::uint32_t version = 0;      // of the current move; older watches are stale
        std::uint32_t watches = none;   // first watch on this node
        std::uint32_t mark = none;      // size of pending_ when the node was expanded
        std::uint32_t order_of = none;  // where the order of the node's moves starts in `orders`
    };
    struct Table {                          // of the nodes with the same number of deviations left
        std::vector<Entry> entries;         // by state
        std::vector<std::uint32_t> orders;  // of each node the number of its moves, then the moves
        std::vector<Watch> pool;
        std::uint32_t free = none;

        void resize(std::size_t states) {
            if (states > entries.size()) entries.resize(std::max(states, 2 * entries.size()));
        }
        void add(StateId t, Watch watch) {
            watch.next = entries[t].watches;
            std::uint32_t at = free;
            if (at == none) {
                at = static_cast<std::uint32_t>(pool.size());
                pool.push_back(watch);
            } else {
                free = pool[at].next;
                pool[at] = watch;
            }
            entries[t].watches = at;
        }
        void release(std::uint32_t at) {
            pool[at].next = free;
            free = at;
        }
    };

    struct Ranked {
        std::uint32_t count;  // of moves that have the outcome; or of new nodes that a move leads to
        std::uint32_t index;  // of a state, or of a move
        double distance;      // from unsafety, or unasked: most ranks differ in their counts
    };
    static constexpr double unasked = -1;

    // Sorts a few ranks by count, then the farthest from unsafety first; ties stay as they are. `ask` says
    // how far an index is.
    template <typename Ask>
    static void sort_ranks(std::vector<Ranked>& ranks, Ask ask) {
        auto distance = [&](Ranked& rank) {
            if (rank.distance == unasked) rank.distance = ask(rank.index);
            return rank.distance;
        };
        if (ranks.size() > 32) {  // as below, but not quadratic
            std::for_each(ranks.begin(), ranks.end(), distance);
            std::stable_sort(ranks.begin(), ranks.end(), [](const Ranked& a, const Ranked& b) {
                return a.count != b.count ? a.count < b.count : a.distance > b.distance;
            });
            return;
        }
        for (std::size_t i = 1; i < ranks.size(); ++i) {
            Ranked rank = ranks[i];
            std::size_t at = i;
            for (; at > 0; --at) {
                Ranked& other = ranks[at - 1];
                if (other.count < rank.count) break;
                if (other.count == rank.count && distance(other) >= distance(rank)) break;
                ranks[at] = other;
            }
            ranks[at] = rank;
        }
    }

    Table& table(const Node& node) { return (*tables_)[node.left]; }
    Entry& entry(const Node& node) { return table(node).entries[node.state]; }
    void grow() {
        for (Table& each : *tables_) each.resize(game_.size());
    }
    bool open(const Node& node) { return entry(node).current != none; }
    bool lost(const Node& node) const { return bounds_->lower(node.state) > node.left; }
    bool safe(const Node& node) const { return bounds_->upper(node.state) <= node.left; }
    bool closed(const Node& node) {
        meet(node.state, *bounds_);
        return lost(node) || safe(node);
    }
    bool live(const Watch& watch) {
        return !safe(watch.watcher) && !lost(watch.watcher) && entry(watch.watcher).version == watch.version;
    }

    // Whether an open node still relies on this one; unlinks the stale watches it passes.
    bool watched(const Node& node) {
        Table& own = table(node);
        std::uint32_t& first = own.entries[node.state].watches;
        while (first != none && !live(own.pool[first])) {
            std::uint32_t stale = first;
            first = own.pool[stale].next;
            own.release(stale);
        }
        return first != none;
    }

    void drain(const Node& root) {
        while (!pending_.empty() && !lost(root)) {
            const Node node = pending_.back();
            bool is_root = node.state == root.state && node.left == root.left;
            if (open(node) || closed(node) || (!is_root && !watched(node))) {
                pending_.pop_back();
                continue;
            }
            Moves moves = expand(node.state, *bounds_);  // may throw: the node stays pending until it is done
            pending_.pop_back();
            grow();
            if (moves.size() == 0) continue;
            for (std::uint32_t i = 0; i < moves.size(); ++i)
                for (StateId t : moves[i].outcomes) meet(t, *bounds_);
            sort_moves(node, moves);
            entry(node).mark = static_cast<std::uint32_t>(pending_.size());
            if (advance(node, 0)) raise(node);
        }
    }

    // The order in which the moves of a node are tried: those that lead to the fewest new nodes first, since
    // one good move is enough; of these the policy's own, since after it as many deviations are left as
    // before, then those that stay far from unsafety, then in the order of the game. What cannot be paid for
    // is left out.
    void sort_moves(const Node& node, const Moves& moves) {
        Table& own = table(node);
        if (own.entries[node.state].order_of != none) return;
        own.entries[node.state].order_of = static_cast<std::uint32_t>(own.orders.size());
        sorted_.clear();
        for (std::uint32_t i = 0; i < moves.size(); ++i) {
            const Move move = moves[i];
            const std::uint32_t cost = bounds_->cost(move);
            if (cost > node.left) break;
            std::uint32_t fresh = 0;
            for (StateId t : move.outcomes) {
                const Node after{t, node.left - cost};
                fresh += t != node.state && !safe(after) && !open(after);
            }
            sorted_.push_back({fresh, i, unasked});
        }
        if (sorted_.size() > 1) {
            if (bounds_->cost(moves[0]) < bounds_->cost(moves[moves.size() - 1]))
                sorted_[0].distance = std::numeric_limits<double>::infinity();
            sort_ranks(sorted_, [&](std::uint32_t i) {
                double least = std::numeric_limits<double>::infinity();
                for (StateId t : moves[i].outcomes) least = std::min(least, game_.distance(t));
                return least;
            });
        }
        own.orders.push_back(static_cast<std::uint32_t>(sorted_.size()));
        for (const Ranked& ranked : sorted_) own.orders.push_back(ranked.index);
    }

    // The index, in the game, of the move that comes at this place.
    std::uint32_t move_at(const Node& node, std::uint32_t place) {
        Table& own = table(node);
        return own.orders[own.entries[node.state].order_of + 1 + place];
    }

    // Finds the current move of a node from this place on; true if there is none, and it is lost.
    bool advance(const Node& node, std::uint32_t i) {
        Moves moves = bounds_->moves(game_, node.state);
        Table& own = table(node);
        ++own.entries[node.state].version;
        const std::uint32_t count = own.orders[own.entries[node.state].order_of];
        for (; i < count; ++i) {
            Move move = moves[move_at(node, i)];
            std::uint32_t cost = bounds_->cost(move);
            if (loses(move, node.left - cost)) continue;
            own.entries[node.state].current = i;
            watch(node, move, node.left - cost);
            return false;
        }
        own.entries[node.state].current = none;
        bounds_->raise(node.state, node.left + 1);
        return true;
    }

    bool loses(const Move& move, std::uint32_t left) const {
        return std::any_of(move.outcomes.begin(), move.outcomes.end(),
                           [&](StateId t) { return lost({t, left}); });
    }

    void watch(const Node& node, const Move& move, std::uint32_t left) {
        const std::uint32_t version = entry(node).version;
        auto one = [&](StateId t) {
            const Node after{t, left};
            if (safe(after)) return;
            table(after).add(t, {node, version, none});
            if (!open(after)) pending_.push_back(after);
        };
        switch (order_) {  // pending_ is a stack: what is pushed last is looked at first
            case OutcomeOrder::last_first:
                return (void)std::for_each(move.outcomes.begin(), move.outcomes.end(), one);
            case OutcomeOrder::first_first:
                return (void)std::for_each(move.outcomes.rbegin(), move.outcomes.rend(), one);
            case OutcomeOrder::shared:
                if (move.outcomes.size() == 1) return one(move.outcomes[0]);
                sort_shared(node, move);
                for (const Ranked& ranked : sorted_) one(ranked.index);
        }
    }

    // What is looked at first comes last. To look into a state that was expanded before is nearly free, and
    // may spare the others; a count above that of all moves puts it there. Only moves that cost as much as
    // this one lead to the same nodes.
    void sort_shared(const Node& node, const Move& move) {
        sorted_.clear();
        Moves moves = bounds_->moves(game_, node.state);
        const std::uint32_t cost = bounds_->cost(move);
        for (StateId t : move.outcomes) {
            std::uint32_t count = expanded_before(t) ? moves.size() : 0;
            for (std::uint32_t i = 0; i < moves.size(); ++i) {
                const Move other = moves[i];
                if (bounds_->cost(other) != cost) continue;
                count += std::binary_search(other.outcomes.begin(), other.outcomes.end(), t);
            }
            sorted_.push_back({count, t, unasked});
        }
        sort_ranks(sorted_, [&](std::uint32_t t) { return game_.distance(t); });
    }

    // Tells the watchers of a lost node, and theirs. What is lost with some deviations left is lost with
    // fewer.
    void raise(const Node& node) {
        queue_.assign(1, node);
        while (!queue_.empty()) {
            const Node gone = queue_.back();
            queue_.pop_back();
            for (std::uint32_t left = 0; left <= gone.left; ++left) tell({gone.state, left});
        }
    }

    void tell(const Node& gone) {
        Table& own = table(gone);
        std::uint32_t at = own.entries[gone.state].watches;
        own.entries[gone.state].watches = none;
        while (at != none) {
            const Watch watch = own.pool[at];
            own.release(at);
            at = watch.next;
            if (!live(watch)) continue;
            const Node& p = watch.watcher;
            // What was pushed since p was expanded mostly served the move that p now leaves.
            std::uint32_t mark = entry(p).mark;
            if (may_cut_ && mark < pending_.size()) pending_.resize(mark);
            if (advance(p, entry(p).current + 1)) queue_.push_back(p);
        }
    }

    // Settles all that the current moves reach from root, or puts what is not yet open there on pending_.
    bool close(const Node& root, std::uint64_t& walked) {
        std::vector<std::vector<bool>> seen(root.left + 1, std::vector<bool>(game_.size()));
        std::vector<Node> stack{root}, reached;
        seen[root.left][root.state] = true;
        while (!stack.empty()) {
            const Node node = stack.back();
            stack.pop_back();
            if (closed(node)) continue;
            reached.push_back(node);
            if (!open(node)) {
                pending_.push_back(node);
                continue;
            }
            Move move = bounds_->moves(game_, node.state)[current_move(node)];
            std::uint32_t left = node.left - bounds_->cost(move);
            for (StateId t : move.outcomes)
                if (!seen[left][t]) {
                    seen[left][t] = true;
                    stack.push_back({t, left});
                }
        }
        walked += reached.size();
        if (!pending_.empty()) return false;
        for (const Node& node : reached) bounds_->settle(node.state, node.left, current_move(node));
        return true;
    }
    std::uint32_t current_move(const Node& node) { return move_at(node, entry(node).current); }

    OutcomeOrder order_;
    std::vector<Table> finite_tables_, infinite_tables_;  // by the deviations that are left
    std::vector<Table>* tables_ = nullptr;
    Bounds* bounds_ = nullptr;
    bool may_cut_ = true;
    std::vector<Node> pending_, queue_;
    std::vector<Ranked> sorted_;
};

}  // namespace

std::unique_ptr<Decider> make_level(Game& game, OutcomeOrder order) {
    return std::make_unique<Level>(game, order);
}

}  // namespace misstep::safety
