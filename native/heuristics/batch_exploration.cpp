#include "heuristics/batch_exploration.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace misstep {
namespace {

const BatchKernels& best_kernels() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return kAvx2Kernels;
#endif
    return kGenericKernels;
}

}  // namespace

std::unique_ptr<BatchExploration> BatchExploration::make(const RelaxedTask& task) {
    // Sums of costs above this would leave lanes to the one-state exploration all the time.
    constexpr Cost kMaxLaneCost = 200;
    if (task.num_actions > std::numeric_limits<Lane>::max() || task.max_cost > kMaxLaneCost) return nullptr;
    return std::unique_ptr<BatchExploration>(new BatchExploration(task));
}

BatchExploration::BatchExploration(const RelaxedTask& task)
    : task_(task),
      kernels_(best_kernels()),
      costs_(static_cast<std::size_t>(task.num_facts)),
      depths_(static_cast<std::size_t>(task.num_facts)),
      supporters_(static_cast<std::size_t>(task.num_facts)) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(task.num_actions));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::reverse(order);
    by_number_ = flattened(order);

    RelaxedExploration<Combine::kMax> exploration(task);
    exploration.explore(task.space.initial.data(), {});
    std::vector<Cost> reached_at(order.size());
    std::size_t most_preconditions = 0;
    for (std::int32_t a : order) {
        auto pre = task.precondition[static_cast<std::size_t>(a)];
        reached_at[static_cast<std::size_t>(a)] = exploration.estimate(pre);
        most_preconditions = std::max(most_preconditions, pre.size());
    }
    std::ranges::stable_sort(order, {},
                             [&](std::int32_t a) { return reached_at[static_cast<std::size_t>(a)]; });
    by_cost_ = flattened(order);
    std::erase_if(order, [&](std::int32_t a) { return task.cost[static_cast<std::size_t>(a)] > 0; });
    free_ = flattened(order);
    max_exact_ =
        static_cast<Lane>((kUnreached - 1 - task.max_cost) / static_cast<int>(most_preconditions + 1));
}

BatchExploration::Actions BatchExploration::flattened(const std::vector<std::int32_t>& order) const {
    Actions result;
    auto append = [&result](std::span<const std::int32_t> facts) {
        std::int32_t first = static_cast<std::int32_t>(result.facts.size());
        result.facts.insert(result.facts.end(), facts.begin(), facts.end());
        return first;
    };
    for (std::int32_t a : order) {
        std::size_t row = static_cast<std::size_t>(a);
        if (task_.effect[row].empty()) continue;
        std::int32_t first_precondition = append(task_.precondition[row]);
        std::int32_t first_effect = append(task_.effect[row]);
        result.actions.push_back({first_precondition, first_effect, a, static_cast<Lane>(task_.cost[row])});
    }
    std::int32_t end = static_cast<std::int32_t>(result.facts.size());
    result.actions.push_back({end, end, 0, 0});
    return result;
}

void BatchExploration::explore(std::span<const Word* const> states, Combine combine) {
    std::ranges::fill(costs_, Lanes{} + kUnreached);
    std::size_t width = static_cast<std::size_t>(task_.num_variables);
    state_facts_.resize(states.size() * width);
    for (std::size_t lane = 0; lane < states.size(); ++lane)
        task_.facts_of(states[lane], &state_facts_[lane * width]);
    for (std::size_t i = 0; i < state_facts_.size(); ++i) costs_.at(state_facts_[i], i / width) = 0;
    (combine == Combine::kSum ? kernels_.explore_sum : kernels_.explore_max)(by_cost_.view(), costs_.begin());
    Lanes largest{};
    for (const Lanes& costs : costs_) {
        Lanes reached = costs == kUnreached ? Lanes{} : costs;
        largest = reached > largest ? reached : largest;
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) exact_[lane] = largest[lane] <= max_exact_;
}

void BatchExploration::find_supporters() {
    std::size_t width = static_cast<std::size_t>(task_.num_variables);
    std::ranges::fill(supporters_, Lanes{} + static_cast<Lane>(kOfState - 1));
    for (std::size_t i = 0; i < state_facts_.size(); ++i)
        supporters_.at(state_facts_[i], i / width) = kOfState;
    if (!task_.has_zero_cost) {
        kernels_.supporters(by_number_.view(), costs_.begin(), supporters_.begin());
        return;
    }
    std::ranges::fill(depths_, Lanes{} + kUnreached);
    for (std::size_t i = 0; i < state_facts_.size(); ++i) depths_.at(state_facts_[i], i / width) = 0;
    kernels_.supporters_by_depth(by_number_.view(), free_.view(), costs_.begin(), depths_.begin(),
                                 supporters_.begin());
}

Cost BatchExploration::estimate(std::span<const FactId> goal, std::size_t lane, Combine combine) const {
    Cost total = 0;
    for (FactId fact : goal) {
        Cost c = cost(fact, lane);
        if (c == kInfinity) return kInfinity;
        total = combine == Combine::kSum ? add_costs(total, c) : std::max(total, c);
    }
    return total;
}

}  // namespace misstep
