// Proofs that an action can be undone wherever it is applicable, found for each action on its own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fdr/h2.hpp"
#include "state/successor_generator.hpp"
#include "util/budget.hpp"

namespace misstep {

struct UndoOptions {
    std::uint64_t max_expansions = 1000;  // partial states, for one action
    std::size_t max_plan = 8;             // steps
};

// Undoing an action a means to get from s[a] to a state t that is at least as good as s. A fact is useless if
// no precondition and no goal asks for it; t is at least as good as s if t and s agree on every variable
// whose value in s is not useless. Then every plan for s is a plan for t: by induction over its steps, what
// an action or the goal asks for is not useless, so it holds after t's path as it does after s's, and effects
// are the same on both. The relation is transitive, and a plan that undoes a works in every state that is at
// least as good as s[a]; so a walk is undone by undoing its actions from the last to the first, and where all
// actions can be undone, every state that is reachable from a solvable one is solvable.
//
// A proof holds for all reachable states in which a is applicable. It only uses what is known before a (the
// precondition, and what follows from it by mutexes of h^2) and what is known after a (the same, overwritten
// by the effect). The search applies actions whose preconditions are known to hold, so their effects are
// known too, and all other variables keep the values they have in s.
class UndoProofs {
  public:
    UndoProofs(const StateSpace& space, const UndoOptions& options);

    // The cheapest action a' that restores every state exactly: s[a][a'] = s for all reachable s in which a
    // is applicable. An action that changes nothing is its own.
    std::optional<ActionId> inverse(ActionId action);
    // The cheapest action that leads from before[action] to `before`, in which the action must be applicable.
    std::optional<ActionId> inverse(ActionId action, const Word* before) const;
    // Leads from before[action] to a state at least as good as `before`, in which the action must be
    // applicable. Absent where that was not proven. Checked, so it also holds where `before` is unreachable.
    std::optional<std::vector<ActionId>> undo_plan(ActionId action, const Word* before);
    // Whether there is an undo plan for every reachable state in which the action is applicable.
    bool is_undoable(ActionId action);

  private:
    using Partial = std::vector<Fact>;  // sorted by variable, one fact a variable

    // What an action may have overwritten without having asked for it: one old value for each such variable,
    // kUseless standing for all useless ones.
    struct Case {
        Partial before;
        std::optional<std::vector<ActionId>> plan;
    };
    struct Proof {
        Partial before;  // what is known
        std::optional<ActionId> inverse;
        std::vector<Case> cases;  // none where there were too many, or where the action is unreachable
        bool complete = false;
    };
    struct Step {
        Partial precondition, effect;
    };
    struct Reached {
        Partial known;
        std::size_t parent;
        ActionId action;
        std::size_t length;
    };

    const Proof& proof(ActionId action);
    Partial known_before(ActionId action) const;
    bool can_hold(Fact fact, const Partial& with) const;
    std::optional<ActionId> find_inverse(ActionId action, const Partial& before) const;
    std::vector<Case> cases_of(ActionId action, const Partial& before) const;
    void find_plans(ActionId action, Proof& proof) const;
    bool undoes(const Word* before, ActionId action, const std::vector<ActionId>& plan) const;
    bool serves(const Partial& known, const Partial& before, const Case& undone) const;
    void applicable(const Partial& known, std::vector<ActionId>& out) const;
    bool is_useless(Fact fact) const {
        return useless_[static_cast<std::size_t>(fact.var)][static_cast<std::size_t>(fact.value)];
    }
    int domain_size(int var) const { return task_.variables[static_cast<std::size_t>(var)].domain_size(); }
    // Whether the value is at least as good as any other of its variable.
    bool is_best(Fact fact) const;

    const StateSpace& space_;
    const Task& task_;
    UndoOptions options_;
    H2Reachability reachable_;
    std::vector<Step> actions_;                              // without variables that have one value only
    std::vector<std::vector<bool>> useless_;                 // by variable and value
    std::vector<std::vector<std::vector<ActionId>>> watch_;  // by a precondition: the rarest of the action
    std::vector<ActionId> unconditional_;
    std::vector<std::vector<std::vector<ActionId>>> achievers_;  // by an effect
    std::vector<std::optional<Proof>> proofs_;
};

}  // namespace misstep
