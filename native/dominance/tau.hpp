// Tau moves: how a factor can be moved while all others end up where they were.
#pragma once

#include "factors/factors.hpp"

namespace misstep {

// A transition of a label that the other factors can always allow: they go where the label needs them and
// come back, by tau moves of their own. `cost` includes that, for the worst of their states.
struct TauEdge {
    std::int32_t from, to;
    Cost cost;
    LabelId label;
    std::uint32_t level;  // the moves of the other factors have lower levels, so that expanding one ends
};

// Farther counts as never. As far as values of D go, or what follows from two of them would promise moves
// that are not known.
inline constexpr Cost kMaxTauCost = (1 << 28) - 1;

class TauMoves {
  public:
    // Every level is sound by itself: a limit leaves fewer moves.
    TauMoves(const FactoredTask& task, BudgetWatch& watch);

    // One edge on a cheapest path for each pair of states that has one.
    const std::vector<TauEdge>& edges(std::size_t factor) const { return useful_edges_[factor]; }
    // The cost of going from one state to another; kInfinity where tau moves do not lead there.
    Cost distance(std::size_t factor, std::int32_t from, std::int32_t to) const {
        return distances_[factor][static_cast<std::size_t>(from) * sizes_[factor] + to];
    }
    const std::vector<Cost>& distances(std::size_t factor) const { return distances_[factor]; }
    LimitHit limit() const { return limit_; }

    // A cheapest path by edges below a level.
    std::vector<TauEdge> path(std::size_t factor, std::int32_t from, std::int32_t to,
                              std::uint32_t below_level) const;
    // The transition of the label that is cheapest to go to from `at` and to come back from, by edges below a
    // level.
    Transition detour(const FactoredTask& task, std::size_t factor, LabelId label, std::int32_t at,
                      std::uint32_t below_level) const;
    std::vector<Cost> distances_from(std::size_t factor, std::int32_t from, std::uint32_t below_level,
                                     std::vector<TauEdge>* reached_by) const;

  private:
    bool add_labels(const FactoredTask& task, std::size_t factor, std::uint32_t level);
    void compute_distances(std::size_t factor, BudgetWatch& watch);
    void compute_detours(const FactoredTask& task, std::size_t factor, BudgetWatch& watch);
    void keep_useful_edges(std::size_t factor);

    std::vector<std::size_t> sizes_;
    std::vector<std::vector<TauEdge>> edges_;  // of all levels, sorted by from
    std::vector<std::vector<TauEdge>> useful_edges_;
    std::vector<std::vector<Cost>> distances_;    // from * size + to
    std::vector<std::vector<Cost>> label_cost_;   // of a label as tau label of a factor
    std::vector<std::vector<Cost>> detour_cost_;  // of a group of a factor: there and back, worst case
    LimitHit limit_ = LimitHit::kNone;
};

}  // namespace misstep
