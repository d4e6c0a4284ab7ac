// Names that tell everything apart: whatever is written about a task must be read back as the same.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "fdr/task.hpp"
#include "util/error.hpp"

namespace misstep {
namespace {

// Beyond so many comparisons, more than any translator gives reason for, actions of one name count as
// different.
constexpr std::size_t kMaxCompared = std::size_t{1} << 22;

bool is_atom(const std::string& value) {
    return !value.empty() && !value.starts_with("(not ");
}

std::optional<std::int32_t> value_in(const std::vector<Fact>& facts, std::int32_t var) {
    auto found = std::ranges::find(facts, var, &Fact::var);
    return found == facts.end() ? std::nullopt : std::optional(found->value);
}

// Whether two actions do the same at the same cost wherever both are applicable. The translator splits an
// action whose precondition is a disjunction into such ones; an effect that one of them writes may be what
// the other needs.
bool do_the_same(const Action& a, const Action& b) {
    for (Fact fact : a.precondition)
        if (auto other = value_in(b.precondition, fact.var); other && *other != fact.value) return true;
    auto result = [&](const Action& action, std::int32_t var) {
        if (auto written = value_in(action.effect, var)) return written;
        if (auto needed = value_in(a.precondition, var)) return needed;
        return value_in(b.precondition, var);
    };
    auto same = [&](Fact fact) { return result(a, fact.var) == result(b, fact.var); };
    return a.cost == b.cost && std::ranges::all_of(a.effect, same) && std::ranges::all_of(b.effect, same);
}

void name_values_apart(std::vector<Variable>& variables) {
    std::unordered_set<std::string> used;
    std::vector<std::pair<std::size_t, std::size_t>> unclear;
    for (std::size_t var = 0; var < variables.size(); ++var) {
        bool has_unlisted = false;  // one value of a variable may be the one of which nothing is listed
        for (std::size_t value = 0; value < variables[var].values.size(); ++value) {
            const std::string& name = variables[var].values[value];
            bool is_clear = is_atom(name) ? used.insert(name).second : !std::exchange(has_unlisted, true);
            if (!is_clear) unclear.emplace_back(var, value);
        }
    }
    for (auto [var, value] : unclear) {
        std::string name = "(value " + std::to_string(var) + " " + std::to_string(value) + ")";
        if (!used.insert(name).second)
            throw InputError("the values of variable '" + variables[var].name +
                             "' cannot be told apart by their names; give each of them an atom of its own");
        variables[var].values[value] = std::move(name);
    }
}

// Numbers the actions of one name so that those with the same number certainly do the same: they cost the
// same, and write the same facts. What others of the name write and an action needs anyway, it writes as
// well; so a split that needs an effect of the action is like all others.
std::vector<std::size_t> kinds_of(const std::vector<Action>& actions, const std::vector<std::size_t>& same) {
    std::map<std::int32_t, std::int32_t> written;  // by all of them together
    bool is_consistent = true;
    for (std::size_t a : same)
        for (Fact fact : actions[a].effect)
            is_consistent &= written.try_emplace(fact.var, fact.value).first->second == fact.value;
    std::map<std::pair<Cost, std::vector<Fact>>, std::size_t> numbers;
    std::vector<std::size_t> kinds;
    for (std::size_t a : same) {
        std::vector<Fact> effect = actions[a].effect;
        if (is_consistent)
            for (Fact fact : actions[a].precondition)
                if (auto found = written.find(fact.var);
                    found != written.end() && found->second == fact.value)
                    effect.push_back(fact);
        std::ranges::sort(effect);
        kinds.push_back(
            numbers.try_emplace({actions[a].cost, std::move(effect)}, numbers.size()).first->second);
    }
    return kinds;
}

void name_actions_apart(std::vector<Action>& actions) {
    std::unordered_map<std::string, std::vector<std::size_t>> named;
    for (std::size_t a = 0; a < actions.size(); ++a) named[actions[a].name].push_back(a);
    std::vector<std::size_t> unclear;
    std::size_t compared = 0;
    for (auto& [_, same] : named) {
        if (same.size() == 1) continue;
        const std::vector<std::size_t> kinds = kinds_of(actions, same);
        std::vector<std::size_t> kept;  // places in `same` of those that go on sharing the name
        for (std::size_t i = 0; i < same.size(); ++i) {
            auto is_like = [&](std::size_t k) {
                return kinds[k] == kinds[i] ||
                       (++compared <= kMaxCompared && do_the_same(actions[same[k]], actions[same[i]]));
            };
            if (std::ranges::all_of(kept, is_like))
                kept.push_back(i);
            else
                unclear.push_back(same[i]);
        }
    }
    std::ranges::sort(unclear);
    for (std::size_t a : unclear) {
        std::string& name = actions[a].name;
        name.insert(name.size() - 1, " #" + std::to_string(a));
        if (named.contains(name))
            throw InputError("there are two different actions with the name " + name + "; rename one");
    }
}

}  // namespace

std::string normalised(std::string_view text) {
    std::string result;
    for (char c : text) {
        if (c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f') c = ' ';
        if (c == ' ' && (result.empty() || result.back() == ' ' || result.back() == '(')) continue;
        if (c == ')' && !result.empty() && result.back() == ' ') result.pop_back();
        result += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    while (!result.empty() && result.back() == ' ') result.pop_back();
    return result;
}

void name_apart(Task& task) {
    name_values_apart(task.variables);
    name_actions_apart(task.actions);
}

}  // namespace misstep
