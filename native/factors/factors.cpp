// The factors of variables, and their merging.
#include "factors/factors.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "util/cost_queue.hpp"

namespace misstep {

std::int32_t Projection::operator()(const StatePacker& packer, const Word* state) const {
    if (variable >= 0) return table[packer.get(state, variable)];
    std::int32_t a = (*left)(packer, state);
    std::int32_t b = (*right)(packer, state);
    // What is dead is so for states that no table calls unreachable, so kPruned goes before kDead.
    if (a < 0 || b < 0) return a == kPruned || b == kPruned ? kPruned : kDead;
    return table[static_cast<std::size_t>(a) * right_size + b];
}

void Projection::collect_variables(std::vector<int>& out) const {
    if (variable >= 0) {
        out.push_back(variable);
    } else {
        left->collect_variables(out);
        right->collect_variables(out);
    }
}

std::uint64_t FactoredTask::num_transitions(const Factor& factor) const {
    std::uint64_t count = 0;
    for (GroupId group : factor.group_of) count += factor.groups[group].size();
    return count;
}

void regroup(Factor& factor, std::vector<Transitions> by_group, const std::vector<GroupId>& group_of) {
    auto hash = [](const Transitions& transitions) {
        std::uint64_t h = 0xcbf29ce484222325ULL ^ transitions.size();
        for (Transition t : transitions) {
            h ^= (static_cast<std::uint64_t>(t.from) << 32) | static_cast<std::uint32_t>(t.to);
            h *= 0x9e3779b97f4a7c15ULL;
            h ^= h >> 29;
        }
        return h;
    };
    std::unordered_multimap<std::uint64_t, GroupId> known;
    std::vector<GroupId> renamed(by_group.size(), -1);
    factor.groups.assign(1, {});
    factor.group_of.assign(group_of.size(), kIdentity);
    auto is_identity = [&factor](const Transitions& transitions) {
        return transitions.size() == static_cast<std::size_t>(factor.num_states) &&
               std::ranges::all_of(transitions, [](Transition t) { return t.from == t.to; });
    };
    auto number_of = [&](Transitions transitions) {
        if (is_identity(transitions)) return kIdentity;
        const std::uint64_t key = hash(transitions);
        for (auto [entry, end] = known.equal_range(key); entry != end; ++entry)
            if (factor.groups[entry->second] == transitions) return entry->second;
        factor.groups.push_back(std::move(transitions));
        return known.emplace(key, static_cast<GroupId>(factor.groups.size() - 1))->second;
    };
    for (std::size_t label = 0; label < group_of.size(); ++label) {
        GroupId old = group_of[label];
        if (old == kIdentity) continue;
        if (renamed[old] < 0) renamed[old] = number_of(std::move(by_group[old]));
        factor.group_of[label] = renamed[old];
    }
}

void compute_goal_distances(const FactoredTask& task, Factor& factor) {
    std::vector<Cost> cheapest(factor.groups.size(), kInfinity);  // of a group's labels
    for (std::size_t label = 0; label < task.labels.size(); ++label)
        cheapest[factor.group_of[label]] =
            std::min(cheapest[factor.group_of[label]], task.labels[label].cost);
    std::vector<std::vector<std::pair<std::int32_t, Cost>>> into(factor.num_states);
    for (std::size_t group = 1; group < factor.groups.size(); ++group)
        if (cheapest[group] != kInfinity)
            for (Transition t : factor.groups[group]) into[t.to].push_back({t.from, cheapest[group]});
    factor.goal_distance.assign(factor.num_states, kInfinity);
    CostQueue queue;
    for (std::int32_t state = 0; state < factor.num_states; ++state)
        if (factor.is_goal[state]) {
            factor.goal_distance[state] = 0;
            queue.push(0, state);
        }
    while (!queue.empty()) {
        auto [cost, state] = queue.pop();
        if (cost > factor.goal_distance[state]) continue;
        for (auto [from, step] : into[state]) {
            Cost next = add_costs(cost, step);
            if (next >= factor.goal_distance[from]) continue;
            factor.goal_distance[from] = next;
            queue.push(next, from);
        }
    }
}

namespace {

Transitions transitions_of(const Action& action, int var, int domain_size) {
    auto pre = std::ranges::find(action.precondition, var, &Fact::var);
    auto eff = std::ranges::find(action.effect, var, &Fact::var);
    Transitions result;
    for (std::int32_t value = 0; value < domain_size; ++value)
        if (pre == action.precondition.end() || pre->value == value)
            result.push_back({value, eff == action.effect.end() ? value : eff->value});
    return result;
}

Factor atomic_factor(const Task& task, int var) {
    Factor factor;
    factor.num_states = task.variables[var].domain_size();
    factor.initial = task.initial[var];
    factor.projection.variable = var;
    for (std::int32_t value = 0; value < factor.num_states; ++value) factor.projection.table.push_back(value);
    auto goal = std::ranges::find(task.goal, var, &Fact::var);
    factor.is_goal.assign(factor.num_states, goal == task.goal.end());
    if (goal != task.goal.end()) factor.is_goal[goal->value] = 1;
    std::vector<Transitions> by_label(1);
    std::vector<GroupId> group_of;
    for (const Action& action : task.actions) {
        bool mentioned =
            std::ranges::find(action.precondition, var, &Fact::var) != action.precondition.end() ||
            std::ranges::find(action.effect, var, &Fact::var) != action.effect.end();
        group_of.push_back(mentioned ? static_cast<GroupId>(by_label.size()) : kIdentity);
        if (mentioned) by_label.push_back(transitions_of(action, var, factor.num_states));
    }
    regroup(factor, std::move(by_label), group_of);
    return factor;
}

// Drager, Finkbeiner & Podelski (2009): merge where labels that two factors share lead closest to the goal.
std::vector<Cost> label_ranks(const FactoredTask& task, const Factor& factor) {
    std::vector<Cost> of_group(factor.groups.size(), kInfinity);
    for (std::size_t group = 1; group < factor.groups.size(); ++group)
        for (Transition t : factor.groups[group])
            of_group[group] = std::min(of_group[group], factor.goal_distance[t.to]);
    std::vector<Cost> ranks(task.labels.size());
    for (std::size_t label = 0; label < ranks.size(); ++label)
        ranks[label] = of_group[factor.group_of[label]];
    return ranks;
}

struct MergeCandidate {
    Cost score;
    std::int64_t size;  // 0 where it does not matter
    std::size_t first, second;
};

// The product so far, which is the last factor, with each variable in turn.
std::vector<MergeCandidate> one_by_one(const FactoredTask& task) {
    std::vector<MergeCandidate> order;
    const std::size_t n = task.factors.size();
    if (task.num_merges == 0) {
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = a + 1; b < n; ++b) order.push_back({0, 0, a, b});
    } else {
        for (std::size_t a = 0; a + 1 < n; ++a) order.push_back({0, 0, a, n - 1});
    }
    return order;
}

// The best pair first.
std::vector<MergeCandidate> merge_order(const FactoredTask& task, MergeOrder by, bool with_strangers) {
    const std::size_t n = task.factors.size();
    if (by == MergeOrder::kOneByOne) return one_by_one(task);
    std::vector<std::vector<Cost>> ranks;
    std::vector<bool> has_goal;
    for (const Factor& factor : task.factors) {
        ranks.push_back(label_ranks(task, factor));
        has_goal.push_back(!std::ranges::all_of(factor.is_goal, [](auto goal) { return goal != 0; }));
    }
    std::vector<MergeCandidate> order;
    for (std::size_t a = n; a-- > 0;)
        for (std::size_t b = a; b-- > 0;) {
            if (!has_goal[a] && !has_goal[b]) continue;
            Cost score = kInfinity;
            for (LabelId label = 0; label < task.labels.size(); ++label)
                if (task.factors[a].is_relevant(label) && task.factors[b].is_relevant(label))
                    score = std::min(score, std::max(ranks[a][label], ranks[b][label]));
            // No label acts on both: nothing is learnt but that their distances add up.
            if (score == kInfinity && !(with_strangers && has_goal[a] && has_goal[b])) continue;
            std::int64_t size = std::int64_t{task.factors[a].num_states} * task.factors[b].num_states;
            order.push_back({score, by == MergeOrder::kSmallestFirst ? size : 0, b, a});
        }
    std::ranges::stable_sort(order, {},
                             [](const MergeCandidate& pair) { return std::pair(pair.score, pair.size); });
    return order;
}

// Makes two factors small enough for their product: the smaller one gives up no more than it has to.
void shrink_before_merge(FactoredTask& task, std::size_t first, std::size_t second, std::int32_t max_states) {
    Factor &a = task.factors[first], &b = task.factors[second];
    if (std::int64_t{a.num_states} * b.num_states <= max_states) return;
    auto root = static_cast<std::int32_t>(std::sqrt(static_cast<double>(max_states)));
    Factor &small = a.num_states <= b.num_states ? a : b, &large = a.num_states <= b.num_states ? b : a;
    if (small.num_states > root) shrink(task, small, root);
    if (small.num_states > 0) shrink(task, large, max_states / small.num_states);
}

}  // namespace

FactoredTask make_factors(const StateSpace& space, const FactorOptions& options, BudgetWatch& watch) {
    const Task& task = space.task;
    FactoredTask result;
    result.keeps_steps = options.keeps_steps;
    for (ActionId a = 0; a < task.actions.size(); ++a) result.labels.push_back({task.actions[a].cost, {a}});
    for (int var = 0; var < task.num_variables(); ++var) {
        result.factors.push_back(atomic_factor(task, var));
        result.factors.back().serial = result.next_serial++;
    }
    simplify(result, watch);
    bool merged = options.merged;
    std::set<std::pair<std::uint64_t, std::uint64_t>> too_large;
    while (merged && result.num_merges < options.max_merges) {
        merged = false;
        for (const MergeCandidate& candidate :
             merge_order(result, options.order, options.max_states.has_value())) {
            bool is_spent = static_cast<double>(result.work) >= options.max_work;
            result.limit = is_spent ? LimitHit::kExpansions : watch.look();
            if (result.limit != LimitHit::kNone) return result;
            std::pair pair{*result.factors[candidate.first].serial, *result.factors[candidate.second].serial};
            if (too_large.contains(pair)) continue;
            if (options.max_states)
                shrink_before_merge(result, candidate.first, candidate.second, *options.max_states);
            merged = merge(result, candidate.first, candidate.second, options.max_transitions, watch);
            if (merged) break;
            if (result.limit != LimitHit::kNone) return result;
            too_large.insert(pair);
        }
        result.num_merges += merged;
    }
    return result;
}

}  // namespace misstep
