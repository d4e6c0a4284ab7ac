#include "state/successor_generator.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace misstep {
namespace {

// Node layouts (32-bit words):
//   kLeaf:   kind, n, n actions
//   kDense:  kind, word, shift, mask, otherwise, child of value 0, child of value 1, ...   (offsets, 0 =
//   none) kSparse: kind, word, shift, mask, otherwise, n, n times (value, child), sorted by value
// A node may be preceded by immediate actions: kActions, n, n actions, and then the node itself.
enum NodeKind : std::uint32_t { kLeaf, kDense, kSparse, kActions };

constexpr std::size_t kDenseFactor = 4;  // dense when at least a quarter of the values have a child

}  // namespace

SuccessorGenerator::SuccessorGenerator(const Task& task, const StatePacker& packer)
    : num_words_(packer.num_words()) {
    precondition_start_.push_back(0);
    effect_start_.push_back(0);
    for (const Action& action : task.actions) {
        auto pre = packer.condition(action.precondition);
        auto effect = packer.condition(action.effect);
        preconditions_.insert(preconditions_.end(), pre.begin(), pre.end());
        effects_.insert(effects_.end(), effect.begin(), effect.end());
        precondition_start_.push_back(static_cast<std::uint32_t>(preconditions_.size()));
        effect_start_.push_back(static_cast<std::uint32_t>(effects_.size()));
    }
    std::vector<ActionId> actions(task.actions.size());
    for (std::size_t i = 0; i < actions.size(); ++i) actions[i] = static_cast<ActionId>(i);
    // Sorting by precondition puts the actions of one subtree side by side.
    std::ranges::stable_sort(actions, [&task](ActionId a, ActionId b) {
        return task.actions[a].precondition < task.actions[b].precondition;
    });
    if (actions.empty()) code_ = {kLeaf, 0};
    build(task, packer, actions, 0);
}

// Emits the tree for actions that agree on their first `depth` precondition facts.
void SuccessorGenerator::build(const Task& task, const StatePacker& packer, std::span<const ActionId> first,
                               int depth) {
    std::vector<ActionId> actions(first.begin(), first.end());
    // Actions that do not care about the variable come last, so a loop serves instead of a recursion: the
    // depth of the recursion is the number of preconditions of one action, which the parser bounds.
    while (!actions.empty()) actions = build_switch(task, packer, actions, depth);
}

// Emits one node with its subtrees and returns the actions that go on as its `otherwise` child.
std::vector<ActionId> SuccessorGenerator::build_switch(const Task& task, const StatePacker& packer,
                                                       std::span<const ActionId> actions, int depth) {
    auto precondition = [&](ActionId a) -> const std::vector<Fact>& { return task.actions[a].precondition; };
    std::vector<ActionId> done;
    int switch_var = task.num_variables();
    for (ActionId a : actions) {
        if (static_cast<int>(precondition(a).size()) == depth)
            done.push_back(a);
        else
            switch_var = std::min(switch_var, precondition(a)[depth].var);
    }
    std::ranges::sort(done);
    bool leaf = done.size() == actions.size();
    if (leaf || !done.empty()) {
        code_.push_back(leaf ? kLeaf : kActions);
        code_.push_back(static_cast<std::uint32_t>(done.size()));
        code_.insert(code_.end(), done.begin(), done.end());
        if (leaf) return {};
    }
    std::map<std::int32_t, std::vector<ActionId>> by_value;
    std::vector<ActionId> otherwise;
    for (ActionId a : actions) {
        if (static_cast<int>(precondition(a).size()) == depth) continue;
        Fact fact = precondition(a)[depth];
        (fact.var == switch_var ? by_value[fact.value] : otherwise).push_back(a);
    }
    const PackedVariable& v = packer.variable(switch_var);
    std::size_t domain_size = static_cast<std::size_t>(task.variables[switch_var].domain_size());
    bool dense = by_value.size() * kDenseFactor >= domain_size;
    code_.insert(code_.end(), {dense ? kDense : kSparse, v.word, v.shift, v.mask, 0});
    std::size_t otherwise_at = code_.size() - 1;
    std::size_t children_at = code_.size();
    if (dense) {
        code_.insert(code_.end(), domain_size, 0);
    } else {
        code_.push_back(static_cast<std::uint32_t>(by_value.size()));
        for (const auto& [value, _] : by_value)
            code_.insert(code_.end(), {static_cast<std::uint32_t>(value), 0});
    }
    std::size_t i = 0;
    for (const auto& [value, children] : by_value) {
        std::size_t at = dense ? children_at + static_cast<std::size_t>(value) : children_at + 2 + 2 * i++;
        code_[at] = static_cast<std::uint32_t>(code_.size());
        build(task, packer, children, depth + 1);
    }
    if (!otherwise.empty()) code_[otherwise_at] = static_cast<std::uint32_t>(code_.size());
    return otherwise;
}

void SuccessorGenerator::applicable(const Word* state, std::vector<ActionId>& out) const {
    visit(state, code_.data(), out);
}

void SuccessorGenerator::visit(const Word* state, const std::uint32_t* node,
                               std::vector<ActionId>& out) const {
    const std::uint32_t* code = code_.data();
    while (true) {
        if (node[0] == kLeaf || node[0] == kActions) {
            std::uint32_t n = node[1];
            out.insert(out.end(), node + 2, node + 2 + n);
            if (node[0] == kLeaf) return;
            node += 2 + n;
        }
        std::uint32_t value = (state[node[1]] >> node[2]) & node[3];
        std::uint32_t child = 0;
        if (node[0] == kDense) {
            child = node[5 + value];
        } else {
            std::uint32_t low = 0, high = node[5];
            const std::uint32_t* entries = node + 6;
            while (low < high) {
                std::uint32_t middle = (low + high) / 2;
                if (entries[2 * middle] < value)
                    low = middle + 1;
                else
                    high = middle;
            }
            if (low < node[5] && entries[2 * low] == value) child = entries[2 * low + 1];
        }
        std::uint32_t otherwise = node[4];
        if (child != 0 && otherwise != 0) visit(state, code + child, out);
        if (otherwise != 0)
            node = code + otherwise;
        else if (child != 0)
            node = code + child;
        else
            return;
    }
}

StateSpace::StateSpace(const Task& task_)
    : task(task_),
      packer(task_),
      generator(task_, packer),
      goal(packer.condition(task_.goal)),
      initial(packer.num_words()) {
    packer.pack(task.initial.data(), initial.data());
    std::unordered_map<std::string_view, ActionId> last;
    std::vector<ActionId> first(task.actions.size()), next(task.actions.size(), kNoAction);
    for (ActionId a = 0; a < task.actions.size(); ++a) {
        auto [entry, is_new] = last.try_emplace(task.actions[a].name, a);
        first[a] = is_new ? a : first[entry->second];
        if (!is_new) next[std::exchange(entry->second, a)] = a;
    }
    if (last.size() == task.actions.size()) return;
    first_split_ = std::move(first);
    next_split_ = std::move(next);
}

ActionId StateSpace::meant(const Word* state, ActionId answer) const {
    if (!has_splits() || answer >= task.actions.size()) return answer;
    ActionId action = first_split_[answer];
    while (action != kNoAction && !generator.is_applicable(state, action)) action = next_split_[action];
    return action == kNoAction ? first_split_[answer] : action;
}

}  // namespace misstep
