// What LAO* and LRTDP share: a walk over the states that the greedy moves reach.
#pragma once

#include <algorithm>

#include "safety/decider.hpp"

namespace misstep::safety {

class GreedyDecider : public Decider {
  public:
    using Decider::Decider;

  protected:
    // Marks of one walk; a new walk starts without clearing them.
    bool visit(StateId s) {
        if (marks_.size() <= s) marks_.resize(std::max<std::size_t>(game_.size(), s + 1), 0);
        if (marks_[s] == walk_) return false;
        marks_[s] = walk_;
        return true;
    }
    void new_walk() {
        if (++walk_ == 0) {
            std::fill(marks_.begin(), marks_.end(), 0);
            walk_ = 1;
        }
    }
    // Backs s up; true if its value grew.
    bool update(StateId s, Bounds& bounds, std::uint32_t cap) {
        std::uint32_t value = backup(s, bounds, cap).value;
        if (value <= bounds.lower(s)) return false;
        bounds.raise(s, value);
        return true;
    }

  private:
    std::vector<std::uint32_t> marks_;
    std::uint32_t walk_ = 0;
};

}  // namespace misstep::safety
