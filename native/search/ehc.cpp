#include <new>

#include "search/node_store.hpp"

namespace misstep {
namespace {

class HillClimbing {
  public:
    HillClimbing(const StateSpace& space, Heuristic& heuristic, const SearchOptions& options)
        : space_(space), heuristic_(heuristic), watch_(options.budget), successors_(space, options) {}

    SearchResult run(const Word* start) {
        std::vector<Word> state(start, start + space_.num_words());
        result_.evaluated = 1;
        Cost h = heuristic_.evaluate(start);
        try {
            bool first_phase = true;
            result_.outcome = h == kInfinity ? SearchOutcome::kUnsolvable : SearchOutcome::kLimit;
            while (h != kInfinity) {
                if (space_.is_goal(state.data())) {
                    result_.outcome = SearchOutcome::kSolved;
                    result_.cost = plan_cost(space_.task, result_.plan);
                    break;
                }
                if (!climb(state, h)) {
                    // A first phase that runs dry has seen every state that might reach a goal.
                    if (result_.limit == LimitHit::kIncomplete && first_phase) {
                        result_.limit = LimitHit::kNone;
                        result_.outcome = SearchOutcome::kUnsolvable;
                    }
                    break;
                }
                first_phase = false;
            }
        } catch (const std::bad_alloc&) {
            result_.limit = LimitHit::kMemory;
        }
        if (result_.outcome != SearchOutcome::kSolved) result_.plan.clear();
        if (result_.outcome == SearchOutcome::kUnsolvable) result_.lower_bound = kInfinity;
        result_.seconds = watch_.seconds();
        return std::move(result_);
    }

  private:
    // Moves `state` to the nearest state that is strictly better, or is a goal; false where a limit was hit
    // or there is none.
    bool climb(std::vector<Word>& state, Cost& h) {
        NodeStore<Node> nodes(space_);
        nodes.node(nodes.registry().insert(state.data()).first) = {kNoState, kNoAction, 0};
        std::vector<StateId> queue(1, 0);
        for (std::size_t next = 0; next < queue.size(); ++next) {
            result_.bytes =
                std::max(result_.bytes, nodes.registry().bytes() + queue.size() * sizeof(StateId));
            result_.limit =
                watch_.check(result_.expanded, result_.bytes, 50 + space_.task.actions.size() / 2);
            if (result_.limit != LimitHit::kNone) return false;
            StateId id = queue[next];
            ++result_.expanded;
            successors_.generate(nodes.state(id), nodes.registry());
            result_.generated += successors_.size();
            for (std::size_t i = 0; i < successors_.size(); ++i) {
                auto [successor, is_new] = nodes.registry().insert(successors_.state(i), successors_.hash(i));
                if (!is_new) continue;
                ++result_.registered;
                ActionId action = successors_.action(i);
                nodes.node(successor) = {id, action,
                                         add_costs(nodes.node(id).g, space_.task.actions[action].cost)};
                ++result_.evaluated;
                Cost value = heuristic_.evaluate(nodes.state(successor));
                if (value == kInfinity) continue;
                queue.push_back(successor);
                if (value < h || space_.is_goal(nodes.state(successor))) {
                    std::vector<ActionId> steps = nodes.plan_to(successor);
                    result_.plan.insert(result_.plan.end(), steps.begin(), steps.end());
                    state.assign(nodes.state(successor), nodes.state(successor) + space_.num_words());
                    h = value;
                    return true;
                }
            }
        }
        result_.limit = LimitHit::kIncomplete;
        return false;
    }

    const StateSpace& space_;
    Heuristic& heuristic_;
    BudgetWatch watch_;
    Successors successors_;
    SearchResult result_;
};

}  // namespace

SearchResult ehc(const StateSpace& space, Heuristic& heuristic, const Word* start,
                 const SearchOptions& options) {
    return HillClimbing(space, heuristic, options).run(start);
}

}  // namespace misstep
