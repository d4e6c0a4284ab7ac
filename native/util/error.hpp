// Errors that a user can cause. The bindings turn them into misstep.errors of the same name.
#pragma once

#include <stdexcept>
#include <string>

namespace misstep {

struct InputError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct UnsupportedFeature : InputError {
    using InputError::InputError;
};

}  // namespace misstep
