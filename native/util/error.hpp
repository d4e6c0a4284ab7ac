// Errors that a user can cause. The bindings turn them into misstep.errors of the same name.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace misstep {

struct InputError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct UnsupportedFeature : InputError {
    using InputError::InputError;
};

// A plan that a dominance function promises and that could not be built: the function is wrong.
struct DominanceDefect : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A policy gave no decision where it was asked for one.
struct PolicyError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A state was asked twice and got different answers; ids of the policy graph and of the task.
struct FlakyPolicy : std::runtime_error {
    FlakyPolicy(std::uint32_t state_, std::uint32_t first_, std::uint32_t second_)
        : std::runtime_error("the policy answered differently for the same state"),
          state(state_),
          first(first_),
          second(second_) {}
    std::uint32_t state, first, second;
};

}  // namespace misstep
