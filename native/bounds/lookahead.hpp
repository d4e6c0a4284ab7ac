// Algorithm 4: greedy search by h^FF from a pool state, in which every state that is taken out gets a bound
// from all known states.
#pragma once

#include "bounds/bound_store.hpp"
#include "search/best_first.hpp"

namespace misstep {

class BoundLookahead : BestFirstSearch<Node, TieBreak::kLastIn> {
  public:
    BoundLookahead(BoundStore& store, StateId start, const SearchOptions& options);
    LimitHit run();  // kNone also where all expansions were used

  private:
    void search();
    bool improve(StateId id);
    void expand(StateId id);

    BoundStore& store_;
    StateId start_;  // in the store
    std::vector<std::int32_t> abstract_;
};

}  // namespace misstep
