#include "policy_graph/lookahead.hpp"

#include <algorithm>
#include <unordered_map>

namespace misstep {
namespace {

struct Reached {
    StateId state;
    std::size_t parent;  // its place in the layer before
    ActionId action;
    Total g;
};

class Lookahead {
  public:
    Lookahead(PolicyGraph& graph, const LookaheadOptions& options)
        : graph_(graph),
          options_(options),
          bound_(options.bound),
          asked_before_(graph.states_asked()),
          watch_(options.budget) {
        for (const Action& action : graph.space().task.actions)
            cheapest_action_ = std::min(cheapest_action_, action.cost);
    }

    LookaheadResult run(StateId start) {
        layers_ = {{{start, 0, kNoAction, 0}}};
        if (graph_.space().is_goal(graph_.state(start))) {
            result_.cost = 0;
            return result_;
        }
        while (layers_.size() <= options_.depth && result_.limit == LimitHit::kNone) expand_layer();
        if (layers_.size() == options_.depth + 1) run_policy();
        return std::move(result_);
    }

  private:
    // Layer by layer instead of depth first: every state of a layer is kept once, with its cheapest path.
    void expand_layer() {
        const StateSpace& space = graph_.space();
        std::vector<Word> successor(space.num_words());
        std::vector<Reached> next;
        std::unordered_map<StateId, std::size_t> place;
        const std::vector<Reached>& layer = layers_.back();
        for (std::size_t at = 0; at < layer.size(); ++at) {
            result_.limit = watch_.check(0, graph_.bytes(), 100);
            if (next.size() > options_.max_leaves) result_.limit = LimitHit::kExpansions;
            if (result_.limit != LimitHit::kNone) break;
            actions_.clear();
            space.generator.applicable(graph_.state(layer[at].state), actions_);
            for (ActionId action : actions_) {
                Total g = layer[at].g + space.task.actions[action].cost;
                if (g >= bound_) continue;
                space.generator.apply(graph_.state(layer[at].state), action, successor.data());
                StateId id = graph_.insert(successor.data());
                Reached reached{id, at, action, g};
                if (space.is_goal(successor.data())) {
                    found(path_of(reached, layers_.size()), g);
                    continue;
                }
                auto [entry, is_new] = place.try_emplace(id, next.size());
                if (is_new)
                    next.push_back(reached);
                else if (g < next[entry->second].g)
                    next[entry->second] = reached;
            }
        }
        layers_.push_back(std::move(next));
    }

    // Cheap leaves first: what they bring makes the runs from the others shorter.
    void run_policy() {
        std::vector<Reached>& leaves = layers_.back();
        std::ranges::stable_sort(leaves, {}, &Reached::g);
        std::vector<StateId> starts;
        std::size_t at_once = kLeavesAtFirst, last = 0;
        for (std::size_t first = 0; first < leaves.size(); first = last) {
            last = std::min(first + at_once, leaves.size());
            at_once = std::min(at_once * 2, kLeavesAtOnce);
            if (leaves[first].g >= bound_) return;
            starts.clear();
            for (std::size_t i = first; i < last; ++i) starts.push_back(leaves[i].state);
            std::vector<RunInfo> runs = graph_.run(starts, max_steps(leaves[first].g), left());
            result_.leaves += runs.size();
            result_.asked = graph_.states_asked() - asked_before_;
            if (runs.empty()) {
                result_.limit = graph_.limit();
                return;
            }
            for (std::size_t i = first; i < last; ++i) {
                const RunInfo& run = runs[i - first];
                Total cost = leaves[i].g + run.cost;
                if (run.outcome != Outcome::kSolved || cost >= bound_) continue;
                std::vector<ActionId> plan = path_of(leaves[i], layers_.size() - 1);
                for (StateId id : graph_.trace(run.start, run.steps)) plan.push_back(graph_.action(id));
                plan.pop_back();  // the goal state has no action
                found(std::move(plan), cost);
            }
        }
    }

    Budget left() const {
        Budget budget = options_.budget;
        budget.max_expansions -= std::min(budget.max_expansions, result_.asked);
        return budget;
    }
    // A run that spends so many steps cannot stay below the bound.
    std::uint32_t max_steps(Total g) const {
        if (bound_ == kEndless || cheapest_action_ == 0) return options_.max_steps;
        std::uint64_t steps = static_cast<std::uint64_t>((bound_ - g - 1) / cheapest_action_);
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(steps, options_.max_steps));
    }
    void found(std::vector<ActionId> plan, Total cost) {
        result_.plan = std::move(plan);
        result_.cost = bound_ = cost;
    }
    std::vector<ActionId> path_of(const Reached& end, std::size_t layer) const {
        std::vector<ActionId> path;
        for (Reached at = end; at.action != kNoAction; at = layers_[--layer][at.parent])
            path.push_back(at.action);
        std::ranges::reverse(path);
        return path;
    }

    // The first runs are few, so that something is known before the budget is spent.
    static constexpr std::size_t kLeavesAtFirst = 8, kLeavesAtOnce = 256;

    PolicyGraph& graph_;
    const LookaheadOptions& options_;
    Total bound_;
    std::uint64_t asked_before_;
    BudgetWatch watch_;
    Cost cheapest_action_ = kMaxCost;
    std::vector<std::vector<Reached>> layers_;
    std::vector<ActionId> actions_;
    LookaheadResult result_;
};

}  // namespace

LookaheadResult lookahead(PolicyGraph& graph, StateId start, const LookaheadOptions& options) {
    return Lookahead(graph, options).run(start);
}

}  // namespace misstep
