// The common fixed point of all factors and of label dominance.
#pragma once

#include "dominance/relation.hpp"

namespace misstep {

// What labels are worth against each other outside a factor: sums of D_j^L over the other factors.
class LabelDominance {
  public:
    // `is_check`: values may lie below the truncation.
    LabelDominance(const FactoredTask& task, std::vector<Relation>& relations, bool is_check);

    // Takes over the factors' values and tells them how their labels may be answered now.
    // `is_changed` says which factors changed since the last time. What ended it early.
    LimitHit update(const std::vector<bool>& is_changed, BudgetWatch& watch);

    // D_j^L between two labels; kNoLabel stands for doing nothing.
    DominanceValue value(std::size_t factor, LabelId label, LabelId other) const;

  private:
    GroupId group(std::size_t factor, LabelId label) const {
        return label == kNoLabel ? kIdentity : task_.factors[factor].group_of[label];
    }
    void collect(LabelId label, std::vector<std::vector<std::vector<Answers>>>& ways);

    const FactoredTask& task_;
    std::vector<Relation>& relations_;
    std::vector<std::vector<DominanceValue>> values_;  // by factor: label group * groups + other group
    std::vector<std::vector<std::size_t>> relevant_;   // factors, by label
    std::vector<std::vector<LabelId>> candidates_;  // that may still answer a label somewhere, after a look
    std::vector<DominanceValue> worst_useful_;      // by factor: a bonus below is of no use
};

// Lowers the relations to their greatest common fixed point. Where a limit is hit they are left half done:
// then only Relation::fall_back is sound.
LimitHit find_fixed_point(const FactoredTask& task, std::vector<Relation>& relations, BudgetWatch& watch);

// Whether nothing can be lowered in relations that were loaded.
bool is_fixed_point(const FactoredTask& task, std::vector<Relation>& relations);

}  // namespace misstep
