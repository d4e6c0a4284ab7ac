// What searches hand to those who write proofs.
#pragma once

#include "bind/objects.hpp"
#include "search/search.hpp"

namespace misstep {

struct FrontierObject {
    nb::object task;
    const TaskObject* core;
    std::shared_ptr<const Frontier> frontier;
};

}  // namespace misstep
