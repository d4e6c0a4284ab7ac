// The limits of one query, watched from inside algorithms that recurse or nest: hitting one is an exception
// that Decider::decide and the bindings catch, thrown only between steps that each leave the caches sound.
#pragma once

#include <optional>

#include "util/limits.hpp"

namespace misstep::safety {

struct OutOfBudget {
    LimitHit limit;
};

class Meter {
  public:
    // The limits must outlive the query.
    void start(const Limits& limits) {
        watch_.emplace(limits);
        expansions_ = 0;
    }
    // One expansion more, of a game that now takes this many bytes.
    void expand(std::size_t bytes) {
        check(watch_->check(expansions_, bytes, 30));
        ++expansions_;
    }
    // A unit of work that is no expansion; cheap enough for inner loops.
    void tick() {
        if (++ticks_ % 2048 == 0) check(watch_->look());
    }
    std::uint64_t expansions() const { return expansions_; }
    double seconds() const { return watch_->seconds(); }

  private:
    static void check(LimitHit hit) {
        if (hit != LimitHit::kNone) throw OutOfBudget{hit};
    }

    std::optional<LimitWatch> watch_;
    std::uint64_t expansions_ = 0;
    std::uint32_t ticks_ = 0;
};

}  // namespace misstep::safety
