// A policy on one task as a functional graph over states, explored when needed: each state is asked once,
// ever.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heuristics/heuristic.hpp"
#include "policy_graph/answer_book.hpp"
#include "policy_graph/policy.hpp"
#include "state/registry.hpp"
#include "util/budget.hpp"
#include "util/rng.hpp"

namespace misstep {

// How a run ends. kFailed: the policy gave no decision, so no more is known than of a run that a limit cut
// off.
enum class Outcome : std::uint8_t { kSolved, kLoop, kStuck, kIllegal, kDeadEnd, kFailed, kCutOff };

// Whether a run that ends so proves that the policy never reaches the goal from its start.
inline bool never_solves(Outcome outcome) {
    return outcome == Outcome::kLoop || outcome == Outcome::kStuck || outcome == Outcome::kIllegal ||
           outcome == Outcome::kDeadEnd;
}

struct RunInfo {
    StateId start;
    StateId last;  // where the run ended; the repeated state of a loop
    Outcome outcome;
    std::uint32_t steps;  // actions applied
    Total cost;           // of these actions
};

struct PolicyGraphOptions {
    bool detect_dead_ends = true;  // states with h^max = infinity end a run
    // Of every so many answers one state is asked again later, in other company; 0 never asks again. The
    // first states are asked again in any case, so that short runs are checked too.
    std::uint32_t recheck_every = 16;
    std::uint64_t seed = 0;  // of the choice of states that are asked again
    // The graph works ahead of another one with the same book: what that one has asked does not count here.
    bool is_ahead = false;
};

class PolicyGraph {
  public:
    PolicyGraph(const StateSpace& space, Policy& policy, const PolicyGraphOptions& options);

    // From now on, what others wrote into the book is not asked again, but counts as asked all the same. The
    // book must outlive the graph, or null be given before it ends.
    void share(AnswerBook* book) { book_ = book; }
    // Begins again without any state, but for what the book says.
    void forget();

    StateId insert(const Word* state);
    StateId size() const { return registry_.size(); }
    const Word* state(StateId id) const { return registry_.state(id); }
    const StateSpace& space() const { return space_; }

    // Follows the policy from all starts at once, at most max_steps actions each. The result of a run depends
    // on nothing but its start and max_steps. A limit that is hit leaves runs out: the result is shorter. The
    // expansions of the budget are states that the policy is asked about.
    // Throws FlakyPolicy where a state got two different answers.
    std::vector<RunInfo> run(std::span<const StateId> starts, std::uint32_t max_steps, const Budget& budget);
    LimitHit limit() const { return limit_; }  // of the last run()
    std::size_t bytes() const { return registry_.bytes(); }

    // The states of a run from `start` that was explored: start, after one action, ...: steps + 1 states.
    std::vector<StateId> trace(StateId start, std::uint32_t steps) const;
    // The costs of the actions between the states of a trace.
    std::vector<Cost> step_costs(std::span<const StateId> trace) const;
    // The answer for a state that was asked.
    ActionId action(StateId id) const { return node(id).action; }

    // How a run without a step limit ends, where that is known already.
    std::optional<Outcome> known_outcome(StateId id) const {
        return node(id).resolved ? std::optional(node(id).outcome) : std::nullopt;
    }

    std::uint64_t policy_calls() const { return policy_calls_; }
    std::uint64_t states_asked() const { return states_asked_; }
    double policy_seconds() const { return policy_seconds_; }

  private:
    // kOpen: neither a goal nor a dead end, but not asked yet.
    enum class Kind : std::uint8_t { kUnexplored, kOpen, kStep, kGoal, kDeadEnd, kStuck, kIllegal, kFailed };
    struct Node {
        ActionId action;
        StateId successor;
        std::uint32_t mark;  // the last evaluation that passed here
        // Known once a run from here was followed to its end.
        std::uint32_t steps_to_end;
        StoredTotal cost_to_end;
        StateId end;
        Kind kind;
        bool queued;  // for asking or classifying
        bool resolved;
        Outcome outcome;
    };
    static_assert(sizeof(Node) % sizeof(Word) == 0);

    Node& node(StateId id) { return *reinterpret_cast<Node*>(registry_.extra(id)); }
    const Node& node(StateId id) const { return *reinterpret_cast<const Node*>(registry_.extra(id)); }
    static bool is_end(Kind kind) { return kind > Kind::kStep; }
    static Outcome outcome_of(Kind end);

    void explore(std::span<const StateId> starts, std::uint32_t max_steps, BudgetWatch& watch);
    bool in_pieces(std::span<const StateId> states, BudgetWatch& watch,
                   void (PolicyGraph::*work)(std::span<const StateId>));
    void classify(std::span<const StateId> states);
    void ask(std::span<const StateId> states);
    void answer(StateId id, ActionId action);
    AnswerBook::Notes read_book(std::span<const StateId> states);
    // Valid until the next call.
    std::span<const Word* const> words_of(std::span<const StateId> states);
    void recheck_first_states(BudgetWatch& watch);
    void choose(std::span<const StateId> states);
    void compare(StateId id, ActionId again) const;
    RunInfo evaluate(StateId start, std::uint32_t max_steps);
    void resolve(Outcome outcome, StateId end, std::size_t first_of_loop);

    const StateSpace& space_;
    Policy& policy_;
    PolicyGraphOptions options_;
    AnswerBook* book_ = nullptr;
    StateRegistry registry_;
    std::unique_ptr<Heuristic> hmax_;
    Rng rng_;
    LimitHit limit_ = LimitHit::kNone;
    std::uint32_t evaluation_ = 0;  // numbers runs, for marks
    std::vector<StateId> path_;     // of the evaluation under way
    std::vector<StateId> asked_;    // those that got an answer, in this order
    std::uint64_t since_recheck_ = 0;
    std::size_t first_rechecked_ = 0;  // so many of asked_ were asked again as first states
    std::size_t first_rechecks_ = 0;   // answers that were compared for this
    std::uint64_t policy_calls_ = 0, states_asked_ = 0;
    static constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 62;  // leaves room for a sum
    std::uint64_t most_asked_ = kUnlimited;                              // states_asked_ of the run under way
    double policy_seconds_ = 0;
    // Scratch of classify() and ask().
    std::vector<const Word*> pointers_;
    std::vector<Cost> values_;
    std::vector<ActionId> answers_;
    std::vector<Word> successor_;
};

}  // namespace misstep
