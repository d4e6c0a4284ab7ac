// The budget of one query, watched from inside algorithms that recurse or nest: using it up is an exception
// that Decider::decide and the bindings catch, thrown only between steps that each leave the caches sound.
#pragma once

#include <optional>

#include "util/budget.hpp"

namespace misstep::safety {

struct OutOfBudget {
    LimitHit limit;
};

class Meter {
  public:
    // The budget must outlive the query.
    void start(const Budget& budget) {
        watch_.emplace(budget);
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
    // Before work of which nobody knows how long it takes, by a game that takes this many bytes.
    void look(std::size_t bytes) { check(watch_->look(bytes)); }
    std::uint64_t expansions() const { return expansions_; }
    double seconds() const { return watch_->seconds(); }

  private:
    static void check(LimitHit hit) {
        // No std::exception: nobody is to catch it by chance.  NOLINTNEXTLINE(bugprone-std-exception-baseclass)
        if (hit != LimitHit::kNone) throw OutOfBudget{hit};
    }

    std::optional<BudgetWatch> watch_;
    std::uint64_t expansions_ = 0;
    std::uint32_t ticks_ = 0;
};

}  // namespace misstep::safety
