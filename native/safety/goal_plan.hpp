// How likely the goal can be reached without any risk: among the moves that keep unsafe states avoidable,
// those that reach the goal most often. Looks at all that can be reached, once, and asks no policy.
#pragma once

#include <vector>

#include "safety/game.hpp"
#include "safety/meter.hpp"

namespace misstep::safety {

class GoalPlan {
  public:
    // Looks at no more than so many states; what was not looked at counts as lost, so that what is said of
    // the others stays true: they are safe, and their values are lower bounds.
    GoalPlan(Game& game, const std::vector<StateId>& starts, std::size_t max_states, const Budget& budget);

    // Whether everything was looked at and values are exact up to rounding; otherwise what ended it.
    bool complete() const { return limit_ == LimitHit::kNone; }
    LimitHit limit() const { return limit_; }
    std::size_t states() const { return found_.size(); }
    bool safe(StateId s) const { return s < lost_.size() && !lost_[s]; }
    // The probability of reaching the goal by the best safe moves; 0 in states that are not known to be safe.
    double value(StateId s) const { return s < values_.size() ? values_[s] : 0.0; }
    // The labels of the safe moves that attain it.
    std::vector<std::uint32_t> best(StateId s);
    // The one of them that is nearest to the goal: whoever takes it everywhere attains the value, which the
    // others alone do not promise (waiting may be as good as going, for ever). `infinite` where there is
    // none.
    std::uint32_t way(StateId s);

  private:
    void explore(const std::vector<StateId>& starts, std::size_t max_states);
    void lose();
    void raise_values();
    void measure_ways();
    // Calls visit(s), which says whether something changed, until nothing does; in both directions in turn.
    template <class Visit>
    void sweep(Visit visit);
    bool keeps_safe(const Move& move) const;
    double expected(StateId s, std::uint32_t index, const Move& move) const;
    bool is_best(StateId s, std::uint32_t index, const Move& move) const;
    std::uint32_t nearest(StateId s, std::uint32_t& label);

    Game& game_;
    Meter meter_;
    LimitHit limit_ = LimitHit::kNone;
    std::vector<StateId> found_;  // states with moves, in the order in which they were found
    std::vector<bool> lost_;
    std::vector<double> values_;
    std::vector<std::uint32_t> steps_;  // to the goal, by best moves
    // Where outcomes are not all alike: their probabilities, move after move, and where a state's begin.
    std::vector<double> weights_;
    std::vector<std::size_t> first_weight_;
};

}  // namespace misstep::safety
