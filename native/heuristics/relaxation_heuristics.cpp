#include "heuristics/relaxation_heuristics.hpp"

namespace misstep {
namespace {

// From so many states on a batch is faster than one by one.
constexpr std::size_t kMinBatch = 4;

// Splits `states` into groups for the lanes: `batch_lane(i, lane)` for every state of a group that was
// explored exactly, `single(i)` for the others.
template <class BatchLane, class Single>
void for_each_state(BatchExploration* batch, Combine combine, bool supporters,
                    std::span<const Word* const> states, BatchLane&& batch_lane, Single&& single) {
    std::size_t next = 0;
    while (batch != nullptr && states.size() - next >= kMinBatch) {
        std::size_t n = std::min<std::size_t>(kLanes, states.size() - next);
        batch->explore(states.subspan(next, n), combine);
        if (supporters) batch->find_supporters();
        for (std::size_t lane = 0; lane < n; ++lane, ++next)
            batch->is_exact(lane) ? batch_lane(next, lane) : single(next);
    }
    for (; next < states.size(); ++next) single(next);
}

// The facts of all targets, one row of task.num_variables facts a target.
class Targets {
  public:
    Targets(const RelaxedTask& task, std::span<const Word* const> targets)
        : width_(static_cast<std::size_t>(task.num_variables)), facts_(targets.size() * width_) {
        for (std::size_t k = 0; k < targets.size(); ++k)
            task.facts_of(targets[k], facts_.data() + k * width_);
    }
    std::span<const FactId> operator[](std::size_t k) const { return {facts_.data() + k * width_, width_}; }

  private:
    std::size_t width_;
    std::vector<FactId> facts_;
};

}  // namespace

template <Combine kCombine>
void ExplorationHeuristic<kCombine>::evaluate(std::span<const Word* const> states, Cost* values) {
    for_each_state(
        batch_.get(), kCombine, false, states,
        [&](std::size_t i, std::size_t lane) { values[i] = batch_->estimate(task_.goal, lane, kCombine); },
        [&](std::size_t i) { values[i] = evaluate(states[i]); });
}

template <Combine kCombine>
void ExplorationHeuristic<kCombine>::pairwise(std::span<const Word* const> sources,
                                              std::span<const Word* const> targets, Cost* values) {
    Targets goals(task_, targets);
    for_each_state(
        batch_.get(), kCombine, false, sources,
        [&](std::size_t i, std::size_t lane) {
            for (std::size_t k = 0; k < targets.size(); ++k)
                values[i * targets.size() + k] = batch_->estimate(goals[k], lane, kCombine);
        },
        [&](std::size_t i) {
            exploration_.explore(sources[i], {});
            for (std::size_t k = 0; k < targets.size(); ++k)
                values[i * targets.size() + k] = exploration_.estimate(goals[k]);
        });
}

template class ExplorationHeuristic<Combine::kMax>;
template class ExplorationHeuristic<Combine::kSum>;

HFF::HFF(const StateSpace& space)
    : task_(space), exploration_(task_), plan_(task_), batch_(BatchExploration::make(task_)) {}

Cost HFF::extract(std::span<const FactId> goal) {
    if (exploration_.estimate(goal) == kInfinity) return kInfinity;
    return plan_.extract(goal, [this](FactId fact) { return exploration_.supporter(fact); });
}

Cost HFF::extract(std::span<const FactId> goal, std::size_t lane) {
    if (batch_->estimate(goal, lane, Combine::kSum) == kInfinity) return kInfinity;
    return plan_.extract(goal, [this, lane](FactId fact) { return batch_->supporter(fact, lane); });
}

Cost HFF::evaluate(const Word* state) {
    exploration_.explore(state, task_.goal);
    return extract(task_.goal);
}

void HFF::evaluate(std::span<const Word* const> states, Cost* values) {
    for_each_state(
        batch_.get(), Combine::kSum, true, states,
        [&](std::size_t i, std::size_t lane) { values[i] = extract(task_.goal, lane); },
        [&](std::size_t i) { values[i] = evaluate(states[i]); });
}

void HFF::pairwise(std::span<const Word* const> sources, std::span<const Word* const> targets, Cost* values) {
    Targets goals(task_, targets);
    for_each_state(
        batch_.get(), Combine::kSum, true, sources,
        [&](std::size_t i, std::size_t lane) {
            for (std::size_t k = 0; k < targets.size(); ++k)
                values[i * targets.size() + k] = extract(goals[k], lane);
        },
        [&](std::size_t i) {
            exploration_.explore(sources[i], {});
            for (std::size_t k = 0; k < targets.size(); ++k)
                values[i * targets.size() + k] = extract(goals[k]);
        });
}

}  // namespace misstep
