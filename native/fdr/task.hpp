// A classical planning task in finite-domain representation (FDR): immutable once built.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace misstep {

// Costs of actions, and estimates of what plans cost. Infinity is a value of its own; finite values never
// exceed kMaxCost, at which estimates stay: such a one is still a lower bound where it was meant as one, but
// no more.
using Cost = std::int32_t;
inline constexpr Cost kInfinity = std::numeric_limits<Cost>::max();
inline constexpr Cost kMaxCost = (1 << 30) - 2;

// The sum of two costs that are at most kMaxCost, kept at most kMaxCost.
inline Cost add_costs(Cost a, Cost b) {
    Cost sum = a + b;
    return sum > kMaxCost ? kMaxCost : sum;
}

// What several actions cost together, exactly: no run or plan that fits into memory comes near the largest
// value.
using Total = std::int64_t;
inline constexpr Total kEndless = std::numeric_limits<Total>::max();  // there is no end, or no plan

// A total in a record of 32-bit words.
class StoredTotal {
  public:
    StoredTotal() = default;
    StoredTotal(Total total)
        : low_(static_cast<std::uint32_t>(total)),
          high_(static_cast<std::uint32_t>(static_cast<std::uint64_t>(total) >> 32)) {}
    operator Total() const { return static_cast<Total>((std::uint64_t{high_} << 32) | low_); }

  private:
    std::uint32_t low_, high_;
};

// The total as a cost, for orders and for lower bounds.
inline Cost at_most_max(Total total) {
    return static_cast<Cost>(total > kMaxCost ? kMaxCost : total);
}

struct Fact {
    std::int32_t var;
    std::int32_t value;
    friend bool operator==(const Fact&, const Fact&) = default;
    friend auto operator<=>(const Fact&, const Fact&) = default;
};

struct Variable {
    std::string name;
    // PDDL atoms: "(on a b)", "(not (on a b))" for a negated atom, "" where no atom of the variable holds.
    std::vector<std::string> values;
    int domain_size() const { return static_cast<int>(values.size()); }
};

struct Action {
    std::string name;                // "(move a b)"
    std::vector<Fact> precondition;  // sorted by variable, one fact a variable
    std::vector<Fact> effect;  // likewise; effects that the precondition already guarantees are left out
    Cost cost = 1;
};

struct Task {
    std::vector<Variable> variables;
    std::vector<Action> actions;
    std::vector<std::int32_t> initial;  // a value for each variable
    std::vector<Fact> goal;             // sorted by variable
    bool has_metric = false;

    int num_variables() const { return static_cast<int>(variables.size()); }
    int num_actions() const { return static_cast<int>(actions.size()); }
    Cost min_action_cost() const;
};

// Reads Fast Downward's SAS format, version 3. Throws InputError "source:line: ..." for anything malformed
// and UnsupportedFeature for axioms and conditional effects.
Task parse_sas(std::string_view text, const std::string& source);

// "Atom on(a, b)" -> "(on a b)", "NegatedAtom p()" -> "(not (p))", "<none of those>" -> "".
std::string atom_from_sas(std::string_view sas_name);

// Lower case, one blank between words: "(On  A b )" -> "(on a b)".
std::string normalised(std::string_view text);

// Makes names say which value or action is meant. Of each variable one value may have no atom; other values
// without one, and atoms that were used before, become "(value VARIABLE VALUE)". Actions may share a name
// where they do the same; another one of that name gets its number behind it.
void name_apart(Task& task);

// The inverse of parse_sas, up to names that SAS files and PDDL write differently.
std::string write_sas(const Task& task);

}  // namespace misstep
