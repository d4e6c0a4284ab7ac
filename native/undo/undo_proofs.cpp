#include "undo/undo_proofs.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace misstep {
namespace {

constexpr std::int32_t kUseless = -1;
constexpr std::size_t kMaxCases = 256;

std::optional<std::int32_t> value_in(const std::vector<Fact>& facts, std::int32_t var) {
    auto fact = std::ranges::lower_bound(facts, var, {}, &Fact::var);
    if (fact == facts.end() || fact->var != var) return std::nullopt;
    return fact->value;
}

bool contains(const std::vector<Fact>& facts, const std::vector<Fact>& part) {
    return std::ranges::includes(facts, part);
}

// The facts of `first`, with those of `second` written over them.
std::vector<Fact> overwritten(const std::vector<Fact>& first, const std::vector<Fact>& second) {
    std::vector<Fact> result;
    std::ranges::set_union(second, first, std::back_inserter(result), {}, &Fact::var, &Fact::var);
    return result;
}

// Variables with one value only say nothing.
std::vector<Fact> changeable(const Task& task, const std::vector<Fact>& facts) {
    std::vector<Fact> result;
    for (Fact fact : facts)
        if (task.variables[static_cast<std::size_t>(fact.var)].domain_size() > 1) result.push_back(fact);
    return result;
}

template <class T>
std::vector<std::vector<T>> by_fact(const Task& task) {
    std::vector<std::vector<T>> result;
    for (const Variable& variable : task.variables)
        result.emplace_back(static_cast<std::size_t>(variable.domain_size()));
    return result;
}

template <class T>
auto at(T& by_fact, Fact fact) -> decltype(by_fact[0][0]) {
    return by_fact[static_cast<std::size_t>(fact.var)][static_cast<std::size_t>(fact.value)];
}

}  // namespace

UndoProofs::UndoProofs(const StateSpace& space, const UndoOptions& options)
    : space_(space),
      task_(space.task),
      options_(options),
      reachable_(h2_reachability(space.task, {})),
      watch_(by_fact<std::vector<ActionId>>(space.task)),
      achievers_(by_fact<std::vector<ActionId>>(space.task)),
      proofs_(space.task.actions.size()) {
    const Task& task = task_;
    for (const Action& action : task.actions)
        actions_.push_back({changeable(task, action.precondition), changeable(task, action.effect)});
    auto needed = by_fact<std::size_t>(task);
    for (Fact fact : task.goal) ++at(needed, fact);
    for (const Step& action : actions_)
        for (Fact fact : action.precondition) ++at(needed, fact);
    for (const auto& counts : needed) {
        useless_.emplace_back();
        for (std::size_t count : counts) useless_.back().push_back(count == 0);
    }
    for (ActionId id = 0; id < actions_.size(); ++id) {
        const Step& action = actions_[id];
        for (Fact fact : action.effect) at(achievers_, fact).push_back(id);
        if (action.precondition.empty())
            unconditional_.push_back(id);
        else
            at(watch_, *std::ranges::min_element(action.precondition, {},
                                                 [&](Fact fact) { return at(needed, fact); }))
                .push_back(id);
    }
}

std::optional<ActionId> UndoProofs::inverse(ActionId action) {
    return proof(action).inverse;
}

bool UndoProofs::is_undoable(ActionId action) {
    return proof(action).complete;
}

std::optional<std::vector<ActionId>> UndoProofs::undo_plan(ActionId action, const Word* before) {
    for (const Case& known : proof(action).cases) {
        bool is_this = std::ranges::all_of(known.before, [&](Fact old) {
            Fact fact{old.var, space_.packer.get(before, old.var)};
            return is_useless(fact) ? old.value == kUseless : old == fact;
        });
        if (is_this && known.plan && undoes(before, action, *known.plan)) return known.plan;
    }
    return std::nullopt;
}

std::optional<ActionId> UndoProofs::inverse(ActionId action, const Word* before) const {
    std::vector<Word> after(space_.num_words()), back(space_.num_words());
    space_.generator.apply(before, action, after.data());
    if (std::equal(after.begin(), after.end(), before)) return action;
    auto changed = std::ranges::find_if(actions_[action].effect, [&](Fact fact) {
        return space_.packer.get(before, fact.var) != fact.value;
    });
    std::optional<ActionId> best;
    for (ActionId candidate : at(achievers_, Fact{changed->var, space_.packer.get(before, changed->var)})) {
        if (best && task_.actions[candidate].cost >= task_.actions[*best].cost) continue;
        if (!space_.generator.is_applicable(after.data(), candidate)) continue;
        space_.generator.apply(after.data(), candidate, back.data());
        if (std::equal(back.begin(), back.end(), before)) best = candidate;
    }
    return best;
}

bool UndoProofs::undoes(const Word* before, ActionId action, const std::vector<ActionId>& plan) const {
    std::vector<Word> state(space_.num_words()), next(space_.num_words());
    space_.generator.apply(before, action, state.data());
    for (ActionId step : plan) {
        if (!space_.generator.is_applicable(state.data(), step)) return false;
        space_.generator.apply(state.data(), step, next.data());
        std::swap(state, next);
    }
    for (int var = 0; var < task_.num_variables(); ++var) {
        Fact old{var, space_.packer.get(before, var)};
        if (space_.packer.get(state.data(), var) != old.value && !is_useless(old)) return false;
    }
    return true;
}

const UndoProofs::Proof& UndoProofs::proof(ActionId action) {
    std::optional<Proof>& known = proofs_[action];
    if (known) return *known;
    Proof made;
    if (!reachable_.actions[action]) {
        made.complete = true;  // there is nothing to undo
    } else {
        made.before = known_before(action);
        made.inverse = find_inverse(action, made.before);
        made.cases = cases_of(action, made.before);
        if (made.inverse && *made.inverse != action)  // one that changes nothing needs no way back
            for (Case& c : made.cases) c.plan = {*made.inverse};
        else
            find_plans(action, made);
        made.complete = !made.cases.empty() &&
                        std::ranges::all_of(made.cases, [](const Case& c) { return c.plan.has_value(); });
    }
    return known.emplace(std::move(made));
}

bool UndoProofs::can_hold(Fact fact, const Partial& with) const {
    return std::ranges::all_of(with, [&](Fact other) { return reachable_.together(fact, other); });
}

// The precondition, and every variable for which mutexes leave one value only.
UndoProofs::Partial UndoProofs::known_before(ActionId id) const {
    const Partial& precondition = actions_[id].precondition;
    Partial known;
    for (int var = 0; var < task_.num_variables(); ++var) {
        int possible = 0;
        Fact last{var, 0};
        for (Fact fact{var, 0}; fact.value < domain_size(var) && possible < 2; ++fact.value) {
            if (!can_hold(fact, precondition) ||
                !reachable_.facts[static_cast<std::size_t>(var)][static_cast<std::size_t>(fact.value)])
                continue;
            ++possible;
            last = fact;
        }
        if (possible == 1 && domain_size(var) > 1) known.push_back(last);
    }
    return overwritten(known, precondition);
}

// Every variable that the action or its inverse writes must have been known before: then the inverse has to
// write that value, or leave it alone where the action did.
std::optional<ActionId> UndoProofs::find_inverse(ActionId id, const Partial& before) const {
    const Step& action = actions_[id];
    const Partial after = overwritten(before, action.effect);
    Partial restored;
    for (Fact fact : action.effect) {
        std::optional<std::int32_t> old = value_in(before, fact.var);
        if (!old) return std::nullopt;
        if (*old != fact.value) restored.push_back({fact.var, *old});
    }
    if (restored.empty()) return id;
    std::optional<ActionId> best;
    for (ActionId candidate : at(achievers_, restored.front())) {
        const Step& back = actions_[candidate];
        const bool is_inverse = contains(after, back.precondition) && contains(back.effect, restored) &&
                                contains(before, back.effect);
        if (is_inverse && (!best || task_.actions[candidate].cost < task_.actions[*best].cost))
            best = candidate;
    }
    return best;
}

std::vector<UndoProofs::Case> UndoProofs::cases_of(ActionId id, const Partial& before) const {
    std::vector<Case> cases(1);
    for (Fact fact : actions_[id].effect) {
        if (value_in(before, fact.var)) continue;
        std::vector<std::int32_t> old_values;
        bool any_useless = false;
        for (Fact old{fact.var, 0}; old.value < domain_size(fact.var); ++old.value) {
            if (!can_hold(old, before)) continue;
            if (is_useless(old))
                any_useless = true;
            else
                old_values.push_back(old.value);
        }
        if (any_useless) old_values.push_back(kUseless);
        if (cases.size() * old_values.size() > kMaxCases) return {};
        std::vector<Case> split;
        for (const Case& so_far : cases)
            for (std::int32_t value : old_values) {
                split.push_back(so_far);
                split.back().before.push_back({fact.var, value});
            }
        cases = std::move(split);
    }
    return cases;
}

// Breadth-first over partial states; one search serves all cases, since it never looks at what was there
// before the action.
void UndoProofs::find_plans(ActionId id, Proof& proof) const {
    std::vector<Case>& cases = proof.cases;
    std::size_t open_cases = cases.size();
    if (open_cases == 0) return;
    std::vector<Reached> steps;
    std::set<Partial> seen;
    std::vector<ActionId> actions;
    // Adds a step unless what is known then was known before; true once every case has a plan.
    auto reached = [&](Partial known, std::size_t parent, ActionId action, std::size_t length) {
        if (!seen.insert(known).second) return false;
        for (Case& c : cases) {
            if (c.plan || !serves(known, proof.before, c)) continue;
            c.plan.emplace();
            if (length > 0) c.plan->push_back(action);
            for (std::size_t at = parent; c.plan->size() < length; at = steps[at].parent)
                c.plan->push_back(steps[at].action);
            std::ranges::reverse(*c.plan);
            --open_cases;
        }
        steps.push_back({std::move(known), parent, action, length});
        return open_cases == 0;
    };
    if (reached(overwritten(proof.before, actions_[id].effect), 0, kNoAction, 0)) return;
    for (std::size_t next = 0; next < steps.size() && next < options_.max_expansions; ++next) {
        if (steps[next].length >= options_.max_plan) break;
        actions.clear();
        applicable(steps[next].known, actions);
        for (ActionId action : actions) {
            Partial known = overwritten(steps[next].known, actions_[action].effect);
            if (reached(std::move(known), next, action, steps[next].length + 1)) return;
        }
    }
}

// Whether a state that agrees with `known` and otherwise with the one before is at least as good as that.
bool UndoProofs::serves(const Partial& known, const Partial& before, const Case& undone) const {
    return std::ranges::all_of(known, [&](Fact fact) {
        std::optional<std::int32_t> old = value_in(before, fact.var);
        if (!old) old = value_in(undone.before, fact.var);
        if (!old) return is_best(fact);  // only the way back wrote it, over an unknown value
        return *old == kUseless || *old == fact.value || is_useless({fact.var, *old});
    });
}

bool UndoProofs::is_best(Fact fact) const {
    for (Fact other{fact.var, 0}; other.value < domain_size(fact.var); ++other.value)
        if (other != fact && !is_useless(other)) return false;
    return true;
}

void UndoProofs::applicable(const Partial& known, std::vector<ActionId>& out) const {
    out = unconditional_;
    for (Fact fact : known)
        for (ActionId id : at(watch_, fact))
            if (contains(known, actions_[id].precondition)) out.push_back(id);
    std::ranges::sort(out);
}

}  // namespace misstep
