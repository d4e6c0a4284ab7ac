// The plan neighbourhood graph (Nakhost & Mueller 2010): states around the plan with their cheapest known
// paths, grown until one of them leads to the goal more cheaply.
#pragma once

#include <memory>

#include "heuristics/heuristic.hpp"
#include "improve/improver.hpp"
#include "search/node_store.hpp"
#include "search/open_list.hpp"

namespace misstep {

// Two orders that fail on different tasks: nearest to the plan first, without any estimate, and along the
// cheapest path plus h^FF.
enum class ExpansionOrder { kNearest, kPromising };

// Keeps the cheapest known cost g of each state and reopens it where that falls. States with g >= the plan's
// cost are left out, so where nothing is left to expand there is no cheaper plan: every state on one would
// have been reached at its cost on that plan or below.
class Neighbourhood final : public Improver {
  public:
    Neighbourhood(const StateSpace& space, const Word* start, ExpansionOrder order);

    void adopt(const KnownPlan& plan) override;
    std::optional<std::vector<ActionId>> step(std::uint64_t max_expansions) override;
    bool has_more() const override { return !open_.empty(); }
    bool is_complete() const override { return true; }
    std::uint64_t expanded() const override { return expanded_; }
    std::size_t bytes() const override {
        return registry_bytes_ + (open_.size() + open_to_goal_.size()) * sizeof(StateId);
    }

  private:
    struct Node {
        StateId parent;
        ActionId action;
        StoredTotal g;
        Cost h;
        std::uint32_t position;       // the step of the plan at which its path left it
        std::uint32_t distance : 31;  // steps since
        std::uint32_t closed : 1;
    };

    void expand(StateId id);
    void reach(StateId from, ActionId action, const Word* state, std::uint64_t hash);
    void open_fresh();
    void push(StateId id);
    StateId pop();
    void rejoin(StateId id);
    void replay(StateId id);
    void found(StateId id, std::span<const ActionId> rest);

    const StateSpace& space_;
    ExpansionOrder order_;
    Cost cheapest_action_;
    std::unique_ptr<Heuristic> heuristic_;  // only for kPromising
    std::uint64_t evaluation_work_;
    NodeStore<Node> nodes_;
    Successors successors_;
    OpenList<TieBreak::kFirstIn> open_;
    OpenList<TieBreak::kFirstIn> open_to_goal_;  // the same states in another order; only for kPromising
    bool turn_ = false;
    std::uint64_t expanded_ = 0;
    std::size_t registry_bytes_ = 0;
    const KnownPlan* plan_ = nullptr;
    std::optional<std::vector<ActionId>> found_;
    Total best_ = kEndless;  // the plan's cost, or that of a cheaper one found in this step
    std::vector<StateId> fresh_;
    std::vector<const Word*> states_;
    std::vector<Cost> values_;
    std::vector<Word> here_, next_;
    std::vector<ActionId> replayed_;
};

}  // namespace misstep
