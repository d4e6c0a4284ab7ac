#include "safety/bounds.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace misstep::safety {

void Bounds::grow(std::size_t states) {
    if (states <= lower_.size()) return;
    std::size_t size = std::max(states, lower_.size() * 2);
    lower_.resize(size, 0);
    upper_.resize(size, infinite);
    move_.resize(size, infinite);
    last_raise_.resize(size, infinite);
}

void Bounds::raise(StateId s, std::uint32_t value) {
    if (value <= lower_[s]) return;
    lower_[s] = value;
    log_.push_back({s, value, last_raise_[s]});
    last_raise_[s] = static_cast<std::uint32_t>(log_.size() - 1);
}

void Bounds::settle(StateId s, std::uint32_t value, std::uint32_t move) {
    if (value >= upper_[s]) return;
    upper_[s] = value;
    move_[s] = move;
}

std::uint32_t Bounds::first_raise(StateId s, std::uint32_t value) const {
    std::uint32_t at = last_raise_[s];
    std::uint32_t found = infinite;
    while (at != infinite && log_[at].value >= value) {
        found = at;
        at = log_[at].previous;
    }
    return found;
}

std::vector<StrategyStep> Bounds::strategy(Game& game, StateId start, const Known& known) const {
    std::vector<StrategyStep> steps;
    std::unordered_set<StateId> seen{start};
    std::vector<StateId> open{start};
    while (!open.empty()) {
        StateId s = open.back();
        open.pop_back();
        if (game.leaf(s) == Leaf::goal) {
            steps.push_back({s, 0, infinite});
            continue;
        }
        steps.push_back({s, upper_[s], move_[s]});
        if (move_[s] == infinite) continue;
        for (StateId t : moves(game, s)[move_[s]].outcomes)
            if (seen.insert(t).second && !(known && known(t, upper_[t]))) open.push_back(t);
    }
    return steps;
}

std::vector<RefutationStep> Bounds::refutation(Game& game, StateId start, std::uint32_t budget,
                                               const Known& known) const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, RefutationStep> steps;  // by log index, then budget
    if (game.leaf(start) == Leaf::unsafe) return {};
    std::vector<std::pair<StateId, std::uint32_t>> open{{start, counts_ ? budget : 0}};
    while (!open.empty()) {
        auto [s, b] = open.back();
        open.pop_back();
        std::uint32_t when = first_raise(s, b + 1);
        auto [place, added] = steps.try_emplace({when, b}, RefutationStep{s, b, {}});
        if (!added) continue;
        const Moves found = moves(game, s);
        for (std::uint32_t i = 0; i < found.size(); ++i) {
            Move move = found[i];
            if (cost(move) > b) continue;
            std::uint32_t left = b - cost(move);
            StateId answer = 0;
            std::uint32_t best = infinite;
            bool is_leaf = false;
            for (StateId t : move.outcomes) {
                if (game.leaf(t) == Leaf::unsafe) {
                    answer = t;
                    is_leaf = true;
                    break;
                }
                std::uint32_t at = first_raise(t, left + 1);
                if (at < when && at < best) best = at, answer = t;
            }
            place->second.answers.emplace_back(i, answer);
            if (!is_leaf && !(known && known(answer, left))) open.emplace_back(answer, left);
        }
    }
    std::vector<RefutationStep> result;
    for (auto& [key, step] : steps) result.push_back(std::move(step));
    return result;
}

}  // namespace misstep::safety
