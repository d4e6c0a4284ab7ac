// Simplifications of a factored task that lose nothing: pruning, exact label reduction, bisimulation.
#include <algorithm>
#include <map>
#include <span>

#include "factors/factors.hpp"
#include "util/rng.hpp"

namespace misstep {
namespace {

void rename(Projection& projection, const std::vector<std::int32_t>& new_of) {
    for (std::int32_t& state : projection.table)
        if (state >= 0) state = new_of[state];
}

// Joins or drops states: `new_of` gives the new number of a state, or kPruned or kDead.
void map_states(FactoredTask& task, Factor& factor, const std::vector<std::int32_t>& new_of,
                std::int32_t num_states) {
    if (task.keeps_steps && factor.serial) task.steps.push_back({*factor.serial, std::nullopt, new_of});
    std::vector<std::uint8_t> is_goal(num_states);
    for (std::int32_t state = 0; state < factor.num_states; ++state)
        if (new_of[state] >= 0) is_goal[new_of[state]] |= factor.is_goal[state];
    std::vector<Transitions> groups = std::move(factor.groups);
    for (Transitions& transitions : groups) {
        std::erase_if(transitions, [&](Transition t) { return new_of[t.from] < 0 || new_of[t.to] < 0; });
        for (Transition& t : transitions) t = {new_of[t.from], new_of[t.to]};
        std::ranges::sort(transitions);
        transitions.erase(std::ranges::unique(transitions).begin(), transitions.end());
    }
    if (factor.initial >= 0) factor.initial = new_of[factor.initial];
    factor.num_states = num_states;
    factor.is_goal = std::move(is_goal);
    rename(factor.projection, new_of);
    std::vector<GroupId> group_of = std::move(factor.group_of);
    regroup(factor, std::move(groups), group_of);
    compute_goal_distances(task, factor);
}

// States that cannot be reached from the initial one, or cannot reach a goal, inside the factor.
bool prune_states(FactoredTask& task, Factor& factor) {
    compute_goal_distances(task, factor);
    std::vector<std::vector<std::int32_t>> successors(factor.num_states);
    for (const Transitions& transitions : factor.groups)
        for (Transition t : transitions) successors[t.from].push_back(t.to);
    auto is_dead = [&factor](std::int32_t state) { return factor.goal_distance[state] == kInfinity; };
    std::vector<std::int32_t> new_of(factor.num_states, kPruned), stack;
    auto visit = [&](std::int32_t state) {
        if (is_dead(state) || new_of[state] != kPruned) return;
        new_of[state] = 0;
        stack.push_back(state);
    };
    if (factor.initial >= 0) visit(factor.initial);
    while (!stack.empty()) {
        std::int32_t state = stack.back();
        stack.pop_back();
        for (std::int32_t next : successors[state]) visit(next);
    }
    std::int32_t kept = 0;
    for (std::int32_t state = 0; state < factor.num_states; ++state) {
        if (is_dead(state)) {
            new_of[state] = kDead;
        } else if (new_of[state] != kPruned) {
            new_of[state] = kept++;
        }
    }
    if (kept == factor.num_states) return false;
    map_states(task, factor, new_of, kept);
    return true;
}

// Labels that some factor never allows, and labels that change nothing anywhere.
bool drop_labels(FactoredTask& task) {
    std::vector<std::size_t> kept;
    for (std::size_t label = 0; label < task.labels.size(); ++label) {
        bool is_dead = false, is_relevant = false;
        for (const Factor& factor : task.factors) {
            is_relevant |= factor.is_relevant(label);
            is_dead |= factor.is_relevant(label) && factor.groups[factor.group_of[label]].empty();
        }
        if (!is_dead && is_relevant) kept.push_back(label);
    }
    if (kept.size() == task.labels.size()) return false;
    std::vector<Label> labels;
    for (std::size_t label : kept) labels.push_back(std::move(task.labels[label]));
    task.labels = std::move(labels);
    for (Factor& factor : task.factors) {
        std::vector<GroupId> group_of;
        for (std::size_t label : kept) group_of.push_back(factor.group_of[label]);
        std::vector<Transitions> groups = std::move(factor.groups);
        regroup(factor, std::move(groups), group_of);
    }
    return true;
}

std::uint64_t hashed(std::uint64_t a, std::uint64_t b) {
    return Rng((a << 32) ^ b).next();
}

// What all factors see of each label, as numbers from which the part of one factor can be taken away again.
std::vector<std::uint64_t> label_looks(const FactoredTask& task) {
    std::vector<std::uint64_t> looks;
    for (const Label& label : task.labels)
        looks.push_back(hashed(task.factors.size(), static_cast<std::uint64_t>(label.cost)));
    for (std::size_t j = 0; j < task.factors.size(); ++j)
        for (std::size_t label = 0; label < looks.size(); ++label)
            if (GroupId group = task.factors[j].group_of[label]; group != kIdentity)
                looks[label] += hashed(j, static_cast<std::uint64_t>(group));
    return looks;
}

bool look_alike(const FactoredTask& task, std::size_t except, std::size_t label, std::size_t other) {
    if (task.labels[label].cost != task.labels[other].cost) return false;
    for (std::size_t j = 0; j < task.factors.size(); ++j)
        if (j != except && task.factors[j].group_of[label] != task.factors[j].group_of[other]) return false;
    return true;
}

// The sets of at least two labels that look alike to all factors but one, each ascending.
std::vector<std::vector<std::size_t>> combinable(const FactoredTask& task, std::size_t except,
                                                 const std::vector<std::uint64_t>& looks) {
    const Factor& factor = task.factors[except];
    std::vector<std::pair<std::uint64_t, std::size_t>> keys;
    for (std::size_t label = 0; label < looks.size(); ++label) {
        GroupId group = factor.group_of[label];
        std::uint64_t own = group == kIdentity ? 0 : hashed(except, static_cast<std::uint64_t>(group));
        keys.push_back({looks[label] - own, label});
    }
    std::ranges::sort(keys);
    std::vector<std::vector<std::size_t>> result;
    for (std::size_t first = 0, last = 0; first < keys.size(); first = last) {
        std::vector<std::size_t> alike{keys[first].second};
        for (last = first + 1; last < keys.size() && keys[last].first == keys[first].first; ++last)
            if (look_alike(task, except, alike[0], keys[last].second)) alike.push_back(keys[last].second);
        if (alike.size() > 1) result.push_back(std::move(alike));
    }
    return result;
}

// One label instead of several, with the transitions of all of them in the one factor that tells them apart.
void combine(FactoredTask& task, std::size_t where, const std::vector<std::vector<std::size_t>>& alike) {
    Factor& factor = task.factors[where];
    std::vector<bool> is_kept(task.labels.size(), true);
    std::vector<Transitions> groups = factor.groups;
    std::vector<GroupId> group_of = factor.group_of;
    for (const std::vector<std::size_t>& members : alike) {
        Transitions all;
        for (std::size_t label : members) {
            if (factor.is_relevant(label)) {
                const Transitions& own = factor.groups[factor.group_of[label]];
                all.insert(all.end(), own.begin(), own.end());
            } else {
                for (std::int32_t s = 0; s < factor.num_states; ++s) all.push_back({s, s});
            }
            if (label == members[0]) continue;
            is_kept[label] = false;
            std::vector<ActionId>& actions = task.labels[members[0]].actions;
            actions.insert(actions.end(), task.labels[label].actions.begin(),
                           task.labels[label].actions.end());
        }
        std::ranges::sort(task.labels[members[0]].actions);
        std::ranges::sort(all);
        all.erase(std::ranges::unique(all).begin(), all.end());
        group_of[members[0]] = static_cast<GroupId>(groups.size());
        groups.push_back(std::move(all));
    }
    regroup(factor, std::move(groups), group_of);
    std::vector<Label> labels;
    for (std::size_t label = 0; label < task.labels.size(); ++label)
        if (is_kept[label]) labels.push_back(std::move(task.labels[label]));
    task.labels = std::move(labels);
    for (Factor& each : task.factors) {
        std::vector<GroupId> kept;
        for (std::size_t label = 0; label < is_kept.size(); ++label)
            if (is_kept[label]) kept.push_back(each.group_of[label]);
        std::vector<Transitions> all = std::move(each.groups);
        regroup(each, std::move(all), kept);
    }
}

// Labels of equal cost that only one factor tells apart become one: the product of the factors stays the same
// (Sievers, Wehrle & Helmert 2014, theorem on combinability).
bool reduce_labels(FactoredTask& task) {
    bool changed = false;
    std::vector<std::uint64_t> looks = label_looks(task);
    for (std::size_t i = 0; i < task.factors.size(); ++i) {
        std::vector<std::vector<std::size_t>> alike = combinable(task, i, looks);
        if (alike.empty()) continue;
        changed = true;
        combine(task, i, alike);
        looks = label_looks(task);
    }
    return changed;
}

using Move = std::pair<GroupId, std::int32_t>;  // of a state: a group of labels and the block it leads to

// Blocks of states that look alike, split until bisimilar states alone share one or there are `max_blocks`.
class Partition {
  public:
    Partition(const Factor& factor, std::int32_t max_blocks)
        : factor_(factor),
          max_blocks_(std::max(1, max_blocks)),
          out_(factor.num_states),
          signatures_(factor.num_states),
          block_(factor.num_states) {
        for (std::size_t group = 1; group < factor.groups.size(); ++group)
            for (Transition t : factor.groups[group])
                out_[t.from].push_back({static_cast<GroupId>(group), t.to});
        split_by_distance();
        while (num_blocks_ < std::min(factor_.num_states, max_blocks_) && split_by_moves()) {
        }
    }

    std::int32_t size() const { return num_blocks_; }

    // By state, blocks numbered by their first state.
    std::vector<std::int32_t> blocks() const {
        std::vector<std::int32_t> number(num_blocks_, kPruned), result;
        std::int32_t next = 0;
        for (std::int32_t block : block_) {
            if (number[block] < 0) number[block] = next++;
            result.push_back(number[block]);
        }
        return result;
    }

  private:
    // Goal states first, then by distance; what is farther away than there are blocks shares the last one.
    void split_by_distance() {
        auto key = [this](std::int32_t s) {
            return std::pair(factor_.goal_distance[s], !factor_.is_goal[s]);
        };
        for (std::int32_t s = 0; s < factor_.num_states; ++s) order_.push_back(s);
        std::ranges::stable_sort(order_, {}, key);
        for (std::size_t i = 0; i < order_.size(); ++i) {
            bool is_new = i == 0 || (key(order_[i]) != key(order_[i - 1]) && num_blocks_ < max_blocks_);
            num_blocks_ += is_new;
            block_[order_[i]] = num_blocks_ - 1;
        }
    }

    // One round, blocks near the goal first, since there estimates matter most. False where nothing changed.
    bool split_by_moves() {
        for (std::int32_t s = 0; s < factor_.num_states; ++s) {
            signatures_[s].clear();
            for (auto [group, to] : out_[s]) signatures_[s].push_back({group, block_[to]});
            std::ranges::sort(signatures_[s]);
            signatures_[s].erase(std::ranges::unique(signatures_[s]).begin(), signatures_[s].end());
        }
        const std::int32_t before = num_blocks_;
        for (std::size_t first = 0, last = 0; first < order_.size(); first = last) {
            last = first + 1;
            while (last < order_.size() && block_[order_[last]] == block_[order_[first]]) ++last;
            if (last - first > 1) split_block(first, last);
        }
        return num_blocks_ > before;
    }

    // The states of a block stay beside each other in `order_`.
    void split_block(std::size_t first, std::size_t last) {
        auto states = std::span(order_).subspan(first, last - first);
        auto signature = [this](std::int32_t s) -> const std::vector<Move>& { return signatures_[s]; };
        std::ranges::stable_sort(states, {}, signature);
        std::int32_t parts = 1;
        for (std::size_t i = 1; i < states.size(); ++i)
            parts += signature(states[i]) != signature(states[i - 1]);
        if (parts == 1 || parts - 1 > max_blocks_ - num_blocks_) return;
        std::int32_t block = block_[states[0]];
        for (std::size_t i = 1; i < states.size(); ++i) {
            if (signature(states[i]) != signature(states[i - 1])) block = num_blocks_++;
            block_[states[i]] = block;
        }
    }

    const Factor& factor_;
    std::int32_t max_blocks_, num_blocks_ = 0;
    std::vector<std::vector<Move>> out_, signatures_;
    std::vector<std::int32_t> block_, order_;
};

// Joins bisimilar states: equal goal distances, and the same labels to bisimilar states. D between them is 0
// both ways and to others the same, so nothing is lost.
bool join_bisimilar(FactoredTask& task, Factor& factor) {
    return shrink(task, factor, factor.num_states);
}

}  // namespace

// What going over it once takes.
static std::uint64_t size_of(const Factor& factor) {
    std::uint64_t size = static_cast<std::uint64_t>(factor.num_states);
    for (const Transitions& group : factor.groups) size += group.size();
    return size;
}

bool shrink(FactoredTask& task, Factor& factor, std::int32_t max_states) {
    if (factor.num_states == 0) return false;
    task.work += size_of(factor);
    const Partition partition(factor, max_states);
    if (partition.size() == factor.num_states) return false;
    map_states(task, factor, partition.blocks(), partition.size());
    return true;
}

void simplify(FactoredTask& task, BudgetWatch& watch) {
    auto is_over = [&watch] { return watch.look() != LimitHit::kNone; };
    bool changed = true;
    while (changed && !is_over()) {
        for (const Factor& factor : task.factors) task.work += size_of(factor);
        changed = drop_labels(task);
        for (Factor& factor : task.factors) changed |= prune_states(task, factor);
        if (changed) continue;
        changed |= reduce_labels(task);
        for (Factor& factor : task.factors)
            if (!is_over()) changed |= join_bisimilar(task, factor);
    }
    for (Factor& factor : task.factors) compute_goal_distances(task, factor);
}

bool merge(FactoredTask& task, std::size_t first, std::size_t second, std::uint64_t max_transitions,
           BudgetWatch& watch) {
    const Factor &a = task.factors[first], &b = task.factors[second];
    const std::uint64_t size = std::uint64_t(a.num_states) * std::uint64_t(b.num_states);
    // What is pruned is known only after the product was made, so that may be larger.
    const std::uint64_t max_product = 30 * max_transitions;
    if (size > max_product) return false;
    auto count = [](const Factor& f, GroupId group) -> std::uint64_t {
        return group == kIdentity ? f.num_states : f.groups[group].size();
    };
    std::map<std::pair<GroupId, GroupId>, GroupId> pairs;
    std::vector<GroupId> group_of;
    std::uint64_t upper = 0;
    for (std::size_t label = 0; label < task.labels.size(); ++label) {
        std::pair pair{a.group_of[label], b.group_of[label]};
        if (pair.first == kIdentity && pair.second == kIdentity) {
            group_of.push_back(kIdentity);
            continue;
        }
        auto [entry, is_new] = pairs.try_emplace(pair, static_cast<GroupId>(pairs.size() + 1));
        if (is_new) upper += count(a, pair.first) * count(b, pair.second);
        group_of.push_back(entry->second);
    }
    if (upper > max_product) return false;
    // Measured; transitions stand in their group and, while states are pruned, beside both of their ends.
    const auto states = static_cast<double>(size), transitions = static_cast<double>(upper);
    task.limit = watch.foresee(64 * states + 32 * transitions, 2e-7 * (states + transitions));
    if (task.limit != LimitHit::kNone) return false;
    task.work += size + upper;

    Factor product;
    product.num_states = static_cast<std::int32_t>(size);
    if (a.initial >= 0 && b.initial >= 0) product.initial = a.initial * b.num_states + b.initial;
    for (std::int32_t x = 0; x < a.num_states; ++x)
        for (std::int32_t y = 0; y < b.num_states; ++y)
            product.is_goal.push_back(a.is_goal[x] != 0 && b.is_goal[y] != 0);
    for (std::int32_t state = 0; state < product.num_states; ++state)
        product.projection.table.push_back(state);
    std::vector<Transitions> groups(pairs.size() + 1);
    Transitions loops_a, loops_b;
    for (std::int32_t x = 0; x < a.num_states; ++x) loops_a.push_back({x, x});
    for (std::int32_t y = 0; y < b.num_states; ++y) loops_b.push_back({y, y});
    for (auto [pair, group] : pairs) {
        const Transitions& of_a = pair.first == kIdentity ? loops_a : a.groups[pair.first];
        const Transitions& of_b = pair.second == kIdentity ? loops_b : b.groups[pair.second];
        for (Transition t : of_a)
            for (Transition u : of_b)
                groups[group].push_back({t.from * b.num_states + u.from, t.to * b.num_states + u.to});
        std::ranges::sort(groups[group]);
        task.limit = watch.check(0, 0, 1 + groups[group].size() / 10);
        if (task.limit != LimitHit::kNone) return false;
    }
    regroup(product, std::move(groups), group_of);
    prune_states(task, product);

    // What exact label reduction will leave of the product: labels that the other factors do not tell apart
    // count once.
    std::map<std::vector<GroupId>, std::vector<GroupId>> alike;
    for (std::size_t label = 0; label < task.labels.size(); ++label) {
        if (!product.is_relevant(label)) continue;
        std::vector<GroupId> others{task.labels[label].cost};
        for (std::size_t j = 0; j < task.factors.size(); ++j)
            if (j != first && j != second && task.factors[j].is_relevant(label)) {
                others.push_back(static_cast<GroupId>(j));
                others.push_back(task.factors[j].group_of[label]);
            }
        alike[std::move(others)].push_back(product.group_of[label]);
    }
    std::uint64_t total = 0;
    for (auto& [others, members] : alike) {
        std::ranges::sort(members);
        members.erase(std::ranges::unique(members).begin(), members.end());
        if (members.size() == 1) {
            total += product.groups[members[0]].size();
            continue;
        }
        Transitions all;
        for (GroupId group : members)
            all.insert(all.end(), product.groups[group].begin(), product.groups[group].end());
        std::ranges::sort(all);
        all.erase(std::ranges::unique(all).begin(), all.end());
        total += all.size();
        if (total > max_transitions) break;
    }
    if (total > max_transitions) return false;

    // The table took part in the pruning; the projections below it belong to the merged factors.
    Projection projection;
    projection.right_size = b.num_states;
    projection.table = std::move(product.projection.table);
    projection.left = std::make_unique<Projection>(std::move(task.factors[first].projection));
    projection.right = std::make_unique<Projection>(std::move(task.factors[second].projection));
    product.projection = std::move(projection);
    product.serial = task.next_serial++;
    if (task.keeps_steps)
        task.steps.push_back(
            {*task.factors[first].serial, task.factors[second].serial, product.projection.table});
    task.factors.erase(task.factors.begin() + static_cast<std::ptrdiff_t>(second));
    task.factors.erase(task.factors.begin() + static_cast<std::ptrdiff_t>(first));
    task.factors.push_back(std::move(product));
    simplify(task, watch);
    return true;
}

}  // namespace misstep
