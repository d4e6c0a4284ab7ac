// LevelSafe: a local least fixed point with watched moves, the default decider.
//
// L(s) = lower(s) only grows. An open state has a current move whose outcomes all stay within the state's
// slack, and it watches those outcomes; when one of them grows beyond the slack, the state goes on to its
// next move, or to the next level when no move is left. Each (state, level, move) is looked at once, so a
// whole fault analysis costs O((r + 1) * edges seen), and nothing is lost between queries.
#include <algorithm>
#include <limits>

#include "safety/decider.hpp"

namespace misstep::safety {

namespace {

class Level final : public Decider {
  public:
    Level(Game& game, OutcomeOrder order) : Decider(game), order_(order) {}

  protected:
    void solve(StateId root, Bounds& bounds, std::uint32_t cap) override {
        table_ = bounds.cap(0) == bounds.cap(1) ? &infinite_table_ : &finite_table_;
        bounds_ = &bounds;
        cap_ = cap;
        pending_.clear();
        may_cut_ = true;
        table_->resize(game_.size());
        std::uint64_t walked = 0;
        if (!table_->open(root)) pending_.push_back(root);
        while (true) {
            drain(root);
            if (bounds.lower(root) >= cap_) return;
            // What was dropped on the way may be needed again: "expanded" is not "closed".
            if (close(root, walked)) return;
            if (walked > 4 * meter_.expansions() + 1000) may_cut_ = false;
        }
    }

  private:
    static constexpr std::uint32_t none = infinite;
    struct Watch {
        StateId watcher;
        std::uint32_t version;
        std::uint32_t slack;
        std::uint32_t next;
    };
    struct Table {
        std::vector<std::uint32_t> current;  // place of the current move, or none: then the state is not open
        std::vector<std::uint32_t> version;  // of the current move; older watches are stale
        std::vector<std::uint32_t> watches;  // first watch on this state
        std::vector<std::uint32_t> mark;     // size of pending_ when the state was expanded
        std::vector<std::uint32_t> order_of;  // where the order of a state's moves starts in `orders`
        std::vector<std::uint32_t> orders;
        std::vector<Watch> pool;
        std::uint32_t free = none;

        bool open(StateId s) const { return current[s] != none; }
        void resize(std::size_t states) {
            if (states <= current.size()) return;
            std::size_t size = std::max(states, 2 * current.size());
            current.resize(size, none);
            version.resize(size, 0);
            watches.resize(size, none);
            mark.resize(size, none);
            order_of.resize(size, none);
        }
        void add(StateId t, Watch watch) {
            watch.next = watches[t];
            std::uint32_t at = free;
            if (at == none) {
                at = static_cast<std::uint32_t>(pool.size());
                pool.push_back(watch);
            } else {
                free = pool[at].next;
                pool[at] = watch;
            }
            watches[t] = at;
        }
        void release(std::uint32_t at) {
            pool[at].next = free;
            free = at;
        }
    };

    bool live(const Watch& watch) const {
        return !bounds_->settled(watch.watcher) && table_->version[watch.watcher] == watch.version;
    }

    // Whether an open state still relies on s; unlinks the stale watches it passes.
    bool watched(StateId s) {
        std::uint32_t& first = table_->watches[s];
        while (first != none && !live(table_->pool[first])) {
            std::uint32_t stale = first;
            first = table_->pool[stale].next;
            table_->release(stale);
        }
        return first != none;
    }

    void drain(StateId root) {
        while (!pending_.empty() && bounds_->lower(root) < cap_) {
            StateId s = pending_.back();
            if (table_->open(s) || closed(s, *bounds_, cap_) || (s != root && !watched(s))) {
                pending_.pop_back();
                continue;
            }
            Moves moves = expand(s, *bounds_);  // may throw: s stays pending until it is done
            pending_.pop_back();
            table_->resize(game_.size());
            if (moves.size() == 0) continue;
            for (std::uint32_t i = 0; i < moves.size(); ++i)
                for (StateId t : moves[i].outcomes) meet(t, *bounds_);
            sort_moves(s, moves);
            table_->mark[s] = static_cast<std::uint32_t>(pending_.size());
            if (advance(s, 0)) raise(s);
        }
    }

    // The order in which the moves of s are tried: those that stay far from unsafety first, since one good
    // move is enough; in the order of the game where h_u cannot tell.
    void sort_moves(StateId s, const Moves& moves) {
        if (table_->order_of[s] != none) return;
        table_->order_of[s] = static_cast<std::uint32_t>(table_->orders.size());
        sorted_.clear();
        for (std::uint32_t i = 0; i < moves.size(); ++i) {
            std::uint32_t fresh = 0;
            double least = std::numeric_limits<double>::infinity();
            for (StateId t : moves[i].outcomes) {
                fresh += t != s && !bounds_->settled(t) && !table_->open(t);
                least = std::min(least, game_.distance(t));
            }
            sorted_.push_back({fresh, least, i});
        }
        std::stable_sort(sorted_.begin(), sorted_.end(), [](const Ranked& a, const Ranked& b) {
            return a.moves != b.moves ? a.moves < b.moves : a.distance > b.distance;
        });
        for (const Ranked& ranked : sorted_) table_->orders.push_back(ranked.state);
    }

    // The index, in the game, of the move that comes at this place.
    std::uint32_t move_at(StateId s, std::uint32_t place) const {
        return table_->orders[table_->order_of[s] + place];
    }

    // Finds the current move of s from this place on, through the levels; true if its level rose.
    bool advance(StateId s, std::uint32_t i) {
        Moves moves = bounds_->moves(game_, s);
        bool raised = false;
        ++table_->version[s];
        for (std::uint32_t level = bounds_->lower(s); level < cap_; ++level, i = 0) {
            for (; i < moves.size(); ++i) {
                Move move = moves[move_at(s, i)];
                std::uint32_t cost = bounds_->cost(move);
                if (cost > level || !within(move, level - cost)) continue;
                table_->current[s] = i;
                watch(s, move, level - cost);
                return raised;
            }
            bounds_->raise(s, level + 1);
            raised = true;
        }
        table_->current[s] = none;
        return raised;
    }

    bool within(const Move& move, std::uint32_t slack) const {
        return std::all_of(move.outcomes.begin(), move.outcomes.end(),
                           [&](StateId t) { return bounds_->lower(t) <= slack; });
    }

    void watch(StateId s, const Move& move, std::uint32_t slack) {
        auto one = [&](StateId t) {
            if (bounds_->settled(t)) return;
            table_->add(t, {s, table_->version[s], slack, none});
            if (!table_->open(t)) pending_.push_back(t);
        };
        switch (order_) {  // pending_ is a stack: what is pushed last is looked at first
            case OutcomeOrder::last_first:
                return (void)std::for_each(move.outcomes.begin(), move.outcomes.end(), one);
            case OutcomeOrder::first_first:
                return (void)std::for_each(move.outcomes.rbegin(), move.outcomes.rend(), one);
            case OutcomeOrder::shared:
                sort_shared(s, move);
                for (const Ranked& ranked : sorted_) one(ranked.state);
        }
    }

    void sort_shared(StateId s, const Move& move) {
        sorted_.clear();
        Moves moves = bounds_->moves(game_, s);
        for (StateId t : move.outcomes) {
            std::uint32_t count = 0;
            for (std::uint32_t i = 0; i < moves.size(); ++i) {
                auto outcomes = moves[i].outcomes;
                count += std::binary_search(outcomes.begin(), outcomes.end(), t);
            }
            sorted_.push_back({count, game_.distance(t), t});
        }
        std::stable_sort(sorted_.begin(), sorted_.end(), [](const Ranked& a, const Ranked& b) {
            return a.moves != b.moves ? a.moves < b.moves : a.distance > b.distance;
        });
    }

    // Tells the watchers of s, and theirs, that its level rose.
    void raise(StateId s) {
        queue_.assign(1, s);
        while (!queue_.empty()) {
            StateId t = queue_.back();
            queue_.pop_back();
            std::uint32_t at = table_->watches[t];
            table_->watches[t] = none;
            while (at != none) {
                Watch watch = table_->pool[at];
                table_->release(at);
                at = watch.next;
                if (!live(watch)) continue;
                StateId p = watch.watcher;
                if (bounds_->lower(t) <= watch.slack) {
                    table_->add(t, watch);
                    continue;
                }
                // What was pushed since p was expanded mostly served the move that p now leaves.
                if (may_cut_ && table_->mark[p] < pending_.size()) pending_.resize(table_->mark[p]);
                if (advance(p, table_->current[p] + 1)) queue_.push_back(p);
            }
        }
    }

    // Settles all that the current moves reach from root, or puts what is not yet open there on pending_.
    bool close(StateId root, std::uint64_t& walked) {
        std::vector<bool> seen(game_.size());
        std::vector<StateId> stack{root}, reached;
        seen[root] = true;
        while (!stack.empty()) {
            StateId s = stack.back();
            stack.pop_back();
            if (closed(s, *bounds_, cap_)) continue;
            reached.push_back(s);
            if (!table_->open(s)) {
                pending_.push_back(s);
                continue;
            }
            for (StateId t : bounds_->moves(game_, s)[move_at(s, table_->current[s])].outcomes)
                if (!seen[t]) {
                    seen[t] = true;
                    stack.push_back(t);
                }
        }
        walked += reached.size();
        if (!pending_.empty()) return false;
        for (StateId s : reached) bounds_->settle(s, bounds_->lower(s), move_at(s, table_->current[s]));
        return true;
    }

    OutcomeOrder order_;
    Table finite_table_, infinite_table_;
    Table* table_ = nullptr;
    Bounds* bounds_ = nullptr;
    std::uint32_t cap_ = 1;
    bool may_cut_ = true;
    std::vector<StateId> pending_, queue_;
    struct Ranked {
        std::uint32_t moves;  // of the state that have it as an outcome; or the index of a move
        double distance;
        StateId state;
    };
    std::vector<Ranked> sorted_;
};

}  // namespace

std::unique_ptr<Decider> make_level(Game& game, OutcomeOrder order) {
    return std::make_unique<Level>(game, order);
}

}  // namespace misstep::safety
