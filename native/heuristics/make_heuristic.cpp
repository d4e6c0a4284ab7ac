#include "heuristics/lmcut.hpp"
#include "heuristics/relaxation_heuristics.hpp"
#include "util/error.hpp"

namespace misstep {
namespace {

// The cheapest action's cost for states that are not goals: the best bound without looking at the state.
class Blind final : public Heuristic {
  public:
    explicit Blind(const StateSpace& space)
        : space_(space), min_cost_(space.task.actions.empty() ? 0 : space.task.min_action_cost()) {}
    using Heuristic::evaluate;
    Cost evaluate(const Word* state) override { return space_.is_goal(state) ? 0 : min_cost_; }
    bool is_admissible() const override { return true; }
    bool is_consistent() const override { return true; }

  private:
    const StateSpace& space_;
    Cost min_cost_;
};

}  // namespace

std::unique_ptr<Heuristic> make_heuristic(const StateSpace& space, std::string_view name) {
    if (name == "blind") return std::make_unique<Blind>(space);
    if (name == "hmax") return std::make_unique<HMax>(space);
    if (name == "hadd") return std::make_unique<HAdd>(space);
    if (name == "ff") return std::make_unique<HFF>(space);
    if (name == "lmcut") return std::make_unique<LMCut>(space);
    throw InputError("unknown heuristic '" + std::string(name) + "'; there are blind, hmax, hadd, ff, lmcut");
}

}  // namespace misstep
