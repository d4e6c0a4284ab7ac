// A task as a product of labelled transition systems (factors), merged and simplified without loss.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "state/successor_generator.hpp"
#include "util/budget.hpp"

namespace misstep {

struct Transition {
    std::int32_t from, to;
    friend auto operator<=>(const Transition&, const Transition&) = default;
};

using Transitions = std::vector<Transition>;  // sorted, each once

// What a projection says of states that have no abstract state any more; both are negative.
inline constexpr std::int32_t kPruned = -1;  // no reachable state is there
inline constexpr std::int32_t kDead = -2;    // no state that is there has a plan
using GroupId = std::int32_t;
inline constexpr GroupId kIdentity = 0;  // labels that change nothing in a factor and apply everywhere
using LabelId = std::uint32_t;
inline constexpr LabelId kNoLabel = ~LabelId{0};

// From a state's values to an abstract state, by tables: a variable, or a pair of smaller projections.
struct Projection {
    int variable = -1;  // of a leaf
    std::unique_ptr<Projection> left, right;
    std::int32_t right_size = 0;
    std::vector<std::int32_t>
        table;  // by value, or by left * right_size + right; kPruned or kDead where there is none

    std::int32_t operator()(const StatePacker& packer, const Word* state) const;
    void collect_variables(std::vector<int>& out) const;
};

// Labels with the same transitions in a factor form a group of it.
struct Factor {
    std::int32_t num_states = 0;
    std::int32_t initial = kPruned;
    std::vector<std::uint8_t> is_goal;
    std::vector<Cost> goal_distance;  // h* inside the factor, kept at most kMaxCost
    std::vector<GroupId> group_of;    // by label
    std::vector<Transitions> groups;  // that of kIdentity is left empty
    Projection projection;
    std::optional<std::uint64_t> serial;  // by age; none while it is not certain to stay

    bool is_relevant(LabelId label) const { return group_of[label] != kIdentity; }
};

// Actions that no factor can tell apart, or that exact label reduction made one (Sievers, Wehrle & Helmert
// 2014).
struct Label {
    Cost cost;
    std::vector<ActionId> actions;
};

// What is merged: pairs with the best DFP score, of which there are many, or something simpler.
enum class MergeOrder {
    // The newest factor first, variables from the last to the first, as in Fast Downward: variables that
    // others
    // depend on are merged last and stay free to move.
    kNewestFirst,
    kSmallestFirst,  // by the number of states of the product
    // No pairs: one variable after the other, those first that others depend on (the first ones of the task).
    kOneByOne,
};

struct FactorOptions {
    bool merged = true;
    MergeOrder order = MergeOrder::kNewestFirst;
    // Of a merged factor, counted for each label after exact label reduction; self-loops of irrelevant labels
    // are no transitions.
    std::uint64_t max_transitions = 10'000;
    // Where given, factors are shrunk before they are merged, so that no product has more states: bisimilar
    // states first, then others with the same goal distance, which loses information but stays admissible.
    std::optional<std::int32_t> max_states;
    bool keeps_steps = false;
    double max_work = std::numeric_limits<double>::infinity();  // of FactoredTask::work, the same everywhere
    // Replays that many merges instead of going on as long as possible.
    std::uint64_t max_merges = std::numeric_limits<std::uint64_t>::max();
};

// How the factors came about, for those who check it: states of a factor joined or dropped by a table, or
// first two factors merged into a new one (numbered after all before it) whose states the table gives, left *
// size + right.
struct FactorStep {
    std::uint64_t factor;                  // by serial
    std::optional<std::uint64_t> partner;  // of a merge
    std::vector<std::int32_t> table;       // new states, or kPruned or kDead
};

struct FactoredTask {
    std::vector<Label> labels;
    std::vector<Factor> factors;
    std::uint64_t num_merges = 0, next_serial = 0;
    std::uint64_t work = 0;            // states and transitions that were made or gone over
    LimitHit limit = LimitHit::kNone;  // ended the merging early
    bool keeps_steps = false;
    std::vector<FactorStep> steps;

    std::uint64_t num_transitions(const Factor& factor) const;
};

// Factors with dead and unreachable abstract states removed, labels reduced and bisimilar states joined.
FactoredTask make_factors(const StateSpace& space, const FactorOptions& options, BudgetWatch& watch);

// The simplifications, to a common fixed point; all of them keep every plan of every state that is reachable
// and solvable. Ends early where the budget is over: then some of them are not done.
void simplify(FactoredTask& task, BudgetWatch& watch);
// Joins states until there are at most `max_states`, those with the same goal distance and the most similar
// successors first; whether anything changed.
bool shrink(FactoredTask& task, Factor& factor, std::int32_t max_states);
// The product of two factors (first < second) becomes the last factor instead of them; false, with nothing
// changed, where it has more than `max_transitions` even before labels are reduced, or where the budget is or
// would be over, which `task.limit` says then.
bool merge(FactoredTask& task, std::size_t first, std::size_t second, std::uint64_t max_transitions,
           BudgetWatch& watch);

// Fills in what follows from transitions: equal groups become one, goal distances.
void regroup(Factor& factor, std::vector<Transitions> by_label_group, const std::vector<GroupId>& group_of);
void compute_goal_distances(const FactoredTask& task, Factor& factor);

}  // namespace misstep
