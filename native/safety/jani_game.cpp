#include "safety/jani_game.hpp"

#include <algorithm>
#include <numeric>

#include "util/error.hpp"

namespace misstep::safety {

JaniGame::JaniGame(std::shared_ptr<jani::Model> model, Setup setup)
    : model_(std::move(model)),
      successors_(model_),
      distance_(*model_, successors_.program(), setup.unsafe, setup.epsilon, setup.normalised),
      policy_(std::move(setup.policy)),
      horizon_(setup.horizon),
      by_edge_(setup.by_edge) {
    unsafe_ = successors_.program().compile_condition(setup.unsafe);
    if (setup.goal) {
        goal_ = successors_.program().compile_condition(setup.goal);
        has_goal_ = true;
    }
}

Leaf JaniGame::classify(std::uint32_t model_state) {
    jani::Value* frame = successors_.load(model_state);
    if (successors_.program().test(unsafe_, frame)) return Leaf::unsafe;
    if (has_goal_ && successors_.program().test(goal_, frame)) return Leaf::goal;
    return Leaf::none;
}

StateId JaniGame::number(std::uint32_t model_state, std::uint32_t step) {
    if (!horizon_) {
        while (size() <= model_state) add_state(classify(static_cast<std::uint32_t>(size())));
        return model_state;
    }
    auto fresh = static_cast<StateId>(size());
    StateId s = numbers_.at(model_state, step, fresh);
    if (s != fresh) return s;
    Leaf leaf = classify(model_state);
    pairs_.emplace_back(model_state, step);
    return add_state(leaf == Leaf::none && step >= *horizon_ ? Leaf::goal : leaf);
}

void JaniGame::generate(StateId s, MoveSink& sink) {
    const std::uint32_t step = horizon_ ? pairs_[s].second + 1 : 0;
    successors_.expand(model_state(s));
    const auto& choices = successors_.choices();
    std::vector<std::uint32_t> labels;
    for (const auto& choice : choices) labels.push_back(choice.label);
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    for (std::uint32_t label : labels) {
        sink.begin(label);
        for (const auto& choice : choices) {
            if (choice.label != label) continue;
            for (std::uint32_t i = choice.first; i < choice.last; ++i)
                sink.outcome(number(successors_.outcomes()[i], step));
        }
    }
}

std::optional<std::uint32_t> JaniGame::ask(StateId s, std::vector<std::uint32_t>& labels) {
    if (!policy_ || labels.empty()) return std::nullopt;
    scores_.clear();
    std::sort(labels.begin(), labels.end());
    ++policy_calls_;
    const std::uint32_t label = policy_->choose(successors_.load(model_state(s)), labels, scores_);
    if (chosen_.size() <= s) chosen_.resize(std::max<std::size_t>(size(), s + 1), infinite);
    chosen_[s] = label;
    if (scores_.size() == labels.size()) {
        std::vector<std::size_t> order(labels.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [this](std::size_t a, std::size_t b) { return scores_[a] > scores_[b]; });
        std::vector<std::uint32_t> sorted;
        for (std::size_t i : order) sorted.push_back(labels[i]);
        labels = std::move(sorted);
    }
    return label == infinite ? std::nullopt : std::optional(label);
}

void JaniGame::weights(StateId s, const Move& move, std::vector<double>& weights) {
    weights.clear();
    if (!by_edge_) return;
    weights.resize(move.outcomes.size());
    successors_.expand(model_state(s));
    const auto& p = successors_.probabilities();
    for (const auto& choice : successors_.choices()) {
        if (choice.label != move.label) continue;
        const double sum = std::accumulate(p.begin() + choice.first, p.begin() + choice.last, 0.0);
        for (std::uint32_t i = choice.first; i < choice.last; ++i) {
            StateId t = number(successors_.outcomes()[i], horizon_ ? pairs_[s].second + 1 : 0);
            auto at = std::lower_bound(move.outcomes.begin(), move.outcomes.end(), t);
            weights[static_cast<std::size_t>(at - move.outcomes.begin())] += sum > 0 ? p[i] / sum : 0;
        }
    }
}

std::size_t JaniGame::bytes() const {
    return Game::bytes() + successors_.registry().bytes() + numbers_.bytes() + pairs_.capacity() * 8 +
           distances_.capacity() * 8 + chosen_.capacity() * 4;
}

std::optional<std::uint32_t> JaniGame::chosen(StateId s) {
    moves(s);
    if (s >= chosen_.size() || chosen_[s] == infinite) return std::nullopt;
    return chosen_[s];
}

double JaniGame::distance(StateId s) {
    if (distances_.size() <= s) distances_.resize(size(), -1);
    if (distances_[s] < 0) distances_[s] = distance_(successors_.load(model_state(s)));
    return distances_[s];
}

}  // namespace misstep::safety
