#include "dominance/relation.hpp"

#include <algorithm>

namespace misstep {

Relation::Relation(const FactoredTask& task, const TauMoves& tau, std::size_t index)
    : task_(task), factor_(task.factors[index]), size_(factor_.num_states), tau_(tau.edges(index)) {
    const std::size_t n = static_cast<std::size_t>(size_), num_groups = factor_.groups.size();
    values_.resize(n * n);
    floor_.resize(n * n);
    std::vector<Cost> to_goal(n, kInfinity);
    const std::vector<Cost>& distances = tau.distances(index);
    for (std::size_t t = 0; t < n; ++t)
        for (std::size_t s = 0; s < n; ++s) {
            Cost distance = distances[t * n + s];
            floor_[s * n + t] = distance == kInfinity ? kNever : -distance;
            if (factor_.is_goal[s]) to_goal[t] = std::min(to_goal[t], distance);
        }
    // The start value; in a factor of goal distances that are not exact any common cap will do.
    auto height = [this](std::size_t s) { return std::min(factor_.goal_distance[s], kFiniteLimit / 2); };
    for (std::size_t s = 0; s < n; ++s)
        for (std::size_t t = 0; t < n; ++t) {
            DominanceValue value = height(s) - height(t);
            if (factor_.is_goal[s]) value = std::min(value, to_goal[t] == kInfinity ? kNever : -to_goal[t]);
            if (value < kTruncation) value = floor_[s * n + t];
            values_[s * n + t] = value;
        }
    tau_into_.resize(n);
    for (const TauEdge& edge : tau_) tau_into_[edge.to].push_back({edge.from, edge.cost});
    group_from_.resize(num_groups);
    group_to_.resize(num_groups);
    ways_.resize(num_groups);
    incoming_of_target_.resize(n);
    incoming_of_group_.resize(num_groups);
    is_queued_.resize(n);
    is_row_dirty_.assign(n, 1);
    row_.resize(n);
    best_.resize(n);
    for (std::size_t group = 1; group < num_groups; ++group) {
        Transitions by_target = factor_.groups[group];
        for (Transition t : by_target) {
            group_from_[group].push_back(t.from);
            group_to_[group].push_back(t.to);
        }
        std::ranges::stable_sort(by_target, {}, &Transition::to);
        for (Transition t : by_target) {
            if (incoming_of_group_[group].empty() || incoming_.back().target != t.to) {
                incoming_of_group_[group].push_back(incoming_.size());
                incoming_of_target_[t.to].push_back(incoming_.size());
                incoming_.push_back({static_cast<GroupId>(group), t.to, {}});
            }
            incoming_.back().sources.push_back(t.from);
        }
    }
    for (std::int32_t s = 0; s < size_; ++s)
        if (!tau_into_[s].empty()) push(s);
}

void Relation::push(std::int32_t target) {
    if (is_queued_[target]) return;
    is_queued_[target] = 1;
    queue_.push_back(target);
}

void Relation::set_answers(GroupId group, std::vector<Answers> ways) {
    if (ways_[group] == ways) return;
    ways_[group] = std::move(ways);
    for (std::size_t i : incoming_of_group_[group]) {
        incoming_[i].is_dirty = true;
        push(incoming_[i].target);
    }
}

bool Relation::run(std::uint64_t rounds, BudgetWatch& watch, std::size_t all_bytes, LimitHit& limit) {
    changed_ = false;
    std::vector<std::int32_t> round;
    for (; rounds > 0 && !queue_.empty(); --rounds) {
        round.clear();
        std::swap(round, queue_);
        for (std::int32_t target : round) is_queued_[target] = 0;
        for (std::int32_t target : round) {
            std::uint64_t before = work_;
            process(target);
            limit = watch.check(0, all_bytes, 1 + (work_ - before) / 50);
            if (limit != LimitHit::kNone) return changed_;
        }
    }
    return changed_;
}

void Relation::process(std::int32_t target) {
    const std::size_t n = static_cast<std::size_t>(size_);
    const DominanceValue* values = values_.data() + at(target, 0);
    const bool is_row_dirty = is_row_dirty_[target] != 0;
    is_row_dirty_[target] = 0;
    // Tau moves of s are answered by tau moves of t alone: only then does t answer whole paths of them.
    if (is_row_dirty && !tau_into_[target].empty()) {
        std::copy_n(values, n, row_.begin());
        move_first(row_.data());
        for (auto [from, cost] : tau_into_[target]) lower(from, row_.data(), cost);
    }
    for (std::size_t i : incoming_of_target_[target]) {
        Incoming& incoming = incoming_[i];
        if (!is_row_dirty && !incoming.is_dirty) continue;
        incoming.is_dirty = false;
        bool is_first = true;
        for (const Answers& answers : ways_[incoming.group]) {
            answer_row(values, answers, row_.data());
            move_first(row_.data());
            if (is_first)
                best_ = row_;
            else
                for (std::size_t t = 0; t < n; ++t) best_[t] = std::min(best_[t], row_[t]);
            is_first = false;
        }
        if (is_first) continue;
        for (std::int32_t source : incoming.sources) lower(source, best_.data(), 0);
    }
}

void Relation::answer_row(const DominanceValue* values, const Answers& answers, DominanceValue* row) const {
    const std::size_t n = static_cast<std::size_t>(size_);
    std::fill_n(row, n, kNever);
    for (const Answer& answer : answers) {
        if (answer.group == kIdentity) {
            for (std::size_t t = 0; t < n; ++t) row[t] = std::max(row[t], values[t] + answer.bonus);
            continue;
        }
        const std::int32_t* from = group_from_[answer.group].data();
        const std::int32_t* to = group_to_[answer.group].data();
        const std::size_t count = group_from_[answer.group].size();
        for (std::size_t i = 0; i < count; ++i) {
            DominanceValue value = values[to[i]] + answer.bonus;
            if (value > row[from[i]]) row[from[i]] = value;
        }
    }
}

// row[t] becomes the best over tau moves from t to u of row[u] minus their cost.
void Relation::move_first(DominanceValue* row) const {
    bool changed = !tau_.empty();
    while (changed) {
        changed = false;
        for (auto edge = tau_.rbegin(); edge != tau_.rend(); ++edge) {
            DominanceValue value = row[edge->to] - edge->cost;
            if (value > row[edge->from]) {
                row[edge->from] = value;
                changed = true;
            }
        }
        if (!changed) break;
        changed = false;
        for (const TauEdge& edge : tau_) {
            DominanceValue value = row[edge.to] - edge.cost;
            if (value > row[edge.from]) {
                row[edge.from] = value;
                changed = true;
            }
        }
    }
}

void Relation::lower(std::int32_t s, const DominanceValue* row, DominanceValue bonus) {
    const std::size_t n = static_cast<std::size_t>(size_);
    DominanceValue* values = values_.data() + at(s, 0);
    const DominanceValue* floor = floor_.data() + at(s, 0);
    const DominanceValue truncation = truncation_;
    DominanceValue difference = 0, truncated = 0;
    for (std::size_t t = 0; t < n; ++t) {
        DominanceValue lowered = std::min(row[t] + bonus, values[t]);
        DominanceValue kept = lowered < truncation ? floor[t] : std::max(lowered, floor[t]);
        difference |= kept ^ values[t];
        truncated |= static_cast<DominanceValue>((lowered > -kFiniteLimit) & (kept < lowered));
        values[t] = kept;
    }
    work_ += n;
    was_truncated_ |= truncated != 0;
    if (difference == 0) return;
    changed_ = true;
    is_row_dirty_[s] = 1;
    push(s);
}

void Relation::fall_back() {
    values_ = floor_;
}

bool Relation::load(std::vector<DominanceValue> values) {
    truncation_ = -kFiniteLimit;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] > values_[i] || (values[i] <= -kFiniteLimit && values[i] != kNever)) return false;
    values_ = std::move(values);
    is_row_dirty_.assign(is_row_dirty_.size(), 1);
    for (std::int32_t s = 0; s < size_; ++s) push(s);
    return true;
}

bool Relation::is_below_fallback() const {
    for (std::size_t i = 0; i < values_.size(); ++i)
        if (values_[i] > floor_[i]) return false;
    return true;
}

void Relation::close(BudgetWatch& watch, LimitHit& limit) {
    const std::size_t n = static_cast<std::size_t>(size_);
    for (std::size_t x = 0; x < n; ++x) {
        const DominanceValue* second = values_.data() + x * n;
        for (std::size_t s = 0; s < n; ++s) {
            DominanceValue first = values_[s * n + x];
            if (s == x || first == kNever) continue;
            DominanceValue* row = values_.data() + s * n;
            for (std::size_t t = 0; t < n; ++t) {
                DominanceValue sum = first + second[t];
                row[t] = std::max(row[t], sum <= -kFiniteLimit ? kNever : sum);
            }
        }
        limit = watch.check(0, 0, 1 + n * n / 100);
        if (limit != LimitHit::kNone) return;
    }
}

std::vector<DominanceValue> label_values(const Factor& factor, const std::vector<DominanceValue>& values_of) {
    const std::size_t num_groups = factor.groups.size();
    std::vector<DominanceValue> result(num_groups * num_groups, kFiniteLimit);
    std::vector<std::int32_t> count(num_groups * num_groups, 0);
    std::vector<std::vector<std::pair<GroupId, std::int32_t>>> out(
        static_cast<std::size_t>(factor.num_states));
    for (std::size_t group = 1; group < num_groups; ++group)
        for (Transition t : factor.groups[group]) out[t.from].push_back({static_cast<GroupId>(group), t.to});
    for (std::int32_t state = 0; state < factor.num_states; ++state) {
        auto answer = [&](GroupId label, std::int32_t target) {
            const DominanceValue* values = values_of.data() + static_cast<std::size_t>(target) *
                                                                  static_cast<std::size_t>(factor.num_states);
            DominanceValue* of_label = result.data() + static_cast<std::size_t>(label) * num_groups;
            std::int32_t* count_of_label = count.data() + static_cast<std::size_t>(label) * num_groups;
            of_label[kIdentity] = std::min(of_label[kIdentity], values[state]);
            ++count_of_label[kIdentity];
            const auto& answers = out[state];
            for (std::size_t i = 0; i < answers.size();) {
                GroupId other = answers[i].first;
                DominanceValue best = kNever;
                for (; i < answers.size() && answers[i].first == other; ++i)
                    best = std::max(best, values[answers[i].second]);
                of_label[other] = std::min(of_label[other], best);
                ++count_of_label[other];
            }
        };
        answer(kIdentity, state);
        for (auto [label, target] : out[state]) answer(label, target);
    }
    for (std::size_t label = 0; label < num_groups; ++label) {
        std::int32_t transitions =
            label == kIdentity ? factor.num_states : static_cast<std::int32_t>(factor.groups[label].size());
        for (std::size_t other = 0; other < num_groups; ++other)
            if (count[label * num_groups + other] < transitions) result[label * num_groups + other] = kNever;
    }
    return result;
}

}  // namespace misstep
