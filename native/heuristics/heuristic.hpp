// What a heuristic offers to a search and to Python.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fdr/task.hpp"
#include "state/successor_generator.hpp"

namespace misstep {

class Heuristic {
  public:
    virtual ~Heuristic() = default;

    // The estimate for a packed state, kInfinity where even the relaxed task has no plan.
    virtual Cost evaluate(const Word* state) = 0;

    // The same values as evaluate() one by one, whatever the number of states.
    virtual void evaluate(std::span<const Word* const> states, Cost* values) {
        for (std::size_t i = 0; i < states.size(); ++i) values[i] = evaluate(states[i]);
    }

    virtual bool is_admissible() const = 0;
    virtual bool is_consistent() const = 0;
};

// Names as users type them: blind, hmax, hadd, ff, lmcut. Throws InputError for others.
std::unique_ptr<Heuristic> make_heuristic(const StateSpace& space, std::string_view name);

}  // namespace misstep
