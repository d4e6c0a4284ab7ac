#include "improve/known_plan.hpp"

#include <algorithm>

#include "util/error.hpp"

namespace misstep {

KnownPlan::KnownPlan(const StateSpace& space, const Word* start, std::vector<ActionId> actions)
    : num_words_(space.num_words()), actions_(std::move(actions)), suffix_costs_(actions_.size() + 1, 0) {
    states_.resize((actions_.size() + 1) * num_words_);
    std::copy_n(start, num_words_, states_.begin());
    for (std::size_t i = 0; i < actions_.size(); ++i) {
        if (!space.generator.is_applicable(state(i), actions_[i]))
            throw InputError("this is no plan for the state: step " + std::to_string(i + 1) + ", " +
                             space.task.actions[actions_[i]].name + ", is not applicable");
        space.generator.apply(state(i), actions_[i], states_.data() + (i + 1) * num_words_);
    }
    if (!space.is_goal(state(actions_.size())))
        throw InputError("this is no plan for the state: it ends in a state that is not a goal state");
    for (std::size_t i = actions_.size(); i-- > 0;)
        suffix_costs_[i] = suffix_costs_[i + 1] + space.task.actions[actions_[i]].cost;
    regress(space);
}

void KnownPlan::regress(const StateSpace& space) {
    constexpr std::int32_t kAny = -1;
    std::vector<std::int32_t> wanted(space.task.variables.size(), kAny);
    for (Fact fact : space.task.goal) wanted[fact.var] = fact.value;
    std::vector<Fact> facts;
    // Backwards, then turned around: conditions lie in the order of the steps from the last to the first.
    condition_end_.assign(actions_.size() + 1, 0);
    for (std::size_t i = actions_.size() + 1; i-- > 0;) {
        if (i < actions_.size()) {
            const Action& action = space.task.actions[actions_[i]];
            for (Fact fact : action.effect) wanted[fact.var] = kAny;
            for (Fact fact : action.precondition) wanted[fact.var] = fact.value;
        }
        facts.clear();
        for (std::size_t var = 0; var < wanted.size(); ++var)
            if (wanted[var] != kAny) facts.push_back({static_cast<std::int32_t>(var), wanted[var]});
        std::vector<WordCondition> condition = space.packer.condition(facts);
        conditions_.insert(conditions_.end(), condition.begin(), condition.end());
        condition_end_[i] = conditions_.size();
    }
}

std::size_t KnownPlan::suffix_from(const Word* state, Total below) const {
    std::size_t begin = 0;
    for (std::size_t i = actions_.size() + 1; i-- > 0 && suffix_costs_[i] < below;) {
        if (holds({conditions_.data() + begin, conditions_.data() + condition_end_[i]}, state)) return i;
        begin = condition_end_[i];
    }
    return kNone;
}

std::vector<ActionId> eliminate_actions(const StateSpace& space, const Word* start,
                                        std::vector<ActionId> plan, BudgetWatch& watch) {
    constexpr std::size_t kStepsBetweenLooks = 100'000;
    std::size_t steps = 0;
    const std::size_t num_words = space.num_words();
    std::vector<Word> state(start, start + num_words), here(num_words), next(num_words);
    std::vector<ActionId> kept;
    for (std::size_t i = 0; i < plan.size();) {
        steps += plan.size() - i;
        if (steps > kStepsBetweenLooks) {
            if (watch.look() != LimitHit::kNone) break;
            steps = 0;
        }
        kept.clear();
        here = state;
        for (std::size_t k = i + 1; k < plan.size(); ++k) {
            if (!space.generator.is_applicable(here.data(), plan[k])) continue;
            space.generator.apply(here.data(), plan[k], next.data());
            std::swap(here, next);
            kept.push_back(plan[k]);
        }
        if (space.is_goal(here.data())) {
            plan.resize(i);
            plan.insert(plan.end(), kept.begin(), kept.end());
        } else {
            space.generator.apply(state.data(), plan[i], next.data());
            std::swap(state, next);
            ++i;
        }
    }
    return plan;
}

}  // namespace misstep
