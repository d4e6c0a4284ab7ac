#include "safety/fuzz.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace misstep::safety {

namespace {

// The standard's distributions differ between libraries; runs must not.
std::uint64_t below(std::mt19937_64& rng, std::uint64_t n) {
    const std::uint64_t limit = ~std::uint64_t{0} - ~std::uint64_t{0} % n;
    std::uint64_t x = rng();
    while (x >= limit) x = rng();
    return x % n;
}

double unit(std::mt19937_64& rng) {
    return static_cast<double>(rng() >> 11) * 0x1.0p-53;
}

}  // namespace

std::span<const StateId> Fuzzer::successors(StateId s) {
    if (game_.leaf(s) != Leaf::none) return {};
    Moves moves = game_.moves(s);
    // A policy that chooses nothing, or something that is not applicable, goes nowhere.
    return moves.policy_first() ? moves[0].outcomes : std::span<const StateId>{};
}

Run Fuzzer::run(StateId start, Meter& meter) {
    Run run{RunEnd::steps, {start}};
    while (game_.leaf(run.states.back()) != Leaf::unsafe) {
        meter.look(game_.bytes());
        if (run.states.size() > options_.max_steps) return run;
        auto end =
            options_.strategy == Strategy::uniform ? extend_uniform(run.states) : extend(run.states, meter);
        if (!end) continue;
        run.end = *end;
        return run;
    }
    run.end = RunEnd::unsafe;
    return run;
}

bool Fuzzer::stops(StateId s) {
    if (game_.leaf(s) != Leaf::none) return false;
    Moves moves = game_.moves(s);
    return moves.size() > 0 && !moves.policy_first();
}

std::optional<RunEnd> Fuzzer::extend_uniform(std::vector<StateId>& path) {
    const StateId s = path.back();
    auto outcomes = successors(s);
    if (outcomes.empty()) return RunEnd::exhausted;
    game_.weights(s, game_.moves(s)[0], weights_);
    path.push_back(outcomes[weights_.empty() ? below(rng_, outcomes.size()) : draw(weights_)]);
    return std::nullopt;
}

std::optional<RunEnd> Fuzzer::extend(std::vector<StateId>& path, Meter& meter) {
    seen_.assign(1, {path.back(), 0});
    const bool again = std::find(path.begin(), path.end() - 1, path.back()) != path.end() - 1;
    if (++mark_ == 0) {
        std::fill(marks_.begin(), marks_.end(), 0);
        mark_ = 1;
    }
    auto visit = [this](StateId s) {
        if (marks_.size() <= s) marks_.resize(std::max<std::size_t>(game_.size(), s + 1), 0);
        return std::exchange(marks_[s], mark_) != mark_;
    };
    visit(path.back());
    std::size_t first = 0;  // of the last layer
    for (std::uint32_t d = 1; !options_.depth || d <= *options_.depth; ++d) {
        const std::size_t last = seen_.size();
        for (std::size_t i = first; i < last; ++i) {
            meter.tick();
            for (StateId t : successors(seen_[i].state)) {
                if (!visit(t)) continue;
                seen_.push_back({t, static_cast<std::uint32_t>(i)});
                if (game_.leaf(t) == Leaf::unsafe) {
                    append(path, seen_.size() - 1);
                    return std::nullopt;
                }
            }
            if (seen_.size() > options_.max_lookahead) return RunEnd::lookahead;
        }
        if (seen_.size() == last) {  // all that the policy can reach was seen
            // A run that may come to where there is no decision is not safe for ever: it goes there.
            auto end = std::find_if(seen_.begin(), seen_.end(), [this](Seen at) { return stops(at.state); });
            if (end != seen_.end()) append(path, static_cast<std::size_t>(end - seen_.begin()));
            return RunEnd::exhausted;
        }
        first = last;
        double least = game_.distance(seen_[first].state);
        std::size_t ties = 0;
        for (std::size_t i = first; i < seen_.size(); ++i) {
            double h = game_.distance(seen_[i].state);
            ties = h < least ? 1 : h == least ? ties + 1 : ties;
            least = std::min(least, h);
        }
        // A run that came back to a state could follow unique minima forever: then look at everything
        // instead.
        if (ties == 1 && !(again && !options_.depth)) break;
    }
    append(path, options_.strategy == Strategy::greedy ? pick_least(first) : pick_weighted());
    return std::nullopt;
}

std::size_t Fuzzer::pick_least(std::size_t first) {
    std::vector<std::size_t> best;
    double least = 0;
    for (std::size_t i = first; i < seen_.size(); ++i) {
        double h = game_.distance(seen_[i].state);
        if (best.empty() || h < least) best.clear(), least = h;
        if (h == least) best.push_back(i);
    }
    return best[below(rng_, best.size())];
}

std::size_t Fuzzer::pick_weighted() {
    // Relative to the least, or everything underflows where all are far away.
    double least = game_.distance(seen_[1].state);
    for (std::size_t i = 1; i < seen_.size(); ++i) least = std::min(least, game_.distance(seen_[i].state));
    if (std::isinf(least)) return 1 + below(rng_, seen_.size() - 1);
    weights_.clear();
    for (std::size_t i = 1; i < seen_.size(); ++i)
        weights_.push_back(std::exp((least - game_.distance(seen_[i].state)) / options_.temperature));
    return 1 + draw(weights_);
}

// An index, with these weights; their sums take their place.
std::size_t Fuzzer::draw(std::vector<double>& weights) {
    std::partial_sum(weights.begin(), weights.end(), weights.begin());
    const double x = unit(rng_) * weights.back();
    auto at = static_cast<std::size_t>(std::upper_bound(weights.begin(), weights.end(), x) - weights.begin());
    return std::min(at, weights.size() - 1);
}

void Fuzzer::append(std::vector<StateId>& path, std::size_t index) {
    std::vector<StateId> tail;
    for (; index != 0; index = seen_[index].parent) tail.push_back(seen_[index].state);
    path.insert(path.end(), tail.rbegin(), tail.rend());
}

}  // namespace misstep::safety
