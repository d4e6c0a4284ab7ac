// A policy that is a table over the whole space, and how its runs end by plain stepping.
#pragma once

#include <vector>

#include "policy_graph/policy_graph.hpp"
#include "tests/whole_space.hpp"

namespace misstep::testing {

class TablePolicy final : public Policy {
  public:
    // Any answer may occur: actions that are applicable, others, none, something that is no action.
    TablePolicy(const Task& task, const WholeSpace& whole, Rng& rng) : whole_(whole) {
        for (std::size_t s = 0; s < whole.size(); ++s) {
            const auto any = static_cast<ActionId>(pick(rng, task.actions.size()));
            ActionId chosen = any;
            for (ActionId a = 0; a < task.actions.size(); ++a) {
                const auto next = static_cast<ActionId>((any + a) % task.actions.size());
                if (whole.is_applicable(s, next)) chosen = next;
            }
            const std::uint64_t odd = rng.below(20);
            table.push_back(odd == 0 ? kNoAction : odd == 1 ? kUnknownAction : odd == 2 ? any : chosen);
        }
    }

    void choose(std::span<const Word* const> states, ActionId* actions) override {
        for (std::size_t i = 0; i < states.size(); ++i) actions[i] = table[whole_.number(states[i])];
        asked += states.size();
    }

    struct Run {
        Outcome outcome = Outcome::kCutOff;
        std::vector<std::size_t> states;
        std::vector<ActionId> actions;
        Cost cost = 0;
    };
    // `is_dead_end` says in which states a run ends as hopeless.
    template <class DeadEnd>
    Run run(const Task& task, std::size_t state, std::size_t max_steps, DeadEnd&& is_dead_end) const {
        Run run;
        while (true) {
            const bool is_known = std::ranges::find(run.states, state) != run.states.end();
            run.states.push_back(state);
            if (whole_.is_goal(state)) run.outcome = Outcome::kSolved;
            if (run.outcome == Outcome::kSolved) return run;
            if (is_known) run.outcome = Outcome::kLoop;
            if (is_known) return run;
            if (is_dead_end(state)) run.outcome = Outcome::kDeadEnd;
            if (run.outcome == Outcome::kDeadEnd || run.actions.size() == max_steps) return run;
            const ActionId action = table[state];
            if (action == kNoAction) run.outcome = Outcome::kStuck;
            if (action == kNoAction) return run;
            if (action == kUnknownAction || !whole_.is_applicable(state, action)) {
                run.outcome = Outcome::kIllegal;
                return run;
            }
            run.actions.push_back(action);
            run.cost += task.actions[action].cost;
            state = whole_.successor(state, action);
        }
    }

    std::vector<ActionId> table;
    std::size_t asked = 0;

  private:
    const WholeSpace& whole_;
};

}  // namespace misstep::testing
