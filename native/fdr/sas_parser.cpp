// A reader for SAS files that trusts nothing: every count, index and keyword is checked, with the line in the
// message.
#include <algorithm>
#include <charconv>

#include "fdr/task.hpp"
#include "util/error.hpp"

namespace misstep {
namespace {

constexpr std::int64_t kMaxVariables = 1'000'000;
constexpr std::int64_t kMaxDomainSize = 1'000'000;
constexpr std::int64_t kMaxActionCost = 10'000'000;
constexpr std::size_t kMaxPreconditions = 4096;  // the successor generator recurses over them

class SasParser {
  public:
    SasParser(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

    Task parse() {
        parse_header();
        parse_variables();
        skip_mutex_groups();
        parse_state();
        task_.goal = parse_goal();
        parse_actions();
        std::int64_t axioms = count("number of axioms", kMaxVariables);
        if (axioms > 0)
            throw UnsupportedFeature(where() + "the task has " + std::to_string(axioms) +
                                     " axioms (derived predicates, or quantified or negated complex "
                                     "conditions that the translator compiles into them); misstep handles "
                                     "tasks without axioms only: rewrite the domain without them");
        name_apart(task_);
        return std::move(task_);
    }

  private:
    std::string where() const { return source_ + ":" + std::to_string(line_) + ": "; }

    [[noreturn]] void fail(const std::string& message) const {
        throw InputError(where() + message + " (is this a complete SAS file, version 3?)");
    }

    std::string_view line(const char* expected) {
        ++line_;
        if (rest_.empty()) fail(std::string("the file ends where ") + expected + " should be");
        std::size_t end = rest_.find('\n');
        std::string_view result = rest_.substr(0, end);
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
        while (!result.empty() && (result.back() == '\r' || result.back() == ' ')) result.remove_suffix(1);
        return result;
    }

    void keyword(const char* word) {
        std::string_view found = line(word);
        if (found != word) fail(std::string("expected '") + word + "', found '" + shown(found) + "'");
    }

    static std::string shown(std::string_view text) {
        std::string result;
        for (char c : text.substr(0, 60)) result += (c >= 32 && c < 127) ? c : '?';
        return text.size() > 60 ? result + "..." : result;
    }

    std::vector<std::int64_t> numbers(const char* what, std::size_t how_many) {
        std::string_view text = line(what);
        std::vector<std::int64_t> result;
        const char* at = text.data();
        const char* end = at + text.size();
        while (at != end) {
            while (at != end && *at == ' ') ++at;
            if (at == end) break;
            std::int64_t value = 0;
            auto [next, error] = std::from_chars(at, end, value);
            if (error != std::errc{} || (next != end && *next != ' '))
                fail(std::string("expected ") + what + ", found '" + shown(text) + "'");
            result.push_back(value);
            at = next;
        }
        if (how_many != 0 && result.size() != how_many)
            fail(std::string("expected ") + what + ", found '" + shown(text) + "'");
        return result;
    }

    std::int64_t count(const char* what, std::int64_t max) {
        std::int64_t value = numbers(what, 1)[0];
        if (value < 0 || value > max) fail(std::string(what) + " is " + std::to_string(value));
        return value;
    }

    int variable_index(std::int64_t var) const {
        if (var < 0 || var >= static_cast<std::int64_t>(task_.variables.size()))
            fail("variable " + std::to_string(var) + " does not exist; there are " +
                 std::to_string(task_.variables.size()));
        return static_cast<int>(var);
    }

    Fact fact(std::int64_t var, std::int64_t value) const {
        int index = variable_index(var);
        int size = task_.variables[index].domain_size();
        if (value < 0 || value >= size)
            fail("value " + std::to_string(value) + " is outside of the " + std::to_string(size) +
                 " values of variable " + std::to_string(var));
        return {index, static_cast<std::int32_t>(value)};
    }

    void parse_header() {
        keyword("begin_version");
        std::int64_t version = numbers("the version number", 1)[0];
        if (version != 3)
            throw UnsupportedFeature(where() + "SAS format version " + std::to_string(version) +
                                     "; misstep reads version 3");
        keyword("end_version");
        keyword("begin_metric");
        std::int64_t metric = numbers("the metric flag (0 or 1)", 1)[0];
        if (metric != 0 && metric != 1) fail("the metric flag is " + std::to_string(metric));
        task_.has_metric = metric == 1;
        keyword("end_metric");
    }

    void parse_variables() {
        std::int64_t n = count("number of variables", kMaxVariables);
        for (std::int64_t i = 0; i < n; ++i) {
            keyword("begin_variable");
            Variable variable;
            variable.name = std::string(line("a variable name"));
            if (numbers("the axiom layer", 1)[0] != -1)
                throw UnsupportedFeature(where() + "variable '" + variable.name +
                                         "' is derived by axioms; misstep handles tasks without axioms only");
            std::int64_t size = count("domain size", kMaxDomainSize);
            if (size < 1) fail("variable '" + variable.name + "' has no values");
            for (std::int64_t v = 0; v < size; ++v)
                variable.values.push_back(normalised(atom_from_sas(line("a fact name"))));
            keyword("end_variable");
            task_.variables.push_back(std::move(variable));
        }
    }

    void skip_mutex_groups() {
        std::int64_t n = count("number of mutex groups", std::int64_t{1} << 40);
        for (std::int64_t i = 0; i < n; ++i) {
            keyword("begin_mutex_group");
            std::int64_t size = count("size of a mutex group", std::int64_t{1} << 40);
            for (std::int64_t k = 0; k < size; ++k) {
                auto pair = numbers("a fact (variable value)", 2);
                fact(pair[0], pair[1]);
            }
            keyword("end_mutex_group");
        }
    }

    void parse_state() {
        keyword("begin_state");
        for (std::size_t var = 0; var < task_.variables.size(); ++var)
            task_.initial.push_back(
                fact(static_cast<std::int64_t>(var), numbers("an initial value", 1)[0]).value);
        keyword("end_state");
    }

    std::vector<Fact> parse_goal() {
        keyword("begin_goal");
        std::vector<Fact> goal;
        std::int64_t n = count("number of goal facts", kMaxVariables);
        for (std::int64_t i = 0; i < n; ++i) {
            auto pair = numbers("a goal fact (variable value)", 2);
            add_fact(goal, fact(pair[0], pair[1]), "the goal");
        }
        keyword("end_goal");
        std::ranges::sort(goal);
        return goal;
    }

    void add_fact(std::vector<Fact>& facts, Fact added, const std::string& what) const {
        for (Fact known : facts) {
            if (known == added) return;
            if (known.var == added.var)
                fail(what + " asks for two values of variable " + std::to_string(added.var));
        }
        facts.push_back(added);
    }

    void parse_actions() {
        std::int64_t n = count("number of operators", std::int64_t{1} << 31);
        for (std::int64_t i = 0; i < n; ++i) task_.actions.push_back(parse_action());
    }

    Action parse_action() {
        keyword("begin_operator");
        Action action;
        action.name = normalised("(" + std::string(line("an operator name")) + ")");
        std::int64_t prevails = count("number of prevail conditions", kMaxVariables);
        for (std::int64_t k = 0; k < prevails; ++k) {
            auto pair = numbers("a prevail condition (variable value)", 2);
            add_fact(action.precondition, fact(pair[0], pair[1]), "operator " + action.name);
        }
        std::int64_t effects = count("number of effects", kMaxVariables);
        for (std::int64_t k = 0; k < effects; ++k) {
            auto effect = numbers("an effect (0 variable old-value new-value)", 0);
            if (!effect.empty() && effect[0] > 0)
                throw UnsupportedFeature(where() + "operator " + action.name +
                                         " has a conditional effect; misstep handles unconditional effects "
                                         "only: split the action in the domain file");
            if (effect.size() != 4 || effect[0] != 0) fail("an effect should be '0 variable old new'");
            if (effect[2] != -1)
                add_fact(action.precondition, fact(effect[1], effect[2]), "operator " + action.name);
            Fact added = fact(effect[1], effect[3]);
            for (Fact known : action.effect)
                if (known.var == added.var)
                    fail("operator " + action.name + " sets variable " + std::to_string(added.var) +
                         " twice");
            action.effect.push_back(added);
        }
        std::int64_t cost = numbers("an operator cost", 1)[0];
        if (cost < 0) fail("operator " + action.name + " has the negative cost " + std::to_string(cost));
        if (cost > kMaxActionCost)
            throw UnsupportedFeature(where() + "operator " + action.name + " costs " + std::to_string(cost) +
                                     "; the largest cost is " + std::to_string(kMaxActionCost));
        action.cost = task_.has_metric ? static_cast<Cost>(cost) : 1;
        keyword("end_operator");
        if (action.precondition.size() > kMaxPreconditions)
            throw UnsupportedFeature(where() + "operator " + action.name + " has more than " +
                                     std::to_string(kMaxPreconditions) + " preconditions");
        std::ranges::sort(action.precondition);
        std::erase_if(action.effect,
                      [&](Fact effect) { return std::ranges::binary_search(action.precondition, effect); });
        std::ranges::sort(action.effect);
        return action;
    }

    std::string_view rest_;
    const std::string& source_;
    std::int64_t line_ = 0;
    Task task_;
};

}  // namespace

Task parse_sas(std::string_view text, const std::string& source) {
    return SasParser(text, source).parse();
}

}  // namespace misstep
