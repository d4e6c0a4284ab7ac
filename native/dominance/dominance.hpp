// Dominance functions: D(s,t) <= h*(s) - h*(t) for all states s that have a plan (Torralba 2017).
#pragma once

#include "dominance/relation.hpp"

namespace misstep {

struct DominanceOptions {
    FactorOptions factors;
    // Merges in the order of `factors` only, instead of in all and keeping what knows most.
    bool one_order = false;
    Budget budget;
    bool fixed_point = true;  // otherwise only what tau moves give, until replace_values()
};

// A state beside another one, and its D(s,t).
struct Morph {
    std::vector<Word> state;
    Total value;
};

class Dominance {
  public:
    Dominance(Dominance&&) = default;

    std::size_t num_factors() const { return task_.factors.size(); }
    const FactoredTask& task() const { return task_; }
    const StateSpace& space() const { return space_; }
    const std::vector<DominanceValue>& values(std::size_t factor) const { return values_[factor]; }
    // What ended the computation early; the function is sound nevertheless, but knows less.
    LimitHit limit() const { return limit_; }
    // Whether it is only the distance by tau moves, since a limit was hit before the fixed point.
    bool is_fallback() const { return is_fallback_; }
    bool is_merged() const { return is_merged_; }
    MergeOrder order() const { return order_; }
    // The logarithm of the share of pairs of abstract states with D > -inf.
    double informedness() const;

    // The abstract states of a state, one a factor; negative where it is unreachable or dead there.
    void project(const Word* state, std::int32_t* out) const {
        for (std::size_t i = 0; i < task_.factors.size(); ++i)
            out[i] = task_.factors[i].projection(space_.packer, state);
    }
    // Between projected states; kNever for minus infinity. Speaks of s only where h*(s) is finite.
    Total value(const std::int32_t* s, const std::int32_t* t) const {
        Total sum = 0;
        for (std::size_t i = 0; i < values_.size(); ++i) {
            if (s[i] < 0 || t[i] < 0) return kNever;
            DominanceValue v = factor_value(i, s[i], t[i]);
            if (v == kNever) return kNever;
            sum += v;
        }
        return sum < -kFiniteLimit ? kNever : sum;
    }
    Total value(const Word* s, const Word* t) const;
    DominanceValue factor_value(std::size_t factor, std::int32_t s, std::int32_t t) const {
        if (values_[factor].empty()) return s == t ? 0 : kNever;  // there was no memory for more
        return values_[factor][static_cast<std::size_t>(s) * sizes_[factor] + static_cast<std::size_t>(t)];
    }
    // D_j^L between two labels; kNoLabel stands for doing nothing.
    DominanceValue label_value(std::size_t factor, LabelId label, LabelId other) const;
    // kNoLabel for actions that change no factor or that no plan needs.
    LabelId label_of(ActionId action) const { return label_of_[action]; }
    const TauMoves& tau() const { return *tau_; }

    // A plan of t with cost at most that of s's plan minus D(s,t), which must not be minus infinity. Throws
    // InputError where the plan is none of s, DominanceDefect where D promised too much.
    std::vector<ActionId> carry(const Word* s, const std::vector<ActionId>& plan, const Word* t) const;

    // At most so many single-variable neighbours s of t with D(s,t) > -inf, chosen at random. They need not
    // be reachable, nor solvable.
    std::vector<Morph> morph(const Word* t, std::size_t most, std::uint64_t seed) const;

    // Replaces the values by those of a file; throws InputError unless they satisfy the fixed point.
    void replace_values(std::vector<std::vector<DominanceValue>> values);

  private:
    friend Dominance make_dominance(const StateSpace& space, const DominanceOptions& options);
    // `is_optional`: somebody has a function already that goes before one that a limit ended early, so that
    // such a one is left without values.
    Dominance(const StateSpace& space, const DominanceOptions& options, BudgetWatch& watch, bool is_optional);
    void compute(const DominanceOptions& options, BudgetWatch& watch, bool is_optional);
    void take_values(const std::vector<Relation>& relations);
    void forget_values();

    const StateSpace& space_;
    FactoredTask task_;
    std::vector<std::size_t> sizes_;
    std::vector<std::vector<DominanceValue>> values_;        // by factor: s * size + t
    std::vector<std::vector<DominanceValue>> label_values_;  // by factor: group * groups + group
    std::vector<LabelId> label_of_;
    std::unique_ptr<TauMoves> tau_;
    LimitHit limit_ = LimitHit::kNone;
    bool is_fallback_ = false, is_merged_ = false;
    MergeOrder order_ = MergeOrder::kNewestFirst;
};

// The function for a task: of the merge orders the one that knows most. Where a limit ends all merged factors
// early, that of the atomic ones if there was time for it, otherwise distances by tau moves.
Dominance make_dominance(const StateSpace& space, const DominanceOptions& options);

}  // namespace misstep
