// A lower bound on h* by table lookup: distances in abstractions that are built once for a task.
#pragma once

#include "factors/factors.hpp"
#include "heuristics/heuristic.hpp"

namespace misstep {

struct AbstractionOptions {
    std::int32_t max_states = 20'000;
    std::uint64_t max_transitions = 1'000'000;
    MergeOrder order = MergeOrder::kNewestFirst;
    Budget budget;  // its effort are the states and transitions of all products
};

// Merge-and-shrink (Helmert, Haslum, Hoffmann & Nissim 2014) with bisimulation shrinking and exact label
// reduction. Where a limit ends the merging, several factors are left and the best of their distances counts.
class Abstraction {
  public:
    Abstraction(const StateSpace& space, const AbstractionOptions& options);

    // The largest distance of a factor; infinity where one of them proves that there is no plan, 0 where the
    // state cannot be reached from the task's initial state and the abstraction does not speak of it.
    Cost value(const Word* state) const;

    const FactoredTask& task() const { return task_; }
    LimitHit limit() const { return task_.limit; }
    double seconds() const { return seconds_; }

  private:
    const StateSpace& space_;
    FactoredTask task_;
    double seconds_ = 0;
};

class AbstractionHeuristic final : public Heuristic {
  public:
    explicit AbstractionHeuristic(std::shared_ptr<const Abstraction> abstraction)
        : abstraction_(std::move(abstraction)) {}
    using Heuristic::evaluate;
    Cost evaluate(const Word* state) override { return abstraction_->value(state); }
    bool is_admissible() const override { return true; }
    bool is_consistent() const override { return true; }

  private:
    std::shared_ptr<const Abstraction> abstraction_;
};

}  // namespace misstep
