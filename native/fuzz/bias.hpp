// Fuzzing biases: how promising a state looks by the shape of the policy's run from it (Eisenhut et al.
// 2024).
#pragma once

#include <exception>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "heuristics/relaxation_heuristics.hpp"
#include "policy_graph/policy_graph.hpp"
#include "util/budget.hpp"

namespace misstep {

enum class BiasKind { kNone, kPlanLength, kLoopiness, kDetour, kSurface };
enum class BiasDistance { kFF, kStar };

// Thrown where a budget ended before a distance was known.
struct OutOfBudget : std::exception {
    explicit OutOfBudget(LimitHit why) : limit(why) {}
    const char* what() const noexcept override { return "the budget ended before a distance was known"; }
    LimitHit limit;
};

// Estimates of the cost from a state to the goal or to other states, remembered by state id.
class Distances {
  public:
    virtual ~Distances() = default;
    // For what follows; its limit on expansions does not count. OutOfBudget where it ends.
    void spend(const Budget& budget) { budget_ = budget; }
    virtual double to_goal(StateId from) = 0;
    // values[k]: to targets[k].
    virtual void to_states(StateId from, std::span<const StateId> targets, double* values) = 0;
    // Exact distances need no maximum over segments for detour and surface (Propositions 2 and 4 of the
    // paper).
    virtual bool is_exact() const = 0;
    // Whether a bounded search gave up somewhere, so that a value is only a lower bound.
    virtual bool bound_hit() const { return false; }

  protected:
    Budget budget_;
};

std::unique_ptr<Distances> make_ff_distances(const PolicyGraph& graph);
// Exact, by searches of at most max_expansions each.
std::unique_ptr<Distances> make_star_distances(const PolicyGraph& graph, std::uint64_t max_expansions);

// The bias of a run's states s_0 .. s_n, n >= 1; costs[i] is the cost of the action from s_i.
double bias_value(BiasKind kind, std::span<const StateId> states, std::span<const Cost> costs,
                  Distances& distances);

// What the refined fuzzer asks for weights. The published biases are native; others are functions that a
// caller brings.
class Bias {
  public:
    virtual ~Bias() = default;
    // values[i]: how promising the start of runs[i] is. Every run has at least one step and has not failed;
    // all runs of one expansion come together, because a call into another language is expensive. OutOfBudget
    // where the budget ends first.
    virtual void weigh(std::span<const RunInfo> runs, const Budget& budget, double* values) = 0;
    // Whether a bounded search gave up somewhere, so that a value is only a lower bound.
    virtual bool bound_hit() const { return false; }
};

// A published bias; nullptr for kNone, where every state is as promising as any other.
std::unique_ptr<Bias> make_bias(const PolicyGraph& graph, BiasKind kind, BiasDistance distance,
                                std::uint64_t max_star_expansions);

}  // namespace misstep
