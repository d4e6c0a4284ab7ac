#include "fuzz/bias.hpp"

#include <algorithm>
#include <limits>

namespace misstep {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Prefix sums: cost of the run from s_0 to s_i.
std::vector<double> costs_from_start(std::span<const Cost> costs) {
    std::vector<double> result{0};
    for (Cost c : costs) result.push_back(result.back() + c);
    return result;
}

// The largest cost(s_i .. s_k) - distance, over i < k, where one exploration from `from(i, k)` serves many
// pairs.
double loopiness(std::span<const StateId> states, const std::vector<double>& cost, Distances& distances) {
    double best = -kInf;
    std::vector<double> values(states.size());
    for (std::size_t k = 1; k < states.size(); ++k) {
        distances.to_states(states[k], states.first(k), values.data());
        for (std::size_t i = 0; i < k; ++i) best = std::max(best, cost[k] - cost[i] - values[i]);
    }
    return best;
}

double detour(std::span<const StateId> states, const std::vector<double>& cost, Distances& distances) {
    double best = -kInf;
    std::vector<double> values(states.size());
    if (distances.is_exact()) {
        distances.to_states(states.front(), states.last(1), values.data());
        return cost.back() - values[0];
    }
    for (std::size_t i = 0; i + 1 < states.size(); ++i) {
        distances.to_states(states[i], states.subspan(i + 1), values.data());
        for (std::size_t k = i + 1; k < states.size(); ++k)
            best = std::max(best, cost[k] - cost[i] - values[k - i - 1]);
    }
    return best;
}

// max over i < k of (cost_k + h_k) - (cost_i + h_i): one pass with the least cost_i + h_i so far.
double surface(std::span<const StateId> states, const std::vector<double>& cost, Distances& distances) {
    double least = distances.to_goal(states[0]), best = -kInf;
    if (least == kInf) return -kInf;
    if (distances.is_exact()) return cost.back() + distances.to_goal(states.back()) - least;
    for (std::size_t k = 1; k < states.size(); ++k) {
        double h = distances.to_goal(states[k]);
        if (h == kInf) return kInf;
        best = std::max(best, cost[k] + h - least);
        least = std::min(least, cost[k] + h);
    }
    return best;
}

class PublishedBias final : public Bias {
  public:
    PublishedBias(const PolicyGraph& graph, BiasKind kind, std::unique_ptr<Distances> distances)
        : graph_(graph), kind_(kind), distances_(std::move(distances)) {}

    void weigh(std::span<const RunInfo> runs, const Budget& budget, double* values) override {
        distances_->spend(budget);
        for (const RunInfo& run : runs) {
            std::vector<StateId> trace = graph_.trace(run.start, run.steps);
            *values++ = bias_value(kind_, trace, graph_.step_costs(trace), *distances_);
        }
    }
    bool bound_hit() const override { return distances_->bound_hit(); }

  private:
    const PolicyGraph& graph_;
    BiasKind kind_;
    std::unique_ptr<Distances> distances_;
};

}  // namespace

std::unique_ptr<Bias> make_bias(const PolicyGraph& graph, BiasKind kind, BiasDistance distance,
                                std::uint64_t max_star_expansions) {
    if (kind == BiasKind::kNone) return nullptr;
    return std::make_unique<PublishedBias>(graph, kind,
                                           distance == BiasDistance::kFF
                                               ? make_ff_distances(graph)
                                               : make_star_distances(graph, max_star_expansions));
}

double bias_value(BiasKind kind, std::span<const StateId> states, std::span<const Cost> costs,
                  Distances& distances) {
    std::vector<double> cost = costs_from_start(costs);
    switch (kind) {
        case BiasKind::kNone:
            return 0;
        case BiasKind::kPlanLength:
            return cost.back();
        case BiasKind::kLoopiness:
            return loopiness(states, cost, distances);
        case BiasKind::kDetour:
            return detour(states, cost, distances);
        case BiasKind::kSurface:
            return surface(states, cost, distances);
    }
    return 0;
}

}  // namespace misstep
