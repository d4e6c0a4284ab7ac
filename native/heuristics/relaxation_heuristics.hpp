// h^max, h^add and h^FF: heuristics that one relaxed exploration gives.
#pragma once

#include <memory>

#include "heuristics/batch_exploration.hpp"
#include "heuristics/exploration.hpp"
#include "heuristics/heuristic.hpp"
#include "heuristics/relaxed_plan.hpp"

namespace misstep {

// A heuristic that can also estimate the way to any full state instead of the goal.
class RelaxationHeuristic : public Heuristic {
  public:
    // values[i * targets.size() + k]: from sources[i] to targets[k]. One exploration a source.
    virtual void pairwise(std::span<const Word* const> sources, std::span<const Word* const> targets,
                          Cost* values) = 0;
};

// h^max and h^add: the estimate is what the exploration says of the goal.
template <Combine kCombine>
class ExplorationHeuristic final : public RelaxationHeuristic {
  public:
    explicit ExplorationHeuristic(const StateSpace& space)
        : task_(space), exploration_(task_), batch_(BatchExploration::make(task_)) {}
    Cost evaluate(const Word* state) override { return exploration_.explore(state, task_.goal); }
    void evaluate(std::span<const Word* const> states, Cost* values) override;
    void pairwise(std::span<const Word* const> sources, std::span<const Word* const> targets,
                  Cost* values) override;
    bool is_admissible() const override { return kCombine == Combine::kMax; }
    bool is_consistent() const override { return kCombine == Combine::kMax; }

  private:
    RelaxedTask task_;
    RelaxedExploration<kCombine> exploration_;
    std::unique_ptr<BatchExploration> batch_;
};

using HMax = ExplorationHeuristic<Combine::kMax>;
using HAdd = ExplorationHeuristic<Combine::kSum>;
extern template class ExplorationHeuristic<Combine::kMax>;
extern template class ExplorationHeuristic<Combine::kSum>;

// The cost of a relaxed plan whose supporters are best by h^add (Hoffmann & Nebel 2001; Keyder & Geffner
// 2008).
class HFF final : public RelaxationHeuristic {
  public:
    explicit HFF(const StateSpace& space);
    Cost evaluate(const Word* state) override;
    void evaluate(std::span<const Word* const> states, Cost* values) override;
    void pairwise(std::span<const Word* const> sources, std::span<const Word* const> targets,
                  Cost* values) override;
    bool is_admissible() const override { return false; }
    bool is_consistent() const override { return false; }

    // The actions behind the last evaluate() of a single state that was finite.
    const std::vector<std::int32_t>& relaxed_plan() const { return plan_.actions(); }

  private:
    Cost extract(std::span<const FactId> goal);
    Cost extract(std::span<const FactId> goal, std::size_t lane);

    RelaxedTask task_;
    RelaxedExploration<Combine::kSum> exploration_;
    RelaxedPlan plan_;
    std::unique_ptr<BatchExploration> batch_;
};

}  // namespace misstep
