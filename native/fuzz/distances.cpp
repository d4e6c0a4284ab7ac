// Where biases get their distances from: h^FF in batches, or bounded exact searches.
#include <algorithm>
#include <limits>

#include "fuzz/bias.hpp"
#include "search/open_list.hpp"
#include "search/search.hpp"

namespace misstep {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

double as_double(Cost cost) {
    return cost == kInfinity ? kInf : static_cast<double>(cost);
}

std::uint64_t pair_key(StateId from, StateId to) {
    return (static_cast<std::uint64_t>(from) << 32) | to;
}

// Remembers every value: runs of the same policy share most of their states.
class RememberedDistances : public Distances {
  public:
    explicit RememberedDistances(const PolicyGraph& graph) : graph_(graph) {}

    double to_goal(StateId from) final {
        if (auto known = goal_.find(from); known != goal_.end()) return known->second;
        return goal_.emplace(from, compute_to_goal(graph_.state(from))).first->second;
    }
    void to_states(StateId from, std::span<const StateId> targets, double* values) final {
        missing_.clear();
        pointers_.clear();
        for (std::size_t k = 0; k < targets.size(); ++k) {
            auto known = pairs_.find(pair_key(from, targets[k]));
            if (known != pairs_.end()) {
                values[k] = known->second;
            } else {
                missing_.push_back(k);
                pointers_.push_back(graph_.state(targets[k]));
            }
        }
        if (missing_.empty()) return;
        computed_.resize(missing_.size());
        compute_to_states(graph_.state(from), pointers_, computed_.data());
        for (std::size_t m = 0; m < missing_.size(); ++m) {
            values[missing_[m]] = computed_[m];
            pairs_.emplace(pair_key(from, targets[missing_[m]]), computed_[m]);
        }
    }

  protected:
    virtual double compute_to_goal(const Word* from) = 0;
    virtual void compute_to_states(const Word* from, std::span<const Word* const> targets,
                                   double* values) = 0;
    const PolicyGraph& graph_;

  private:
    std::unordered_map<StateId, double> goal_;
    std::unordered_map<std::uint64_t, double> pairs_;
    std::vector<std::size_t> missing_;
    std::vector<const Word*> pointers_;
    std::vector<double> computed_;
};

class FFDistances final : public RememberedDistances {
  public:
    explicit FFDistances(const PolicyGraph& graph) : RememberedDistances(graph), ff_(graph.space()) {}

    bool is_exact() const override { return false; }

  private:
    double compute_to_goal(const Word* from) override { return as_double(ff_.evaluate(from)); }
    void compute_to_states(const Word* from, std::span<const Word* const> targets, double* values) override {
        costs_.resize(targets.size());
        ff_.pairwise({&from, 1}, targets, costs_.data());
        std::ranges::transform(costs_, values, as_double);
    }
    HFF ff_;
    std::vector<Cost> costs_;
};

class StarDistances final : public RememberedDistances {
  public:
    StarDistances(const PolicyGraph& graph, std::uint64_t max_expansions)
        : RememberedDistances(graph),
          max_expansions_(max_expansions),
          lmcut_(make_heuristic(graph.space(), "lmcut")) {}
    bool is_exact() const override { return true; }
    bool bound_hit() const override { return bound_hit_; }

  private:
    double compute_to_goal(const Word* from) override {
        SearchOptions options;
        options.budget = budget_;
        options.budget.max_expansions = max_expansions_;
        SearchResult result = astar(graph_.space(), *lmcut_, from, options);
        if (result.outcome == SearchOutcome::kLimit) {
            if (result.limit != LimitHit::kExpansions) throw OutOfBudget(result.limit);
            bound_hit_ = true;
        }
        return as_double(result.lower_bound);
    }
    // Dijkstra's algorithm from the source until all targets are settled. Where the bound is hit first, the
    // others get the cost at which it was: no state that is left can be nearer.
    void compute_to_states(const Word* from, std::span<const Word* const> targets, double* values) override {
        const StateSpace& space = graph_.space();
        std::fill_n(values, targets.size(), kInf);
        StateRegistry registry(space.num_words(), 1);
        auto g = [&registry](StateId id) -> Cost& { return *reinterpret_cast<Cost*>(registry.extra(id)); };
        OpenList<TieBreak::kFirstIn> open;
        std::unordered_map<StateId, std::vector<std::size_t>> wanted;
        for (std::size_t k = 0; k < targets.size(); ++k) {
            StateId id = registry.insert(targets[k]).first;
            g(id) = kInfinity;
            wanted[id].push_back(k);
        }
        auto [start, is_new] = registry.insert(from);
        g(start) = 0;
        open.push(0, start);
        Budget budget = budget_;
        budget.max_expansions = max_expansions_;
        BudgetWatch watch(budget);
        std::uint64_t expanded = 0;
        std::vector<ActionId> actions;
        std::vector<Word> state(space.num_words()), successor(space.num_words());
        while (!open.empty() && !wanted.empty()) {
            Cost cost = static_cast<Cost>(open.min_key());
            StateId id = open.pop();
            if (g(id) < cost) continue;
            if (auto found = wanted.find(id); found != wanted.end()) {
                for (std::size_t k : found->second) values[k] = cost;
                wanted.erase(found);
            }
            if (LimitHit limit = watch.check(expanded++, registry.bytes(), 1); limit != LimitHit::kNone) {
                if (limit != LimitHit::kExpansions) throw OutOfBudget(limit);
                bound_hit_ = true;
                for (const auto& [_, ks] : wanted)
                    for (std::size_t k : ks) values[k] = cost;
                return;
            }
            state.assign(registry.state(id), registry.state(id) + space.num_words());
            actions.clear();
            space.generator.applicable(state.data(), actions);
            for (ActionId action : actions) {
                space.generator.apply(state.data(), action, successor.data());
                auto [next, fresh] = registry.insert(successor.data());
                Cost next_cost = add_costs(cost, space.task.actions[action].cost);
                if (!fresh && g(next) <= next_cost) continue;
                g(next) = next_cost;
                open.push(static_cast<std::uint64_t>(next_cost), next);
            }
        }
    }

    std::uint64_t max_expansions_;
    std::unique_ptr<Heuristic> lmcut_;
    bool bound_hit_ = false;
};

}  // namespace

std::unique_ptr<Distances> make_ff_distances(const PolicyGraph& graph) {
    return std::make_unique<FFDistances>(graph);
}

std::unique_ptr<Distances> make_star_distances(const PolicyGraph& graph, std::uint64_t max_expansions) {
    return std::make_unique<StarDistances>(graph, max_expansions);
}

}  // namespace misstep
