// From JSON to typed expressions: names are looked up, functions and array constructors are unfolded.
#include <algorithm>

#include "jani/expr.hpp"
#include "util/error.hpp"

namespace misstep::jani {

namespace {

constexpr int max_call_depth = 64;
constexpr std::uint64_t max_calls = 1'000'000;
constexpr int max_depth = 4000;
constexpr std::int64_t max_array = 1 << 20;

const char* name(Type type) {
    return type == Type::boolean ? "bool" : type == Type::integer ? "int" : "real";
}

struct Binary {
    Op op;
    bool real_only;
};

const std::unordered_map<std::string, Binary> arithmetic = {
    {"+", {Op::add, false}},    {"-", {Op::subtract, false}},  {"*", {Op::multiply, false}},
    {"%", {Op::modulo, false}}, {"min", {Op::minimum, false}}, {"max", {Op::maximum, false}},
    {"/", {Op::divide, true}},  {"pow", {Op::power, true}},    {"log", {Op::logarithm, true}},
};

const std::unordered_map<std::string, Op> to_int = {
    {"floor", Op::floor}, {"ceil", Op::ceiling}, {"trc", Op::truncate}, {"sgn", Op::sign}};

const std::unordered_map<std::string, Op> real_functions = {
    {"sin", Op::sine}, {"cos", Op::cosine}, {"tan", Op::tangent}, {"exp", Op::exponential}};

struct DepthGuard {
    explicit DepthGuard(int& depth, const Path& path) : depth_(depth) {
        if (++depth_ > max_depth) {
            --depth_;
            path.fail("the expression is nested too deeply");
        }
    }
    ~DepthGuard() { --depth_; }
    int& depth_;
};

}  // namespace

Cells ExprReader::cells(const Json& json, const Path& path, const Scope& scope) {
    DepthGuard guard(depth_, path);
    auto one = [](const Expr* e) { return Cells{e->type, {}, {e}}; };
    switch (json.kind) {
        case Json::Kind::boolean:
            return one(pool_.constant(Type::boolean, make(std::int64_t{json.boolean})));
        case Json::Kind::integer:
            return one(pool_.constant(Type::integer, make(json.integer)));
        case Json::Kind::real:
            return one(pool_.constant(Type::real, make(json.real)));
        case Json::Kind::string: {
            const Symbol* symbol = scope.find(json.string);
            if (!symbol) path.fail("unknown name '" + json.string + "'");
            if (symbol->kind != Symbol::Kind::variable) return one(symbol->constant);
            reads_transient |= symbol->transient;
            Cells result{symbol->shape.type, symbol->shape.lengths, {}};
            for (std::uint32_t i = 0; i < symbol->shape.cells(); ++i)
                result.cells.push_back(pool_.slot(symbol->shape.type, symbol->slot + i));
            return result;
        }
        case Json::Kind::object:
            break;
        default:
            path.fail("expected an expression");
    }
    if (const Json* named = json.find("constant")) {
        if (named->is(Json::Kind::string) && named->string == "e")
            return one(pool_.constant(Type::real, make(2.718281828459045)));
        if (named->is(Json::Kind::string) && named->string == "π")
            return one(pool_.constant(Type::real, make(3.141592653589793)));
        path.member("constant").fail("unknown constant");
    }
    return cells_of_op(path.string(json, "op"), json, path, scope);
}

Cells ExprReader::cells_of_op(const std::string& op, const Json& json, const Path& path, const Scope& scope) {
    if (op == "aa") return access(json, path, scope);
    if (op == "call") return call(json, path, scope);
    if (op == "av" || op == "ac") return constructor(json, path, scope);
    if (op ==
        "let") {  // PlaJA wraps conditions like this; variables would need a semantics nobody wrote down
        if (!path.array(json, "variables").items.empty()) path.unsupported("'let' with variables");
        return cells(path.need(json, "expression"), path.member("expression"), scope);
    }
    if (op == "ite") {
        const Expr* condition = boolean(path.need(json, "if"), path.member("if"), scope);
        Cells a = cells(path.need(json, "then"), path.member("then"), scope);
        Cells b = cells(path.need(json, "else"), path.member("else"), scope);
        if (a.lengths != b.lengths) path.fail("the branches of ite have different shapes");
        if (a.type != b.type && (a.type == Type::boolean || b.type == Type::boolean))
            path.fail("the branches of ite have different types");
        Cells result{a.type == b.type ? a.type : Type::real, a.lengths, {}};
        for (std::size_t i = 0; i < a.cells.size(); ++i) {
            const Expr *x = a.cells[i], *y = b.cells[i];
            if (result.type == Type::real) x = pool_.as_real(x), y = pool_.as_real(y);
            result.cells.push_back(pool_.make(Op::ite, result.type, {condition, x, y}));
        }
        return result;
    }
    const Expr* e = of_op(op, json, path, scope);
    return {e->type, {}, {e}};
}

const Expr* ExprReader::of_op(const std::string& op, const Json& json, const Path& path, const Scope& scope) {
    auto operand = [&](const char* side) { return scalar(path.need(json, side), path.member(side), scope); };
    auto truth = [&](const char* side) { return boolean(path.need(json, side), path.member(side), scope); };
    auto number = [&](const char* side) {
        const Expr* e = operand(side);
        if (e->type == Type::boolean) path.member(side).fail("expected a number, got bool");
        return e;
    };
    if (op == "¬") return pool_.negate(truth("exp"));
    if (op == "∧") return pool_.make(Op::logical_and, Type::boolean, {truth("left"), truth("right")});
    if (op == "∨") return pool_.make(Op::logical_or, Type::boolean, {truth("left"), truth("right")});
    if (op == "⇒")
        return pool_.make(Op::logical_or, Type::boolean, {pool_.negate(truth("left")), truth("right")});
    if (op == "⇔") return pool_.make(Op::equal, Type::boolean, {truth("left"), truth("right")});
    if (op == "=") return comparison(Op::equal, operand("left"), operand("right"), path);
    if (op == "≠") return comparison(Op::unequal, operand("left"), operand("right"), path);
    if (op == "<") return comparison(Op::less, number("left"), number("right"), path);
    if (op == "≤") return comparison(Op::less_equal, number("left"), number("right"), path);
    if (op == ">") return comparison(Op::less, number("right"), number("left"), path);
    if (op == "≥") return comparison(Op::less_equal, number("right"), number("left"), path);
    if (auto found = arithmetic.find(op); found != arithmetic.end()) {
        const Expr *a = number("left"), *b = number("right");
        bool real = found->second.real_only || a->type == Type::real || b->type == Type::real;
        if (real) a = pool_.as_real(a), b = pool_.as_real(b);
        return pool_.make(found->second.op, real ? Type::real : Type::integer, {a, b});
    }
    if (auto found = to_int.find(op); found != to_int.end())
        return pool_.make(found->second, Type::integer, {number("exp")});
    if (auto found = real_functions.find(op); found != real_functions.end())
        return pool_.make(found->second, Type::real, {pool_.as_real(number("exp"))});
    if (op == "abs") {
        const Expr* e = number("exp");
        return pool_.make(Op::absolute, e->type, {e});
    }
    path.unsupported("operator '" + op + "'");
}

const Expr* ExprReader::comparison(Op op, const Expr* a, const Expr* b, const Path& path) {
    if (a->type != b->type) {
        if (a->type == Type::boolean || b->type == Type::boolean)
            path.fail(std::string("cannot compare ") + name(a->type) + " with " + name(b->type));
        a = pool_.as_real(a), b = pool_.as_real(b);
    }
    return pool_.make(op, Type::boolean, {a, b});
}

Cells ExprReader::access(const Json& json, const Path& path, const Scope& scope) {
    Cells array = cells(path.need(json, "exp"), path.member("exp"), scope);
    if (array.lengths.empty()) path.member("exp").fail("not an array");
    const Expr* index = typed(path.need(json, "index"), path.member("index"), scope, Type::integer);
    const std::uint32_t length = array.lengths.front();
    const auto stride = static_cast<std::uint32_t>(array.cells.size() / length);
    Cells result{array.type, {array.lengths.begin() + 1, array.lengths.end()}, {}};
    if (index->op == Op::constant) {
        if (index->value.i < 0 || index->value.i >= length) {  // an error where it is evaluated, not before
            result.cells.assign(stride, pool_.cell(array.type, 0, 0, index));
            return result;
        }
        auto first = array.cells.begin() + static_cast<std::ptrdiff_t>(index->value.i) * stride;
        result.cells.assign(first, first + stride);
        return result;
    }
    const Expr* base = array.cells.front();
    for (std::size_t i = 0; i < array.cells.size(); ++i)
        if (array.cells[i]->op != Op::slot || array.cells[i]->slot != base->slot + i)
            path.unsupported("a computed index into something that is not a variable");
    if (stride != 1) path.unsupported("a computed index into an array of arrays");
    result.cells = {pool_.cell(array.type, base->slot, length, index)};
    return result;
}

Cells ExprReader::call(const Json& json, const Path& path, const Scope& scope) {
    std::string name = path.string(json, "function");
    auto [function, home] = scope.find_function(name);
    if (!function) path.fail("unknown function '" + name + "'");
    if (call_depth_ >= max_call_depth) path.unsupported("a recursive function");
    if (++calls_ > max_calls) path.fail("the model's functions are too large once unfolded");
    const Json& parameters = path.array(*function, "parameters");
    const Json& args = path.array(json, "args");
    if (parameters.items.size() != args.items.size())
        path.fail("wrong number of arguments for '" + name + "'");
    Scope inner{home};
    for (std::size_t i = 0; i < args.items.size(); ++i) {
        Path at = path.member("args").item(i);
        const Expr* argument = scalar(args.items[i], at, scope);
        const Json& type = at.need(parameters.items[i], "type");
        if (type.is(Json::Kind::string) && type.string == "real") argument = pool_.as_real(argument);
        Symbol symbol{Symbol::Kind::bound, {argument->type, {}, {}, {}}, argument, 0, false};
        inner.symbols.emplace(at.string(parameters.items[i], "name"), symbol);
    }
    DepthGuard nested(call_depth_, path);
    Path body = path.member("function(" + name + ")");
    return cells(body.need(*function, "body"), body, inner);
}

Cells ExprReader::constructor(const Json& json, const Path& path, const Scope& scope) {
    std::vector<Cells> parts;
    if (const Json* elements = json.find("elements")) {
        if (!elements->is(Json::Kind::array)) path.member("elements").fail("expected an array");
        for (std::size_t i = 0; i < elements->items.size(); ++i)
            parts.push_back(cells(elements->items[i], path.member("elements").item(i), scope));
    } else {
        std::int64_t length =
            constant(path.need(json, "length"), path.member("length"), scope, Type::integer).i;
        if (length < 0 || length > max_array) path.member("length").fail("bad array length");
        std::string variable = path.string(json, "var");
        for (std::int64_t i = 0; i < length; ++i) {
            const Expr* index = pool_.constant(Type::integer, make(i));
            Scope inner{&scope};
            inner.symbols.emplace(variable,
                                  Symbol{Symbol::Kind::bound, {Type::integer, {}, {}, {}}, index, 0, false});
            parts.push_back(cells(path.need(json, "exp"), path.member("exp"), inner));
        }
    }
    if (parts.empty()) path.unsupported("an empty array");
    Cells result{parts[0].type, parts[0].lengths, {}};
    for (const Cells& part : parts) {
        if (part.lengths != parts[0].lengths) path.fail("the elements have different shapes");
        if (part.type != result.type) {
            if (part.type == Type::boolean || result.type == Type::boolean)
                path.fail("the elements have different types");
            result.type = Type::real;
        }
    }
    result.lengths.insert(result.lengths.begin(), static_cast<std::uint32_t>(parts.size()));
    for (Cells& part : parts)
        for (const Expr* e : part.cells)
            result.cells.push_back(result.type == Type::real ? pool_.as_real(e) : e);
    return result;
}

const Expr* ExprReader::scalar(const Json& json, const Path& path, const Scope& scope) {
    Cells value = cells(json, path, scope);
    if (!value.lengths.empty()) path.fail("expected a single value, got an array");
    return value.cells[0];
}

const Expr* ExprReader::boolean(const Json& json, const Path& path, const Scope& scope) {
    return typed(json, path, scope, Type::boolean);
}

const Expr* ExprReader::typed(const Json& json, const Path& path, const Scope& scope, Type type) {
    const Expr* e = scalar(json, path, scope);
    if (e->type == type) return e;
    if (type == Type::real && e->type == Type::integer) return pool_.as_real(e);
    path.fail(std::string("expected ") + name(type) + ", got " + name(e->type));
}

Value ExprReader::constant(const Json& json, const Path& path, const Scope& scope, Type type) {
    const Expr* e = typed(json, path, scope, type);
    if (e->op != Op::constant) path.fail("expected a constant expression");
    return e->value;
}

}  // namespace misstep::jani
