// Reorders the plan: an action and what depends on it are done later, where a shortcut past them may open.
#pragma once

#include "improve/improver.hpp"

namespace misstep {

// For each action: the actions after it that do not need it go first, it and those that do follow. In this
// order, at each of the postponed steps, every applicable action from the rest of the plan is tried at once;
// what then is no longer applicable is left out. This finds detours that other parts of the plan hide: a
// block that is put aside long before its place is free, a second trip.
class Postponement final : public Improver {
  public:
    explicit Postponement(const StateSpace& space);

    void adopt(const KnownPlan& plan) override;
    std::optional<std::vector<ActionId>> step(std::uint64_t) override;
    bool has_more() const override { return tried_ < plan_->size(); }
    bool is_complete() const override { return false; }

  private:
    void postpone(std::size_t first);
    void try_shortcuts(std::vector<ActionId> order, std::size_t begin, std::size_t end);
    void try_first(const std::vector<ActionId>& order, std::size_t at, std::size_t early);
    void advance(std::vector<Word>& state, ActionId action);

    const StateSpace& space_;
    const KnownPlan* plan_ = nullptr;
    std::size_t at_ = 0;     // the action to postpone next
    std::size_t tried_ = 0;  // since the plan is this one
    Total best_ = kEndless;
    std::optional<std::vector<ActionId>> found_;
    std::vector<Word> state_, here_, next_;
    std::vector<ActionId> replayed_;
};

}  // namespace misstep
