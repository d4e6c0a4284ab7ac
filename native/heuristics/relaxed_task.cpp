#include "heuristics/relaxed_task.hpp"

#include <algorithm>

namespace misstep {

Rows rows_from(const std::vector<std::vector<std::int32_t>>& nested) {
    Rows rows;
    rows.start.push_back(0);
    for (const auto& row : nested) {
        rows.items.insert(rows.items.end(), row.begin(), row.end());
        rows.start.push_back(static_cast<std::uint32_t>(rows.items.size()));
    }
    return rows;
}

Rows inverted(const Rows& rows, std::size_t num_items) {
    std::vector<std::vector<std::int32_t>> nested(num_items);
    for (std::size_t row = 0; row < rows.size(); ++row)
        for (std::int32_t item : rows[row]) nested[item].push_back(static_cast<std::int32_t>(row));
    return rows_from(nested);
}

RelaxedTask::RelaxedTask(const StateSpace& space_)
    : space(space_), num_variables(space.task.num_variables()), num_actions(space.task.num_actions()) {
    const Task& task = space.task;
    num_facts = 0;
    for (const Variable& variable : task.variables) {
        first_fact.push_back(num_facts);
        num_facts += variable.domain_size();
    }
    std::vector<std::vector<std::int32_t>> pre(task.actions.size()), eff(task.actions.size());
    has_zero_cost = false;
    max_cost = 0;
    for (std::size_t a = 0; a < task.actions.size(); ++a) {
        const Action& action = task.actions[a];
        for (Fact f : action.precondition) pre[a].push_back(fact(f));
        for (Fact f : action.effect) eff[a].push_back(fact(f));
        cost.push_back(action.cost);
        has_zero_cost |= action.cost == 0;
        max_cost = std::max(max_cost, action.cost);
        if (pre[a].empty()) without_precondition.push_back(static_cast<std::int32_t>(a));
    }
    precondition = rows_from(pre);
    effect = rows_from(eff);
    needed_by = inverted(precondition, static_cast<std::size_t>(num_facts));
    achieved_by = inverted(effect, static_cast<std::size_t>(num_facts));
    for (Fact f : task.goal) goal.push_back(fact(f));
}

void RelaxedTask::facts_of(const Word* state, FactId* facts) const {
    for (int var = 0; var < num_variables; ++var) facts[var] = first_fact[var] + space.packer.get(state, var);
}

}  // namespace misstep
