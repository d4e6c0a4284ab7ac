#include "jani/declarations.hpp"

#include <algorithm>
#include <set>

namespace misstep::jani {

namespace {

constexpr std::uint32_t max_cells = 1u << 20;

}  // namespace

void Declarations::actions() {
    const Json& actions = root_.array(json_, "actions");
    for (std::size_t i = 0; i < actions.items.size(); ++i) {
        std::string name = root_.member("actions").item(i).string(actions.items[i], "name");
        if (!actions_.emplace(name, static_cast<std::uint32_t>(actions_.size())).second)
            root_.member("actions").item(i).fail("the action '" + name + "' is declared twice");
    }
}

std::uint32_t Declarations::action(const std::string& name, const Path& path) const {
    auto found = actions_.find(name);
    if (found == actions_.end()) path.fail("unknown action '" + name + "'");
    return found->second;
}

void Declarations::declare(Scope& scope, const std::string& name, Symbol symbol, const Path& path) {
    if (!scope.symbols.emplace(name, std::move(symbol)).second)
        path.fail("the name '" + name + "' is declared twice");
}

void Declarations::constants() {
    std::set<std::string> given;
    const Json& constants = root_.array(json_, "constants");
    for (std::size_t i = 0; i < constants.items.size(); ++i) {
        Path at = root_.member("constants").item(i);
        const Json& declaration = constants.items[i];
        std::string name = at.string(declaration, "name");
        Shape shape = type(at.need(declaration, "type"), at.member("type"), m_.globals);
        const Json* value = declaration.find("value");
        for (const auto& [given_name, given_value] : m_.options.constants)
            if (given_name == name) value = &given_value, given.insert(name);
        if (!value)
            at.fail("the constant '" + name + "' has no value; give one (--constant " + name + "=VALUE)");
        Value v = m_.reader.constant(*value, at.member("value"), m_.globals, shape.type);
        Symbol symbol{Symbol::Kind::constant, shape, m_.pool.constant(shape.type, v), 0, false};
        declare(m_.globals, name, std::move(symbol), at);
    }
    for (const auto& [name, value] : m_.options.constants)
        if (!given.contains(name)) root_.member("constants").fail("the model has no constant '" + name + "'");
}

void Declarations::functions(const Json& json, const Path& path, Scope& scope) {
    const Json& list = path.array(json, "functions");
    for (std::size_t i = 0; i < list.items.size(); ++i) {
        Path at = path.member("functions").item(i);
        std::string name = at.string(list.items[i], "name");
        if (!scope.functions.emplace(name, &list.items[i]).second)
            at.fail("the function '" + name + "' is declared twice");
    }
}

Shape Declarations::type(const Json& json, const Path& path, const Scope& scope) {
    Shape shape;
    if (json.is(Json::Kind::string)) {
        if (json.string == "bool") {
            shape.type = Type::boolean;
            shape.lower = make(std::int64_t{0}), shape.upper = make(std::int64_t{1});
        } else if (json.string == "int") {
            shape.type = Type::integer;
        } else if (json.string == "real") {
            shape.type = Type::real;
        } else {
            path.unsupported("type '" + json.string + "'");
        }
        return shape;
    }
    std::string kind = path.string(json, "kind");
    if (kind == "array") {
        shape = type(path.need(json, "base"), path.member("base"), scope);
        shape.lengths.insert(shape.lengths.begin(), 0);  // known from the initial value
        return shape;
    }
    if (kind != "bounded") path.member("kind").unsupported("type '" + kind + "'");
    shape = type(path.need(json, "base"), path.member("base"), scope);
    if (shape.type == Type::boolean || !shape.lengths.empty()) path.fail("only int and real can be bounded");
    if (const Json* lower = json.find("lower-bound"))
        shape.lower = m_.reader.constant(*lower, path.member("lower-bound"), scope, shape.type);
    if (const Json* upper = json.find("upper-bound"))
        shape.upper = m_.reader.constant(*upper, path.member("upper-bound"), scope, shape.type);
    if (shape.lower && shape.upper &&
        (shape.type == Type::real ? shape.lower->d > shape.upper->d : shape.lower->i > shape.upper->i))
        path.fail("the lower bound is above the upper bound");
    return shape;
}

void Declarations::variables(const Json& json, const Path& path, Scope& scope, const std::string& prefix) {
    const Json& list = path.array(json, "variables");
    for (std::size_t i = 0; i < list.items.size(); ++i) {
        Path at = path.member("variables").item(i);
        const Json& declaration = list.items[i];
        std::string name = at.string(declaration, "name");
        Variable v;
        v.name = prefix + name;
        v.shape = type(at.need(declaration, "type"), at.member("type"), scope);
        const Json* transient = declaration.find("transient");
        v.transient = transient && transient->is(Json::Kind::boolean) && transient->boolean;
        initial_value(declaration.find("initial-value"), at, scope, v);
        v.slot = m_.program.reserve(v.shape.cells());
        if (!v.transient) fields(v);
        declare(scope, name, Symbol{Symbol::Kind::variable, v.shape, nullptr, v.slot, v.transient}, at);
        m_.variables.push_back(std::move(v));
    }
}

void Declarations::initial_value(const Json* json, const Path& at, const Scope& scope, Variable& v) {
    Path path = at.member("initial-value");
    if (!json) {
        if (!v.shape.lengths.empty())
            path.unsupported("an array without an initial value (its length is unknown)");
        if (v.transient) at.fail("a transient variable needs an initial value");
        if (v.shape.type == Type::real) path.unsupported("a real variable without an initial value");
        if (!v.shape.lower || !v.shape.upper) path.fail("an unbounded variable needs an initial value");
        return;
    }
    Cells cells = m_.reader.cells(*json, path, scope);
    if (cells.lengths.size() != v.shape.lengths.size())
        path.fail("the value has another shape than the type");
    v.shape.lengths = cells.lengths;
    if (cells.cells.size() > max_cells) path.fail("the array is too large");
    for (const Expr* e : cells.cells) {
        if (v.shape.type == Type::real) e = m_.pool.as_real(e);
        if (e->type != v.shape.type) path.fail("the value has another type than the variable");
        if (e->op != Op::constant) path.fail("expected a constant expression");
        bool low = v.shape.lower && (v.shape.type == Type::real ? e->value.d < v.shape.lower->d
                                                                : e->value.i < v.shape.lower->i);
        bool high = v.shape.upper && (v.shape.type == Type::real ? e->value.d > v.shape.upper->d
                                                                 : e->value.i > v.shape.upper->i);
        if ((low || high) && !v.transient) path.fail("the initial value is out of bounds");
        v.initial.push_back(e->value);
    }
}

void Declarations::fields(const Variable& v) {
    for (std::uint32_t i = 0; i < v.shape.cells(); ++i) {
        std::string name = v.shape.lengths.empty() ? v.name : v.name + "[" + std::to_string(i) + "]";
        m_.add_field(v.slot + i, v.shape.type, v.shape.lower ? &*v.shape.lower : nullptr,
                     v.shape.upper ? &*v.shape.upper : nullptr, std::move(name));
    }
}

std::int64_t Declarations::location(const Instance& in, const std::string& name, const Path& path) const {
    auto found = std::find(in.locations.begin(), in.locations.end(), name);
    if (found == in.locations.end()) path.fail("unknown location '" + name + "'");
    return found - in.locations.begin();
}

}  // namespace misstep::jani
