// One way of looking for a plan that is cheaper than the one at hand, a small step at a time.
#pragma once

#include <optional>

#include "improve/known_plan.hpp"

namespace misstep {

class Improver {
  public:
    virtual ~Improver() = default;

    // The plan to improve from now on, cheaper than those before.
    virtual void adopt(const KnownPlan& plan) = 0;
    // Does a little work, mostly without success, with at most `max_expansions` (at least 1). Only while
    // there is some left.
    virtual std::optional<std::vector<ActionId>> step(std::uint64_t max_expansions) = 0;
    virtual bool has_more() const = 0;
    // Whether nothing being left to do proves the plan optimal.
    virtual bool is_complete() const = 0;

    virtual std::uint64_t expanded() const { return 0; }
    virtual std::size_t bytes() const { return 0; }
    // What was done so far, in units of about one generated state: the share of the work, not of the clock,
    // decides whose turn it is, so that the result is the same on every machine.
    std::uint64_t work() const { return work_; }

  protected:
    std::uint64_t work_ = 0;
};

}  // namespace misstep
