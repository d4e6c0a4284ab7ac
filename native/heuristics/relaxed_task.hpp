// The delete relaxation as flat arrays: facts are numbered through, actions keep their ids.
#pragma once

#include <span>
#include <vector>

#include "state/successor_generator.hpp"

namespace misstep {

using FactId = std::int32_t;

// Rows of numbers, one row after another.
struct Rows {
    std::vector<std::uint32_t> start;
    std::vector<std::int32_t> items;
    std::span<const std::int32_t> operator[](std::size_t row) const {
        return {items.data() + start[row], items.data() + start[row + 1]};
    }
    std::size_t size() const { return start.size() - 1; }
};

Rows rows_from(const std::vector<std::vector<std::int32_t>>& nested);
// Row i of the result lists the rows of `rows` that contain i, ascending.
Rows inverted(const Rows& rows, std::size_t num_items);

struct RelaxedTask {
    explicit RelaxedTask(const StateSpace& space);

    FactId fact(Fact f) const { return first_fact[f.var] + f.value; }
    // Writes one fact a variable.
    void facts_of(const Word* state, FactId* facts) const;

    const StateSpace& space;
    int num_variables;
    int num_facts;
    int num_actions;
    std::vector<FactId> first_fact;                  // of each variable
    Rows precondition, effect;                       // of each action; effects do not repeat preconditions
    Rows needed_by, achieved_by;                     // of each fact
    std::vector<Cost> cost;                          // of each action
    std::vector<std::int32_t> without_precondition;  // actions
    std::vector<FactId> goal;
    bool has_zero_cost;
    Cost max_cost;
};

}  // namespace misstep
