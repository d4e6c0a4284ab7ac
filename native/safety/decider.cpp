#include "safety/decider.hpp"

#include <algorithm>

#include "util/error.hpp"

namespace misstep::safety {

Answer Decider::decide(StateId s, std::uint32_t radius, const Budget& budget) {
    meter_.start(budget);
    return query(s, radius);
}

Answer Decider::query(StateId s, std::uint32_t radius) {
    Bounds& b = bounds(radius);
    std::uint32_t cap = b.cap(radius);
    LimitHit limit = LimitHit::kNone;
    try {
        meet(s, b);
        if (b.lower(s) < cap && b.upper(s) >= cap) {
            meter_.look(game_.bytes());
            solve(s, b, cap);
        }
    } catch (const OutOfBudget& hit) {
        limit = hit.limit;
    }
    Verdict verdict = b.lower(s) >= cap  ? Verdict::unsafe
                      : b.upper(s) < cap ? Verdict::safe
                                         : Verdict::unknown;
    if (verdict != Verdict::unknown) limit = LimitHit::kNone;
    return {verdict, limit, meter_.expansions(), meter_.seconds()};
}

std::optional<std::uint32_t> Decider::minimal_radius(StateId s, std::uint32_t most, const Budget& budget) {
    meter_.start(budget);
    if (query(s, infinite).verdict != Verdict::safe) return std::nullopt;
    for (std::uint32_t r = 0; r <= most; ++r) {
        Verdict verdict = query(s, r).verdict;
        if (verdict == Verdict::safe) return r;
        if (verdict == Verdict::unknown) return std::nullopt;
    }
    return std::nullopt;
}

std::vector<StrategyStep> Decider::strategy(StateId s, std::uint32_t radius, const Known& known) {
    Bounds& b = bounds(radius);
    meet(s, b);
    if (b.upper(s) >= b.cap(radius)) return {};
    return b.strategy(game_, s, known);
}

bool Decider::refuted(StateId s, std::uint32_t radius) {
    Bounds& b = bounds(radius);
    meet(s, b);
    return b.lower(s) >= b.cap(radius);
}

std::vector<RefutationStep> Decider::refutation(StateId s, std::uint32_t radius, const Known& known) {
    if (!refuted(s, radius)) return {};
    return bounds(radius).refutation(game_, s, radius, known);
}

Moves Decider::expand(StateId s, Bounds& bounds) {
    if (counted_.size() <= s) counted_.resize(std::max<std::size_t>(game_.size(), s + 1));
    if (!counted_[s]) {
        meter_.expand(game_.bytes() + finite_.bytes() + infinite_.bytes());
        counted_[s] = true;
        ++total_;
    } else {
        meter_.tick();
    }
    Moves moves = bounds.moves(game_, s);
    bounds.grow(game_.size());
    if (moves.size() == 0) bounds.settle_leaf(s);
    return moves;
}

Decider::Backup Decider::backup(StateId s, Bounds& bounds, std::uint32_t cap) {
    Moves moves = expand(s, bounds);
    Backup best{cap, infinite};
    if (moves.size() == 0) return {0, infinite};
    for (std::uint32_t i = 0; i < moves.size(); ++i) {
        Move move = moves[i];
        std::uint32_t value = bounds.cost(move);
        if (value >= best.value) continue;
        std::uint32_t worst = 0;
        for (StateId t : move.outcomes) {
            meet(t, bounds);
            worst = std::max(worst, bounds.lower(t));
            if (worst >= best.value) break;
        }
        if (worst < best.value && value + worst < best.value) best = {value + worst, i};
    }
    return best;
}

std::unique_ptr<Decider> make_decider(const std::string& name, Game& game, OutcomeOrder order) {
    if (name == "level") return make_level(game, order);
    if (name == "tarjan") return make_tarjan(game);
    if (name == "value-iteration") return make_value_iteration(game);
    if (name == "lao") return make_lao(game);
    if (name == "lrtdp") return make_lrtdp(game);
    if (name == "policy-iteration") return make_policy_iteration(game);
    throw InputError("unknown decider '" + name +
                     "'; known are level, tarjan, value-iteration, lao, lrtdp, policy-iteration");
}

}  // namespace misstep::safety
