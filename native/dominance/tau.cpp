#include "dominance/tau.hpp"

#include <algorithm>
#include <map>

#include "util/cost_queue.hpp"

namespace misstep {
namespace {

constexpr std::uint32_t kMaxLevels = 6;

Cost sum(Cost a, Cost b) {
    if (a == kInfinity || b == kInfinity) return kInfinity;
    Cost total = add_costs(a, b);
    return total > kMaxTauCost ? kInfinity : total;
}

}  // namespace

TauMoves::TauMoves(const FactoredTask& task, BudgetWatch& watch) {
    const std::size_t n = task.factors.size();
    edges_.resize(n);
    useful_edges_.resize(n);
    for (const Factor& factor : task.factors) {
        sizes_.push_back(static_cast<std::size_t>(factor.num_states));
        distances_.emplace_back(sizes_.back() * sizes_.back(), kInfinity);
        for (std::size_t s = 0; s < sizes_.back(); ++s) distances_.back()[s * sizes_.back() + s] = 0;
        label_cost_.emplace_back(task.labels.size(), kInfinity);
        detour_cost_.emplace_back(factor.groups.size(), kInfinity);
        detour_cost_.back()[kIdentity] = 0;
    }
    bool changed = true;
    for (std::uint32_t level = 0; changed && level < kMaxLevels && limit_ == LimitHit::kNone; ++level) {
        changed = false;
        std::vector<std::size_t> grown;
        for (std::size_t i = 0; i < n; ++i)
            if (add_labels(task, i, level)) grown.push_back(i);
        for (std::size_t i : grown) {
            compute_distances(i, watch);
            compute_detours(task, i, watch);
            changed = true;
        }
    }
    for (std::size_t i = 0; i < n; ++i) keep_useful_edges(i);
}

// Labels whose cost as a tau label fell, now that the other factors move more cheaply.
bool TauMoves::add_labels(const FactoredTask& task, std::size_t factor, std::uint32_t level) {
    const Factor& own = task.factors[factor];
    std::vector<TauEdge> fresh;
    for (LabelId label = 0; label < task.labels.size(); ++label) {
        if (!own.is_relevant(label)) continue;
        Cost cost = sum(task.labels[label].cost, 0);
        for (std::size_t j = 0; j < task.factors.size() && cost != kInfinity; ++j)
            if (j != factor) cost = sum(cost, detour_cost_[j][task.factors[j].group_of[label]]);
        if (cost >= label_cost_[factor][label]) continue;
        label_cost_[factor][label] = cost;
        for (Transition t : own.groups[own.group_of[label]])
            if (t.from != t.to && cost < distance(factor, t.from, t.to))
                fresh.push_back({t.from, t.to, cost, label, level});
    }
    if (fresh.empty()) return false;
    std::vector<TauEdge>& edges = edges_[factor];
    edges.insert(edges.end(), fresh.begin(), fresh.end());
    std::ranges::stable_sort(edges, {}, [](const TauEdge& e) { return std::tuple(e.from, e.to, e.cost); });
    return true;
}

std::vector<Cost> TauMoves::distances_from(std::size_t factor, std::int32_t from, std::uint32_t below_level,
                                           std::vector<TauEdge>* reached_by) const {
    const std::vector<TauEdge>& edges = edges_[factor];
    std::vector<std::size_t> first(sizes_[factor] + 1, 0);
    for (const TauEdge& edge : edges) ++first[edge.from + 1];
    for (std::size_t s = 0; s < sizes_[factor]; ++s) first[s + 1] += first[s];
    std::vector<Cost> costs(sizes_[factor], kInfinity);
    if (reached_by != nullptr) reached_by->assign(sizes_[factor], {kPruned, kPruned, 0, kNoLabel, 0});
    CostQueue queue;
    costs[from] = 0;
    queue.push(0, from);
    while (!queue.empty()) {
        auto [cost, state] = queue.pop();
        if (cost > costs[state]) continue;
        for (std::size_t e = first[state]; e < first[state + 1]; ++e) {
            const TauEdge& edge = edges[e];
            Cost next = sum(cost, edge.cost);
            if (edge.level >= below_level || next >= costs[edge.to]) continue;
            costs[edge.to] = next;
            if (reached_by != nullptr) (*reached_by)[edge.to] = edge;
            queue.push(next, edge.to);
        }
    }
    return costs;
}

void TauMoves::compute_distances(std::size_t factor, BudgetWatch& watch) {
    const std::size_t n = sizes_[factor];
    for (std::size_t from = 0; from < n; ++from) {
        if (limit_ != LimitHit::kNone) return;  // rows that are left keep what held before
        limit_ = watch.check(0, 0, 20 + edges_[factor].size() / 4);
        std::vector<Cost> row = distances_from(factor, static_cast<std::int32_t>(from), ~0U, nullptr);
        std::ranges::copy(row, distances_[factor].begin() + static_cast<std::ptrdiff_t>(from * n));
    }
}

void TauMoves::compute_detours(const FactoredTask& task, std::size_t factor, BudgetWatch& watch) {
    const Factor& own = task.factors[factor];
    for (std::size_t group = 1; group < own.groups.size(); ++group) {
        Cost worst = 0;
        for (std::int32_t at = 0; at < own.num_states && worst != kInfinity; ++at) {
            if (limit_ == LimitHit::kNone) limit_ = watch.check(0, 0, 1 + own.groups[group].size() / 10);
            if (limit_ != LimitHit::kNone) return;
            Cost best = kInfinity;
            for (Transition t : own.groups[group])
                best = std::min(best, sum(distance(factor, at, t.from), distance(factor, t.to, at)));
            worst = std::max(worst, best);
        }
        detour_cost_[factor][group] = std::min(detour_cost_[factor][group], worst);
    }
}

void TauMoves::keep_useful_edges(std::size_t factor) {
    std::vector<TauEdge>& kept = useful_edges_[factor];
    for (const TauEdge& edge : edges_[factor]) {
        bool is_known = !kept.empty() && kept.back().from == edge.from && kept.back().to == edge.to;
        if (!is_known && edge.cost <= distance(factor, edge.from, edge.to)) kept.push_back(edge);
    }
}

std::vector<TauEdge> TauMoves::path(std::size_t factor, std::int32_t from, std::int32_t to,
                                    std::uint32_t below_level) const {
    std::vector<TauEdge> reached_by, path;
    distances_from(factor, from, below_level, &reached_by);
    for (std::int32_t at = to; at != from; at = path.back().from) {
        if (reached_by[at].label == kNoLabel) return {};
        path.push_back(reached_by[at]);
    }
    std::ranges::reverse(path);
    return path;
}

Transition TauMoves::detour(const FactoredTask& task, std::size_t factor, LabelId label, std::int32_t at,
                            std::uint32_t below_level) const {
    const Factor& own = task.factors[factor];
    std::vector<Cost> there = distances_from(factor, at, below_level, nullptr);
    std::map<std::int32_t, Cost> back;
    Transition best{kPruned, kPruned};
    Cost best_cost = kInfinity;
    for (Transition t : own.groups[own.group_of[label]]) {
        if (there[t.from] == kInfinity) continue;
        auto [entry, is_new] = back.try_emplace(t.to, 0);
        if (is_new) entry->second = distances_from(factor, t.to, below_level, nullptr)[at];
        Cost cost = sum(there[t.from], entry->second);
        if (cost < best_cost) {
            best_cost = cost;
            best = t;
        }
    }
    return best;
}

}  // namespace misstep
