// Non-deterministic values: a destination that assigns "any value of a box" (PlaJA) or "any value such that"
// (JANI's nondet) stands for one destination a value. Integers are unfolded exactly. A real box has too many
// values for that: where the user asked for it, evenly spaced points stand for it.
#include "jani/declarations.hpp"
#include "jani/interval.hpp"

namespace misstep::jani {

namespace {

constexpr double max_values = 4096;

Json number(std::int64_t i) {
    Json json;
    json.kind = Json::Kind::integer;
    json.integer = i;
    return json;
}

Json real(double d) {
    Json json;
    json.kind = Json::Kind::real;
    json.real = d;
    return json;
}

Json truth(bool b) {
    Json json;
    json.kind = Json::Kind::boolean;
    json.boolean = b;
    return json;
}

Json string(const char* text) {
    Json json;
    json.kind = Json::Kind::string;
    json.string = text;
    return json;
}

Json object(std::vector<JsonMember> members) {
    Json json;
    json.kind = Json::Kind::object;
    json.members = std::move(members);
    return json;
}

Json binary(const char* op, Json left, Json right) {
    return object({{"op", string(op)}, {"left", std::move(left)}, {"right", std::move(right)}});
}

// The expression with a number in the place of a name; members that are not expressions stay.
Json substitute(const Json& json, const std::string& name, const Json& value) {
    if (json.is(Json::Kind::string)) return json.string == name ? value : json;
    Json result = json;
    for (Json& item : result.items) item = substitute(item, name, value);
    for (auto& [key, member] : result.members)
        if (key != "op" && key != "var" && key != "function" && key != "constant")
            member = substitute(member, name, value);
    return result;
}

// One value, when it is possible, and by what its destination's probability is divided.
struct Candidate {
    Json value, condition, share;
};

std::vector<Candidate> box(Model& model, const Json& assignment, Type type, const Path& path,
                           const Scope& scope) {
    const Json& lower = path.need(assignment, "lower-bound");
    const Json& upper = path.need(assignment, "upper-bound");
    const Json condition = binary("≤", lower, upper);
    std::vector<Candidate> values;
    if (type == Type::real) {
        const std::uint32_t points = model.options.box_points;
        if (points < 2)
            path.unsupported(
                "a real value anywhere between two bounds; give a number of points (at least 2) "
                "that stand for it (--box-points)");
        for (std::uint32_t k = 0; k < points; ++k) {
            Json part = binary("*", binary("-", upper, lower), real(static_cast<double>(k) / (points - 1)));
            values.push_back({binary("+", lower, std::move(part)), condition, real(points)});
        }
        return values;
    }
    const Json width = binary("-", upper, lower);
    const Expr* e = model.reader.typed(width, path, scope, Type::integer);
    const double most = enclose(e, domains(model)).upper;
    if (most < 0) path.fail("no value lies between the bounds");
    if (!(most < max_values)) path.unsupported("a box of too many values");
    for (std::int64_t k = 0; k <= static_cast<std::int64_t>(most); ++k) {
        Json value = binary("+", lower, number(k));
        Json possible = binary("≤", value, upper);
        values.push_back({std::move(value), std::move(possible), binary("+", width, number(1))});
    }
    return values;
}

std::vector<Candidate> selection(const Json& nondet, const Shape& shape, const Path& path) {
    if (shape.type == Type::real || !shape.lower || !shape.upper)
        path.unsupported("'nondet' for a variable that is not a bounded integer or a truth value");
    const double count = static_cast<double>(shape.upper->i) - static_cast<double>(shape.lower->i) + 1;
    if (count > max_values) path.unsupported("'nondet' over too many values");
    const std::string name = path.string(nondet, "var");
    std::vector<Candidate> values;
    for (std::int64_t i = shape.lower->i; i <= shape.upper->i; ++i) {
        Json value = shape.type == Type::boolean ? truth(i != 0) : number(i);
        Json condition = substitute(path.need(nondet, "exp"), name, value);
        values.push_back({std::move(value), std::move(condition), real(count)});
    }
    return values;
}

const Shape& shape_of(const Json& assignment, const Path& path, const Scope& scope) {
    const Json& ref = path.need(assignment, "ref");
    const Json* target = ref.is(Json::Kind::object) ? ref.find("exp") : &ref;
    const Symbol* symbol = target && target->is(Json::Kind::string) ? scope.find(target->string) : nullptr;
    if (!symbol || symbol->kind != Symbol::Kind::variable) path.member("ref").fail("unknown variable");
    if (ref.is(Json::Kind::string) && !symbol->shape.lengths.empty())
        path.member("ref").unsupported("a non-deterministic value for an array");
    return symbol->shape;
}

std::vector<Candidate> values_of(Model& model, const Json& assignment, const Path& path, const Scope& scope) {
    const Json* value = assignment.find("value");
    if (!value) {
        if (!assignment.find("lower-bound") && !assignment.find("upper-bound")) return {};
        return box(model, assignment, shape_of(assignment, path, scope).type, path, scope);
    }
    const Json* op = value->find("op");
    if (!op || !op->is(Json::Kind::string) || op->string != "nondet") return {};
    return selection(*value, shape_of(assignment, path, scope), path.member("value"));
}

Json with_value(const Json& destination, std::size_t assignment, const Candidate& value) {
    Json result = destination;
    Json probability = number(1);
    for (auto& [key, member] : result.members) {
        if (key == "assignments") {
            auto& members = member.items[assignment].members;
            std::erase_if(members, [](const auto& m) {
                return m.name == "value" || m.name == "lower-bound" || m.name == "upper-bound";
            });
            members.emplace_back("value", value.value);
        } else if (key == "probability") {
            if (const Json* exp = member.find("exp")) probability = *exp;
        }
    }
    std::erase_if(result.members, [](const auto& m) { return m.name == "probability"; });
    Json exp = object({{"op", string("ite")},
                       {"if", value.condition},
                       {"then", binary("/", std::move(probability), value.share)},
                       {"else", real(0)}});
    result.members.emplace_back("probability", object({{"exp", std::move(exp)}}));
    return result;
}

}  // namespace

std::vector<Json> unfold(Model& model, const Json& destination, const Path& path, const Scope& scope) {
    std::vector<Json> result{destination};
    const Json& assignments = path.array(destination, "assignments");
    for (std::size_t i = 0; i < assignments.items.size(); ++i) {
        Path at = path.member("assignments").item(i);
        if (!assignments.items[i].is(Json::Kind::object)) at.fail("expected an object");
        const std::vector<Candidate> values = values_of(model, assignments.items[i], at, scope);
        if (values.empty()) continue;
        if (static_cast<double>(result.size() * values.size()) > max_values)
            at.unsupported("too many non-deterministic values at once");
        std::vector<Json> more;
        for (const Json& json : result)
            for (const Candidate& value : values) more.push_back(with_value(json, i, value));
        result = std::move(more);
    }
    return result;
}

}  // namespace misstep::jani
