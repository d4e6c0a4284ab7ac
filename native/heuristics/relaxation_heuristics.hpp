// h^max, h^add and h^FF: heuristics that one relaxed exploration gives.
#pragma once

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

class HMax final : public RelaxationHeuristic {
  public:
    explicit HMax(const StateSpace& space) : task_(space), exploration_(task_) {}
    using Heuristic::evaluate;
    Cost evaluate(const Word* state) override { return exploration_.explore(state, task_.goal); }
    void pairwise(std::span<const Word* const> sources, std::span<const Word* const> targets,
                  Cost* values) override;
    bool is_admissible() const override { return true; }
    bool is_consistent() const override { return true; }

  private:
    RelaxedTask task_;
    RelaxedExploration<Combine::kMax> exploration_;
};

class HAdd final : public RelaxationHeuristic {
  public:
    explicit HAdd(const StateSpace& space) : task_(space), exploration_(task_) {}
    using Heuristic::evaluate;
    Cost evaluate(const Word* state) override { return exploration_.explore(state, task_.goal); }
    void pairwise(std::span<const Word* const> sources, std::span<const Word* const> targets,
                  Cost* values) override;
    bool is_admissible() const override { return false; }
    bool is_consistent() const override { return false; }

  private:
    RelaxedTask task_;
    RelaxedExploration<Combine::kSum> exploration_;
};

// The cost of a relaxed plan whose supporters are best by h^add (Hoffmann & Nebel 2001; Keyder & Geffner
// 2008).
class HFF final : public RelaxationHeuristic {
  public:
    explicit HFF(const StateSpace& space) : task_(space), exploration_(task_), plan_(task_) {}
    using Heuristic::evaluate;
    Cost evaluate(const Word* state) override;
    void pairwise(std::span<const Word* const> sources, std::span<const Word* const> targets,
                  Cost* values) override;
    bool is_admissible() const override { return false; }
    bool is_consistent() const override { return false; }

    // The actions behind the last evaluate() of a single state that was finite.
    const std::vector<std::int32_t>& relaxed_plan() const { return plan_.actions(); }

  private:
    RelaxedTask task_;
    RelaxedExploration<Combine::kSum> exploration_;
    RelaxedPlan plan_;
};

}  // namespace misstep
