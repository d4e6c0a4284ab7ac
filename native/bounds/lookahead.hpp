// Algorithm 4: greedy search by h^FF from a pool state, in which every state that is taken out gets a bound
// from all known states.
#pragma once

#include "bounds/bound_store.hpp"
#include "search/best_first.hpp"

namespace misstep {

class BoundLookahead : BestFirstSearch<Node, TieBreak::kLastIn> {
  public:
    BoundLookahead(BoundStore& store, StateId start, const SearchOptions& options);
    LimitHit run();

  private:
    void search();
    bool improve(StateId id);
    void expand(StateId id);
    bool pop(StateId& id);

    BoundStore& store_;
    StateId start_;  // in the store
    std::vector<std::int32_t> abstract_;
    // The same states as in the open list, but among equal estimates the oldest first. Both take turns:
    // newest first runs to a goal, oldest first looks around.
    OpenList<TieBreak::kFirstIn> oldest_;
    std::vector<bool> is_popped_;
    static constexpr std::uint64_t kTurns = 4;
    std::uint64_t turn_ = 0;
};

}  // namespace misstep
