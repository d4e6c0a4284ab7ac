// Builds pools of test states by biased random walks: Algorithm 1 of Steinmetz et al. (2022, `classic`) and
// of Eisenhut et al. (2024, `refined`).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "fuzz/bias.hpp"
#include "fuzz/novelty.hpp"
#include "policy_graph/policy_graph.hpp"

namespace misstep {

enum class FuzzerKind { kClassic, kRefined };

struct FuzzerOptions {
    FuzzerKind kind = FuzzerKind::kRefined;
    std::uint32_t max_walk = 5;            // L
    std::uint32_t state_budget = 50;       // B_state: steps of one partial run
    std::uint32_t expansion_budget = 200;  // B_expansion: steps of all partial runs of one expansion
    std::uint32_t max_steps = 1000;        // of the whole runs that `classic` weighs
    int novelty = 0;                       // D; 0 is no filter
    // Walks in a row that add nothing before the pool counts as exhausted.
    std::uint64_t max_idle_walks = 20'000;
    std::uint64_t seed = 0;
};

// A test state and where it comes from: the actions that lead to it from an earlier pool state.
struct PoolEntry {
    StateId state;  // of the policy graph
    std::uint32_t parent;
    std::vector<ActionId> walk;
    std::uint64_t
        rng_after;  // where random numbers go on after the walk that made it: pools can be continued
};
inline constexpr std::uint32_t kNoParent = ~std::uint32_t{0};

enum class FuzzStop { kFull, kLimit, kExhausted };

class Fuzzer {
  public:
    // Starts from the pool {initial state}. Refers to the graph, which must outlive it. Without a bias every
    // successor is as promising as any other.
    Fuzzer(PolicyGraph& graph, const FuzzerOptions& options, std::unique_ptr<Bias> bias);

    const std::vector<PoolEntry>& pool() const { return pool_; }
    std::uint64_t walks() const { return walks_; }
    bool bound_hit() const { return bias_ && bias_->bound_hit(); }

    // Adds entries of an earlier session, in their order, and goes on where it stopped. False where the walk
    // does not lead from the parent to a state that is new.
    bool restore(std::uint32_t parent, const std::vector<ActionId>& walk, std::uint64_t rng_after);

    // Adds states until the pool has `size`, a limit is hit, or nothing new is found any more.
    FuzzStop extend(std::size_t size, const Budget& budget);
    LimitHit limit() const { return limit_; }  // where extend() said kLimit

  private:
    struct Candidate {
        ActionId action;
        StateId state;
    };
    enum class StepResult { kMoved, kNowhere, kLimit };

    bool add(StateId state, std::uint32_t parent, const std::vector<ActionId>& walk);
    StepResult walk_once(const Budget& budget);
    StepResult step(StateId& at, std::vector<ActionId>& walk, const Budget& budget);
    StepResult step_unbiased(StateId& at, std::vector<ActionId>& walk);
    StepResult weigh_refined(const Budget& budget);
    StepResult ask_bias(const Budget& budget);
    StepResult weigh_classic(const std::vector<ActionId>& walk, const Budget& budget);
    bool is_candidate(StateId state);
    bool is_dead_end(StateId state);
    void shuffled_actions(StateId at);
    StateId successor(StateId at, ActionId action);

    PolicyGraph& graph_;
    const StateSpace& space_;
    FuzzerOptions options_;
    Rng rng_;
    std::unique_ptr<Heuristic> hmax_;
    RelaxedTask relaxed_;
    std::optional<NoveltyTable> novelty_;
    std::unique_ptr<Bias> bias_;
    std::vector<PoolEntry> pool_;
    std::vector<bool> in_pool_;            // by graph state
    std::vector<std::uint8_t> candidate_;  // by graph state: unknown, yes, no
    std::vector<std::uint8_t> dead_end_;   // likewise
    std::uint64_t walks_ = 0;
    std::uint64_t idle_walks_ = 0;  // in a row, up to now
    LimitHit limit_ = LimitHit::kNone;
    std::vector<std::pair<StateId, std::vector<ActionId>>> failing_;  // what `classic` met on this walk
    // Scratch of one step.
    std::vector<ActionId> actions_;
    std::vector<Candidate> candidates_;
    std::vector<double> weights_;
    std::vector<RunInfo> runs_;  // those that the bias weighs, with their places among the weights
    std::vector<std::size_t> places_;
    std::vector<double> values_;
    std::vector<Word> successor_;
};

}  // namespace misstep
