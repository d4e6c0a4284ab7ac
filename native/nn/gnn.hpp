// A policy that takes the action to whose successor, or to which itself, a relational network gives the least
// value.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/gnn_network.hpp"
#include "policy_graph/policy.hpp"

namespace misstep {

// An action of the PDDL that changes nothing and is therefore none of the task's; see `GnnPolicy`.
struct NoopAction {
    std::string name;
    std::vector<Fact> required, forbidden;
};

// How the task's atoms become rows of the network's relations.
struct GnnEncoding {
    struct FactRow {
        Fact fact;
        std::size_t relation;
        std::vector<std::uint32_t> objects;  // of a row, or of several one after the other
    };
    // For networks that score actions: the relation and the row of an action; the action's own object comes
    // first and is left out here.
    struct ActionRow {
        std::size_t relation;
        std::vector<std::uint32_t> objects;
    };
    std::size_t num_objects = 0;
    std::vector<std::vector<std::uint32_t>> fixed;  // for each relation the rows of every state, flat
    std::vector<FactRow> facts;
    std::vector<NoopAction> noops;
    // The task's actions, then the no-ops: the place of each in the order that decides between equal values.
    std::vector<std::size_t> rank;
    std::vector<ActionRow> actions;  // empty where the network looks at successors
};

class GnnPolicy : public Policy {
  public:
    // Throws InputError where the encoding does not fit task and network. The space must outlive the policy.
    GnnPolicy(const StateSpace& space, std::shared_ptr<const GnnNetwork> network, GnnEncoding encoding,
              int num_threads = 1);

    // Exactly the successors of one state form a batch of the network, no-ops included; or the state itself,
    // with an object more for each applicable action. kNoAction where there
    // are none; kUnknownAction where the network prefers a no-op (the policy stays in the state for
    // ever), kNoDecision where its numbers overflow.
    void choose(std::span<const Word* const> states, ActionId* actions) override;
    std::size_t best_batch() const override { return 1; }
    std::unique_ptr<Policy> copy() const override {
        return std::make_unique<GnnPolicy>(space_, network_, encoding_);
    }

    struct Candidate {
        ActionId action;          // kUnknownAction for a no-op
        const std::string* name;  // as in PDDL
        float value;
    };
    // All applicable actions in the order that decides between equal values.
    std::vector<Candidate> values(const Word* state);
    std::uint64_t work() const { return evaluator_.work(); }

  private:
    // Value number `i` is that of action order_[i].
    void evaluate(const Word* state);
    void collect_actions(const Word* state);
    void apply_actions(const Word* state);
    // Rows that are true in the states, and in all states.
    void add_rows(const Word* states, std::uint32_t num_states);
    void add_actions();
    bool applies(const NoopAction& noop, const Word* state) const;

    const StateSpace& space_;
    std::shared_ptr<const GnnNetwork> network_;
    GnnEncoding encoding_;
    std::vector<std::vector<std::int32_t>>
        row_of_fact_;  // by variable and value: into encoding_.facts, or -1
    GnnEvaluator evaluator_;
    GnnBatch batch_;
    std::vector<std::uint32_t> order_;  // numbers as in encoding_.rank
    std::vector<float> values_;
    std::vector<Word> successors_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> true_rows_;  // into encoding_.facts, and the state
};

}  // namespace misstep
