#include "safety/goal_plan.hpp"

#include <algorithm>

namespace misstep::safety {

namespace {

// Values that differ by less count as equal: far below what any number of runs can show, far above rounding.
constexpr double kEqual = 1e-7;
constexpr double kSettled = 1e-9;

}  // namespace

GoalPlan::GoalPlan(Game& game, const std::vector<StateId>& starts, std::size_t max_states,
                   const Budget& budget)
    : game_(game) {
    meter_.start(budget);
    try {
        explore(starts, max_states);
        lose();
    } catch (const OutOfBudget& hit) {  // what is not known to be lost is not known to be safe either
        limit_ = hit.limit;
        lost_.assign(lost_.size(), true);
        return;
    }
    values_.assign(lost_.size(), 0.0);
    steps_.assign(lost_.size(), infinite);
    for (StateId s = 0; s < lost_.size(); ++s)
        if (!lost_[s] && game_.leaf(s) == Leaf::goal) {
            values_[s] = 1.0;
            steps_[s] = 0;
        }
    try {
        raise_values();
        measure_ways();
    } catch (const OutOfBudget& hit) {  // values are too low, and some states have no way
        limit_ = hit.limit;
    }
}

void GoalPlan::explore(const std::vector<StateId>& starts, std::size_t max_states) {
    std::vector<bool> seen;
    auto add = [&](StateId s) {
        if (s >= seen.size()) seen.resize(std::max<std::size_t>(game_.size(), s + 1));
        if (seen[s] || game_.leaf(s) != Leaf::none) return;
        seen[s] = true;
        found_.push_back(s);
    };
    for (StateId s : starts) add(s);
    std::size_t done = 0;
    std::vector<double> weights;
    for (; done < found_.size() && done < max_states; ++done) {
        const StateId s = found_[done];
        meter_.expand(game_.bytes() + weights_.capacity() * 8);
        Moves moves = game_.plain_moves(s);
        if (first_weight_.size() <= s) first_weight_.resize(std::max<std::size_t>(game_.size(), s + 1));
        first_weight_[s] = weights_.size();
        for (std::uint32_t i = 0; i < moves.size(); ++i) {
            for (StateId t : moves[i].outcomes) add(t);
            game_.weights(s, moves[i], weights);
            weights_.insert(weights_.end(), weights.begin(), weights.end());
        }
    }
    if (done < found_.size()) limit_ = LimitHit::kExpansions;
    lost_.assign(game_.size(), true);
    for (std::size_t i = 0; i < done; ++i) lost_[found_[i]] = false;
    for (StateId s = 0; s < lost_.size(); ++s)
        if (game_.leaf(s) == Leaf::goal) lost_[s] = false;
    found_.resize(done);
}

template <class Visit>
void GoalPlan::sweep(Visit visit) {
    bool changed = true;
    auto look = [&](StateId s) {
        meter_.tick();
        changed |= visit(s);
    };
    for (bool backwards = true; changed; backwards = !backwards) {
        changed = false;
        if (backwards)
            std::for_each(found_.rbegin(), found_.rend(), look);
        else
            std::for_each(found_.begin(), found_.end(), look);
    }
}

bool GoalPlan::keeps_safe(const Move& move) const {
    return std::none_of(move.outcomes.begin(), move.outcomes.end(), [&](StateId t) { return lost_[t]; });
}

void GoalPlan::lose() {
    sweep([&](StateId s) {
        if (lost_[s]) return false;
        Moves moves = game_.plain_moves(s);
        for (std::uint32_t i = 0; i < moves.size(); ++i)
            if (keeps_safe(moves[i])) return false;
        lost_[s] = moves.size() > 0;
        return moves.size() > 0;
    });
}

double GoalPlan::expected(StateId s, std::uint32_t index, const Move& move) const {
    double sum = 0;
    if (weights_.empty()) {
        for (StateId t : move.outcomes) sum += values_[t];
        return sum / static_cast<double>(move.outcomes.size());
    }
    std::size_t at = first_weight_[s];
    Moves moves = game_.plain_moves(s);
    for (std::uint32_t i = 0; i < index; ++i) at += moves[i].outcomes.size();
    double whole = 0;
    for (StateId t : move.outcomes) {
        sum += weights_[at] * values_[t];
        whole += weights_[at++];
    }
    return sum / whole;
}

void GoalPlan::raise_values() {
    sweep([&](StateId s) {
        if (lost_[s]) return false;
        Moves moves = game_.plain_moves(s);
        double most = values_[s];
        for (std::uint32_t i = 0; i < moves.size(); ++i)
            if (keeps_safe(moves[i])) most = std::max(most, expected(s, i, moves[i]));
        const bool rises = most > values_[s] + kSettled;
        values_[s] = most;
        return rises;
    });
}

bool GoalPlan::is_best(StateId s, std::uint32_t index, const Move& move) const {
    return keeps_safe(move) && expected(s, index, move) >= values_[s] - kEqual;
}

std::uint32_t GoalPlan::nearest(StateId s, std::uint32_t& label) {
    std::uint32_t least = infinite;
    label = infinite;
    Moves moves = game_.plain_moves(s);
    for (std::uint32_t i = 0; i < moves.size(); ++i) {
        if (!is_best(s, i, moves[i])) continue;
        for (StateId t : moves[i].outcomes)
            if (steps_[t] < least) {
                least = steps_[t];
                label = moves[i].label;
            }
    }
    return least;
}

void GoalPlan::measure_ways() {
    sweep([&](StateId s) {
        std::uint32_t label = infinite;
        if (lost_[s]) return false;
        const std::uint32_t least = nearest(s, label);
        if (least == infinite || least + 1 >= steps_[s]) return false;
        steps_[s] = least + 1;
        return true;
    });
}

std::vector<std::uint32_t> GoalPlan::best(StateId s) {
    std::vector<std::uint32_t> labels;
    if (!safe(s) || game_.leaf(s) != Leaf::none) return labels;
    Moves moves = game_.plain_moves(s);
    for (std::uint32_t i = 0; i < moves.size(); ++i)
        if (is_best(s, i, moves[i])) labels.push_back(moves[i].label);
    return labels;
}

std::uint32_t GoalPlan::way(StateId s) {
    std::uint32_t label = infinite;
    if (safe(s) && game_.leaf(s) == Leaf::none) nearest(s, label);
    return label;
}

}  // namespace misstep::safety
