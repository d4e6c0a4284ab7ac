// The soundness of what is computed here, for any D at which no value can be lowered any more
// (Torralba 2017 gives the idea; tau moves and zero costs need more care than is written there).
//
// Notation: D_i of factor i; a state is a tuple (s_1 .. s_k); tau moves of factor i are real sequences of
// actions that change nothing but factor i, with real costs; d_i their distances; c(l) the cost of a label,
// c(noop) = 0; D_j^L(l,l') = min over s -l-> s' in factor j of max over s -l'-> s'' of D_j(s',s'').
// The fixed point says, for all i and all abstract states s, t with D_i(s,t) > -inf:
//  (goal)  if s is a goal, D_i(s,t) <= -d_i(t, some goal);
//  (tau)   for every tau edge s -> s' of cost w:  D_i(s,t) <= w - d_i(t,t') + D_i(s',t') for some t';
//  (step)  for every s -l-> s' there are u, l', u -l'-> t' (l' may be noop, t' = u) with
//          D_i(s,t) <= -d_i(t,u) + c(l) - c(l') + D_i(s',t') + sum over j != i of D_j^L(l,l').
//
// Lemma. If D = (D_1 .. D_k) satisfies these, so does D o D, where (D o D)_i(s,t) = max over x of
// D_i(s,x) + D_i(x,t). Take the best x. (tau), (goal): x follows s by tau moves, edge by edge t follows x by
// (tau). (step): x goes to u by tau moves and takes l'; t follows x to u by (tau), reaching v, then answers
// l' by (step) from (u,v); the sums of D^L add up because D_j^L(l,l') + D_j^L(l',l'') <= (D o D)_j^L(l,l'').
// (tau) is what makes this work: were a tau move of x answered by other labels, t would leave the form "tau
// moves, then one label". Since D_i(s,t) <= h_i*(s) - h_i*(t), there are no positive cycles, and repeating
// the lemma gives a transitive D* >= D that satisfies the three conditions. So let D be transitive.
//
// Theorem. If s has a plan of cost c and D(s,t) = sum of D_i(s_i,t_i) > -inf, then t has one of cost at most
// c - D(s,t). By induction over the LENGTH of s's plan, which is why zero costs do no harm. Empty plan: every
// factor is moved to a goal by (goal), one after the other. Otherwise s -l-> s': let factor 1 answer l by
// l_1, factor 2 answer l_1 by l_2, and so on, each from its own (s_i,t_i); l_k is the label that t takes,
// after the tau moves of all factors. In factor i the target of s_i moves, with every replacement of one
// label by the next, to a state that is worse by at most -D_i^L, from s_i before and from u_i after the
// answer of factor i; transitivity adds this up. Summing over the factors, t reaches some t' at cost g with
// D(s',t') >= D(s,t) - c(l) + g, and the rest of s's plan is shorter. carry() finds these t'.
//
// A value below kTruncation falls to minus the tau distance, which satisfies the conditions by itself (go to
// s, then do as s does); all conditions are monotone in D, so the iteration then goes on to a smaller fixed
// point. That one need not be transitive; Relation::close makes it so. States that are unreachable or dead
// inside a factor are left out, as s needs a plan and t never has a reason to go there.
#include "dominance/fixed_point.hpp"

#include <algorithm>
#include <map>

namespace misstep {

LabelDominance::LabelDominance(const FactoredTask& task, std::vector<Relation>& relations, bool is_check)
    : task_(task), relations_(relations), values_(task.factors.size()), relevant_(task.labels.size()) {
    for (LabelId label = 0; label < task.labels.size(); ++label)
        for (std::size_t j = 0; j < task.factors.size(); ++j)
            if (task.factors[j].is_relevant(label)) relevant_[label].push_back(j);
    for (const Factor& factor : task.factors) {
        Cost highest = 0;
        for (Cost h : factor.goal_distance) highest = std::max(highest, std::min(h, kFiniteLimit / 2));
        worst_useful_.push_back(is_check ? -kFiniteLimit : kTruncation - highest);
    }
}

DominanceValue LabelDominance::value(std::size_t factor, LabelId label, LabelId other) const {
    return values_[factor]
                  [static_cast<std::size_t>(group(factor, label)) * task_.factors[factor].groups.size() +
                   static_cast<std::size_t>(group(factor, other))];
}

LimitHit LabelDominance::update(const std::vector<bool>& is_changed, BudgetWatch& watch) {
    const std::size_t num_factors = task_.factors.size();
    for (std::size_t j = 0; j < num_factors; ++j)
        if (is_changed[j]) values_[j] = label_values(task_.factors[j], relations_[j].values());
    const bool is_first = candidates_.empty();
    candidates_.resize(task_.labels.size());
    std::vector<std::vector<std::vector<Answers>>> ways(num_factors);
    for (std::size_t i = 0; i < num_factors; ++i) ways[i].resize(task_.factors[i].groups.size());
    for (LabelId label = 0; label < task_.labels.size(); ++label) {
        if (relevant_[label].size() < 2) continue;  // a tau label: Relation answers those by tau moves
        std::vector<LabelId>& candidates = candidates_[label];
        if (is_first) {
            for (LabelId other = 0; other < task_.labels.size(); ++other) candidates.push_back(other);
            candidates.push_back(kNoLabel);
        }
        LimitHit limit = watch.check(0, 0, 1 + candidates.size() / 10);
        if (limit != LimitHit::kNone) return limit;
        collect(label, ways);
        if (is_first) candidates.shrink_to_fit();  // most were of no use
    }
    for (std::size_t i = 0; i < num_factors; ++i)
        for (std::size_t group = 1; group < ways[i].size(); ++group) {
            std::ranges::sort(ways[i][group], [](const Answers& a, const Answers& b) {
                return std::ranges::lexicographical_compare(a, b, [](Answer x, Answer y) {
                    return std::pair(x.group, x.bonus) < std::pair(y.group, y.bonus);
                });
            });
            auto repeated = std::ranges::unique(ways[i][group]);
            ways[i][group].erase(repeated.begin(), repeated.end());
            relations_[i].set_answers(static_cast<GroupId>(group), std::move(ways[i][group]));
        }
    return LimitHit::kNone;
}

void LabelDominance::collect(LabelId label, std::vector<std::vector<std::vector<Answers>>>& ways) {
    std::vector<std::map<GroupId, DominanceValue>> bonus(relevant_[label].size());
    auto is_useless = [&](LabelId other) {
        // The factors that see a difference: where neither label is relevant, D^L is 0.
        std::int64_t total = 0;
        std::size_t never = 0, never_at = 0;
        auto add = [&](std::size_t j) {
            DominanceValue v = value(j, label, other);
            if (v == kNever) {
                ++never;
                never_at = j;
            } else {
                total += v;
            }
        };
        for (std::size_t j : relevant_[label]) add(j);
        if (other != kNoLabel)
            for (std::size_t j : relevant_[other])
                if (never < 2 && !task_.factors[j].is_relevant(label)) add(j);
        if (never >= 2 || (never == 1 && !task_.factors[never_at].is_relevant(label))) return true;
        const Cost cost = other == kNoLabel ? 0 : task_.labels[other].cost;
        bool is_useful = false;
        for (std::size_t k = 0; k < relevant_[label].size(); ++k) {
            std::size_t i = relevant_[label][k];
            if (never == 1 && never_at != i) continue;
            std::int64_t outside = never == 1 ? total : total - value(i, label, other);
            std::int64_t sum = std::int64_t{task_.labels[label].cost} - cost + outside;
            if (sum < worst_useful_[i]) continue;
            is_useful = true;
            auto best = static_cast<DominanceValue>(std::min<std::int64_t>(sum, kFiniteLimit - 1));
            auto [entry, is_new] = bonus[k].try_emplace(group(i, other), best);
            if (!is_new) entry->second = std::max(entry->second, best);
        }
        return !is_useful;
    };
    std::erase_if(candidates_[label], is_useless);
    for (std::size_t k = 0; k < bonus.size(); ++k) {
        std::size_t i = relevant_[label][k];
        Answers answers;
        for (auto [group, best] : bonus[k]) answers.push_back({group, best});
        ways[i][static_cast<std::size_t>(task_.factors[i].group_of[label])].push_back(std::move(answers));
    }
}

bool is_fixed_point(const FactoredTask& task, std::vector<Relation>& relations) {
    LabelDominance labels(task, relations, true);
    const Budget no_limit;
    BudgetWatch watch(no_limit);
    labels.update(std::vector<bool>(relations.size(), true), watch);
    LimitHit limit = LimitHit::kNone;
    for (Relation& relation : relations)
        if (relation.run(1, watch, 0, limit)) return false;
    return true;
}

LimitHit find_fixed_point(const FactoredTask& task, std::vector<Relation>& relations, BudgetWatch& watch) {
    LabelDominance labels(task, relations, false);
    std::vector<bool> is_changed(relations.size(), true);
    std::size_t bytes = 0;
    for (const Relation& relation : relations) bytes += relation.bytes();
    LimitHit limit = watch.look();
    // With labels that still look better than they are, values sink slowly to where better labels would have
    // brought them at once: factors get to their own fixed points only once labels do not change much.
    bool is_stable = false;
    for (std::uint64_t rounds = 2; limit == LimitHit::kNone && !is_stable; ++rounds) {
        limit = labels.update(is_changed, watch);
        if (limit != LimitHit::kNone) return limit;
        is_stable = true;
        for (std::size_t i = 0; i < relations.size(); ++i) {
            is_changed[i] = relations[i].run(rounds / 2, watch, bytes, limit);
            is_stable &= !is_changed[i] && relations[i].is_stable();
            if (limit != LimitHit::kNone) return limit;
        }
        limit = watch.look();
    }
    if (limit != LimitHit::kNone) return limit;
    bool was_truncated = false;
    for (const Relation& relation : relations) was_truncated |= relation.was_truncated();
    if (was_truncated)
        for (Relation& relation : relations) {
            relation.close(watch, limit);
            if (limit != LimitHit::kNone) break;
        }
    return limit;
}

}  // namespace misstep
