#include "heuristics/lmcut.hpp"

#include <algorithm>

namespace misstep {

LMCut::LMCut(const StateSpace& space)
    : task_(space),
      start_fact_(task_.num_facts),
      goal_fact_(task_.num_facts + 1),
      state_facts_(static_cast<std::size_t>(task_.num_variables)) {
    std::vector<std::vector<std::int32_t>> pre, eff;
    for (std::size_t a = 0; a < static_cast<std::size_t>(task_.num_actions); ++a) {
        auto p = task_.precondition[a];
        auto e = task_.effect[a];
        pre.emplace_back(p.begin(), p.end());
        eff.emplace_back(e.begin(), e.end());
        if (p.empty()) pre.back().push_back(start_fact_);
        fresh_actions_.push_back({task_.cost[a], static_cast<std::int32_t>(pre.back().size()), 0, 0});
    }
    pre.push_back(task_.goal);
    if (task_.goal.empty()) pre.back().push_back(start_fact_);
    eff.push_back({goal_fact_});
    fresh_actions_.push_back({0, static_cast<std::int32_t>(pre.back().size()), 0, 0});
    std::size_t num_facts = static_cast<std::size_t>(task_.num_facts) + 2;
    precondition_ = rows_from(pre);
    effect_ = rows_from(eff);
    needed_by_ = inverted(precondition_, num_facts);
    achieved_by_ = inverted(effect_, num_facts);
    facts_.resize(num_facts);
    fresh_free_achievers_.resize(num_facts);
    for (std::size_t a = 0; a < fresh_actions_.size(); ++a)
        if (fresh_actions_[a].cost == 0)
            for (FactId fact : effect_[a]) ++fresh_free_achievers_[fact];
    free_achievers_.resize(num_facts);
    actions_.resize(fresh_actions_.size());
    zone_.resize(num_facts);
    before_zone_.resize(num_facts);
    on_chain_.resize(num_facts);
    expanded_.resize(num_facts);
    zone_action_.resize(fresh_actions_.size());
}

Cost LMCut::compute(const Word* state, std::vector<Landmark>* landmarks) {
    if (landmarks != nullptr) landmarks->clear();
    explore(state);
    if (facts_[goal_fact_].cost > kMaxCost) return kInfinity;
    Cost total = 0;
    while (facts_[goal_fact_].cost != 0) {
        find_cut();
        Cost cut_cost = kInfinity;
        for (std::int32_t action : cut_) cut_cost = std::min(cut_cost, actions_[action].cost);
        total = add_costs(total, cut_cost);
        if (landmarks != nullptr) landmarks->push_back({{cut_.begin(), cut_.end()}, cut_cost});
        reduce_and_update(cut_cost);
    }
    return total;
}

// h^max of every fact, by Dijkstra's algorithm; the precondition settled last is the hardest one.
void LMCut::explore(const Word* state) {
    std::ranges::fill(facts_, FactInfo{kInfinity, kInfinity});
    std::ranges::copy(fresh_actions_, actions_.begin());
    std::ranges::copy(fresh_free_achievers_, free_achievers_.begin());
    task_.facts_of(state, state_facts_.data());
    for (FactId fact : state_facts_) {
        facts_[fact] = {0, -1};
        queue_.push(0, fact);
    }
    facts_[start_fact_] = {0, -1};
    queue_.push(0, start_fact_);
    while (!queue_.empty()) {
        auto [cost, fact] = queue_.pop();
        if (facts_[fact].cost < cost) continue;
        for (std::int32_t action : needed_by_[fact]) {
            ActionInfo& info = actions_[action];
            if (--info.unsatisfied == 0) {
                info.hardest = fact;
                info.hardest_cost = cost;
                update_effects(action);
            }
        }
    }
    queue_.clear();
}

inline void LMCut::update_effects(std::int32_t action) {
    Cost cost = add_costs(actions_[action].hardest_cost, actions_[action].cost);
    for (FactId fact : effect_[action]) {
        if (cost < facts_[fact].cost) {
            facts_[fact] = {cost, action};
            queue_.push(cost, fact);
        }
    }
}

// The goal zone holds the facts from which the goal is reached at no remaining cost along edges
// hardest precondition -> effect; the cut is what leads into it from facts that are reached without it.
void LMCut::find_cut() {
    ++round_;
    all_marked_ = false;
    cut_.clear();
    candidates_.clear();
    stack_.assign(1, goal_fact_);
    zone_[goal_fact_] = round_;
    while (!stack_.empty()) {
        FactId fact = stack_.back();
        stack_.pop_back();
        for (std::int32_t action : achieved_by_[fact]) {
            const ActionInfo& info = actions_[action];
            if (info.unsatisfied > 0 || zone_action_[action] == round_) continue;
            zone_action_[action] = round_;
            if (info.cost > 0) {
                candidates_.push_back(action);
                continue;
            }
            choose_hardest(action);
            if (!in_goal_zone(info.hardest)) {
                zone_[info.hardest] = round_;
                stack_.push_back(info.hardest);
            }
        }
    }
    for (std::int32_t action : candidates_)
        if (is_before_goal_zone(actions_[action].hardest)) cut_.push_back(action);
}

// Among preconditions that are equally hard, one in the goal zone already, or one that ends the zone because
// nothing achieves it for free, keeps the zone small: more landmarks follow later, and the estimate grows.
void LMCut::choose_hardest(std::int32_t action) {
    ActionInfo& info = actions_[action];
    auto keeps_zone_small = [this](FactId fact) { return in_goal_zone(fact) || free_achievers_[fact] == 0; };
    if (keeps_zone_small(info.hardest)) return;
    for (FactId pre : precondition_[action]) {
        if (facts_[pre].cost == info.hardest_cost && keeps_zone_small(pre)) {
            info.hardest = pre;
            return;
        }
    }
}

// Whether the justification graph leads from the state to the fact by actions that do not touch the goal
// zone. Following the supporters back nearly always tells; only where they run into the zone is the graph
// searched.
bool LMCut::is_before_goal_zone(FactId fact) {
    if (in_goal_zone(fact)) return false;
    if (all_marked_) return before_zone_[fact] == round_;
    chain_.clear();
    while (before_zone_[fact] != round_) {
        chain_.push_back(fact);
        on_chain_[fact] = round_;
        std::int32_t action = facts_[fact].supporter;
        if (action < 0) break;
        FactId hardest = actions_[action].hardest;
        // A supporter chain that comes back to itself (zero costs) proves nothing either.
        bool useless = zone_action_[action] == round_ || in_goal_zone(hardest) ||
                       (on_chain_[hardest] == round_ && before_zone_[hardest] != round_);
        if (useless) {
            mark_before_goal_zone();
            return before_zone_[chain_.front()] == round_;
        }
        fact = hardest;
    }
    for (FactId member : chain_) before_zone_[member] = round_;
    return true;
}

void LMCut::mark_before_goal_zone() {
    all_marked_ = true;
    stack_.clear();
    // Earlier chains of this round may have marked facts whose other successors were not followed: go over
    // all.
    std::vector<FactId>& reached = stack_;
    std::size_t next = 0;
    auto reach = [&](FactId fact) {
        if (expanded_[fact] == round_) return;
        expanded_[fact] = round_;
        before_zone_[fact] = round_;
        reached.push_back(fact);
    };
    for (FactId fact : state_facts_)
        if (!in_goal_zone(fact)) reach(fact);
    if (!in_goal_zone(start_fact_)) reach(start_fact_);
    while (next < reached.size()) {
        FactId fact = reached[next++];
        for (std::int32_t action : needed_by_[fact]) {
            const ActionInfo& info = actions_[action];
            if (info.unsatisfied > 0 || info.hardest != fact || zone_action_[action] == round_) continue;
            for (FactId effect : effect_[action])
                if (!in_goal_zone(effect)) reach(effect);
        }
    }
}

// Takes the landmark's cost off its actions and brings h^max up to date: values only fall.
void LMCut::reduce_and_update(Cost cut_cost) {
    for (std::int32_t action : cut_) {
        ActionInfo& info = actions_[action];
        info.cost -= cut_cost;
        if (info.cost == 0)
            for (FactId fact : effect_[action]) ++free_achievers_[fact];
        update_effects(action);
    }
    while (!queue_.empty()) {
        auto [cost, fact] = queue_.pop();
        if (facts_[fact].cost < cost) continue;
        for (std::int32_t action : needed_by_[fact]) {
            ActionInfo& info = actions_[action];
            if (info.hardest != fact || info.unsatisfied > 0 || info.hardest_cost <= cost) continue;
            Cost before = info.hardest_cost;
            FactId hardest = fact;
            Cost hardest_cost = cost;
            for (FactId pre : precondition_[action]) {
                if (facts_[pre].cost > hardest_cost) {
                    hardest = pre;
                    hardest_cost = facts_[pre].cost;
                }
            }
            info.hardest = hardest;
            info.hardest_cost = hardest_cost;
            if (hardest_cost < before) update_effects(action);
        }
    }
    queue_.clear();
}

}  // namespace misstep
