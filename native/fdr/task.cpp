#include "fdr/task.hpp"

#include <algorithm>
#include <sstream>

namespace misstep {

Cost Task::min_action_cost() const {
    Cost best = kInfinity;
    for (const Action& action : actions) best = std::min(best, action.cost);
    return best;
}

std::string atom_from_sas(std::string_view sas_name) {
    constexpr std::string_view kAtom = "Atom ", kNegated = "NegatedAtom ";
    bool negated = sas_name.starts_with(kNegated);
    if (!negated && !sas_name.starts_with(kAtom)) return {};
    std::string_view body = sas_name.substr(negated ? kNegated.size() : kAtom.size());
    std::string atom = "(";
    for (char c : body) {
        if (c == '(')
            atom += ' ';
        else if (c != ',' && c != ')')  // "p(a, b)": the blank after the comma stays
            atom += c;
    }
    while (atom.back() == ' ') atom.pop_back();
    atom += ')';
    return negated ? "(not " + atom + ")" : atom;
}

namespace {

// "(on a b)" -> "Atom on(a, b)"; the value without an atom becomes "<none of those>".
std::string sas_from_atom(std::string_view atom) {
    constexpr std::string_view kNot = "(not ";
    if (atom.empty()) return "<none of those>";
    bool negated = atom.starts_with("(not (");
    if (negated) atom = atom.substr(kNot.size(), atom.size() - kNot.size() - 1);
    std::istringstream words{std::string(atom.substr(1, atom.size() - 2))};
    std::string word, result = negated ? "NegatedAtom " : "Atom ";
    words >> word;
    result += word + "(";
    for (bool first = true; words >> word; first = false) result += (first ? "" : ", ") + word;
    return result + ")";
}

}  // namespace

std::string write_sas(const Task& task) {
    std::ostringstream out;
    out << "begin_version\n3\nend_version\nbegin_metric\n"
        << (task.has_metric ? 1 : 0) << "\nend_metric\n"
        << task.num_variables() << "\n";
    for (const Variable& variable : task.variables) {
        out << "begin_variable\n" << variable.name << "\n-1\n" << variable.domain_size() << "\n";
        for (const std::string& value : variable.values) out << sas_from_atom(value) << "\n";
        out << "end_variable\n";
    }
    out << "0\nbegin_state\n";
    for (std::int32_t value : task.initial) out << value << "\n";
    out << "end_state\nbegin_goal\n" << task.goal.size() << "\n";
    for (Fact fact : task.goal) out << fact.var << " " << fact.value << "\n";
    out << "end_goal\n" << task.num_actions() << "\n";
    for (const Action& action : task.actions) {
        std::vector<Fact> prevail;
        for (Fact pre : action.precondition) {
            bool affected =
                std::ranges::any_of(action.effect, [pre](Fact effect) { return effect.var == pre.var; });
            if (!affected) prevail.push_back(pre);
        }
        out << "begin_operator\n" << action.name.substr(1, action.name.size() - 2) << "\n";
        out << prevail.size() << "\n";
        for (Fact fact : prevail) out << fact.var << " " << fact.value << "\n";
        out << action.effect.size() << "\n";
        for (Fact effect : action.effect) {
            auto pre = std::ranges::find(action.precondition, effect.var, &Fact::var);
            int before = pre == action.precondition.end() ? -1 : pre->value;
            out << "0 " << effect.var << " " << before << " " << effect.value << "\n";
        }
        out << action.cost << "\nend_operator\n";
    }
    out << "0\n";
    return out.str();
}

}  // namespace misstep
