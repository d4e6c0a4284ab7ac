#include "tests/whole_space.hpp"

namespace misstep::testing {
namespace {

std::vector<Fact> random_facts(Rng& rng, const Task& task, std::uint64_t one_in) {
    std::vector<Fact> facts;
    for (int var = 0; var < task.num_variables(); ++var)
        if (rng.below(one_in) == 0) {
            const auto size =
                static_cast<std::size_t>(task.variables[static_cast<std::size_t>(var)].domain_size());
            facts.push_back({var, static_cast<std::int32_t>(pick(rng, size))});
        }
    return facts;
}

}  // namespace

Task random_task(Rng& rng, const TaskShape& shape) {
    Task task;
    task.has_metric = true;
    const std::size_t num_variables = 1 + pick(rng, shape.max_variables);
    for (std::size_t var = 0; var < num_variables; ++var) {
        const std::size_t size = 2 + pick(rng, shape.max_values - 1);
        Variable variable{"var" + std::to_string(var), {}};
        for (std::size_t value = 0; value < size; ++value)
            variable.values.push_back("(f " + std::to_string(var) + " " + std::to_string(value) + ")");
        task.variables.push_back(std::move(variable));
        task.initial.push_back(static_cast<std::int32_t>(pick(rng, size)));
    }
    const std::size_t num_actions = 1 + pick(rng, shape.max_actions);
    while (task.actions.size() < num_actions) {
        Action action{"(a " + std::to_string(task.actions.size()) + ")",
                      random_facts(rng, task, 2),
                      random_facts(rng, task, 2),
                      shape.min_cost + static_cast<Cost>(pick(
                                           rng, static_cast<std::size_t>(shape.max_cost - shape.min_cost + 1)))};
        std::erase_if(action.effect, [&](Fact f) {
            return std::ranges::find(action.precondition, f) != action.precondition.end();
        });
        if (!action.effect.empty()) task.actions.push_back(std::move(action));
    }
    while (task.goal.empty()) task.goal = random_facts(rng, task, 2);
    return task;
}

WholeSpace::WholeSpace(const StateSpace& space) : space_(space) {
    const Task& task = space.task;
    Values values(task.variables.size(), 0);
    for (std::size_t var = 0; var < values.size();) {
        values_.push_back(values);
        for (var = 0; var < values.size(); ++var) {  // counts on, the first variable fastest
            if (++values[var] < task.variables[var].domain_size()) break;
            values[var] = 0;
        }
    }
    for (const Values& state : values_) {
        std::vector<Word> words(space.num_words());
        space.packer.pack(state.data(), words.data());
        words_.push_back(std::move(words));
    }
    goal_costs_.resize(size());
    for (std::size_t s = 0; s < size(); ++s) goal_costs_[s] = is_goal(s) ? 0 : kInfinity;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t s = 0; s < size(); ++s)
            for (ActionId a = 0; a < task.actions.size(); ++a) {
                if (!is_applicable(s, a)) continue;
                const Cost rest = goal_costs_[successor(s, a)];
                if (rest == kInfinity || rest + task.actions[a].cost >= goal_costs_[s]) continue;
                goal_costs_[s] = rest + task.actions[a].cost;
                changed = true;
            }
    }
    for (Cost cost : costs_from(initial())) is_reachable_.push_back(cost != kInfinity);
}

std::size_t WholeSpace::number(const Values& values) const {
    std::size_t result = 0;
    for (std::size_t var = values.size(); var-- > 0;)
        result = result * static_cast<std::size_t>(space_.task.variables[var].domain_size()) +
                 static_cast<std::size_t>(values[var]);
    return result;
}

std::size_t WholeSpace::number(const Word* state) const {
    Values values(space_.task.variables.size());
    space_.packer.unpack(state, values.data());
    return number(values);
}

std::size_t WholeSpace::successor(std::size_t state, ActionId action) const {
    Values values = values_[state];
    for (Fact f : space_.task.actions[action].effect) values[static_cast<std::size_t>(f.var)] = f.value;
    return number(values);
}

std::vector<Cost> WholeSpace::costs_from(std::size_t state) const {
    std::vector<Cost> costs(size(), kInfinity);
    costs[state] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t s = 0; s < size(); ++s)
            for (ActionId a = 0; a < space_.task.actions.size(); ++a) {
                if (costs[s] == kInfinity || !is_applicable(s, a)) continue;
                Cost& next = costs[successor(s, a)];
                if (costs[s] + space_.task.actions[a].cost >= next) continue;
                next = costs[s] + space_.task.actions[a].cost;
                changed = true;
            }
    }
    return costs;
}

std::optional<std::size_t> WholeSpace::after(std::size_t state, const std::vector<ActionId>& actions) const {
    for (ActionId action : actions) {
        if (action >= space_.task.actions.size() || !is_applicable(state, action)) return std::nullopt;
        state = successor(state, action);
    }
    return state;
}

std::optional<Cost> WholeSpace::plan_cost(std::size_t state, const std::vector<ActionId>& plan) const {
    std::optional<std::size_t> end = after(state, plan);
    if (!end || !is_goal(*end)) return std::nullopt;
    Cost cost = 0;
    for (ActionId action : plan) cost += space_.task.actions[action].cost;
    return cost;
}

}  // namespace misstep::testing
