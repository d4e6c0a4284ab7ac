// What tests a policy natively: many states in, one action each out.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "state/successor_generator.hpp"

namespace misstep {

// What a policy may answer instead of an action.
inline constexpr ActionId kUnknownAction = kNoAction - 1;  // something that is no action of the task
inline constexpr ActionId kNoDecision = kNoAction - 2;     // it failed: raised, hung, or answered nonsense

class Policy {
  public:
    virtual ~Policy() = default;

    // One answer a state: an action (applicable or not: the caller checks), kNoAction (nothing, on purpose),
    // kUnknownAction or kNoDecision.
    // The answer for a state must not depend on the other states of the call.
    virtual void choose(std::span<const Word* const> states, ActionId* actions) = 0;

    // The number of states a call should have for best speed.
    virtual std::size_t best_batch() const { return 256; }

    // Another one that answers alike and may be asked at the same time; null where there can be none.
    virtual std::unique_ptr<Policy> copy() const { return nullptr; }
};

}  // namespace misstep
