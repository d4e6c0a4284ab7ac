#include "jani/expr.hpp"

#include <algorithm>
#include <cmath>

#include "util/error.hpp"

namespace misstep::jani {

namespace {

constexpr std::size_t max_expressions = 3'000'000;

std::int64_t to_integer(double x) {
    if (!(x >= -9.2e18 && x <= 9.2e18)) throw InputError("a real value is too large to become an integer");
    return static_cast<std::int64_t>(x);
}

[[noreturn]] void overflow() {
    throw InputError("an integer operation overflows 64 bits");
}

Value integer_op(Op op, std::int64_t a, std::int64_t b) {
    std::int64_t r = 0;
    switch (op) {
        case Op::add:
            if (__builtin_add_overflow(a, b, &r)) overflow();
            return make(r);
        case Op::subtract:
            if (__builtin_sub_overflow(a, b, &r)) overflow();
            return make(r);
        case Op::multiply:
            if (__builtin_mul_overflow(a, b, &r)) overflow();
            return make(r);
        case Op::modulo: {  // Euclidean: never negative
            if (b == 0) throw InputError("modulo zero");
            if (b == -1) return make(std::int64_t{0});
            r = a % b;
            return make(r < 0 ? r + std::abs(b) : r);
        }
        case Op::minimum:
            return make(std::min(a, b));
        case Op::maximum:
            return make(std::max(a, b));
        default:
            throw InputError("not an operation on integers");
    }
}

Value real_op(Op op, double a, double b) {
    switch (op) {
        case Op::add:
            return make(a + b);
        case Op::subtract:
            return make(a - b);
        case Op::multiply:
            return make(a * b);
        case Op::divide:
            if (b == 0) throw InputError("division by zero");
            return make(a / b);
        case Op::modulo: {
            if (b == 0) throw InputError("modulo zero");
            double r = std::fmod(a, b);
            return make(r < 0 ? r + std::fabs(b) : r);
        }
        case Op::minimum:
            return make(b < a ? b : a);
        case Op::maximum:
            return make(a < b ? b : a);
        case Op::power:
            return make(std::pow(a, b));
        case Op::logarithm:
            return make(std::log(a) / std::log(b));
        default:
            throw InputError("not an operation on reals");
    }
}

}  // namespace

Value apply(Op op, Type operands, const Value* args) {
    const Value a = args[0];
    const bool real = operands == Type::real;
    auto truth = [](bool b) { return make(std::int64_t{b}); };
    switch (op) {
        case Op::to_real:
            return make(static_cast<double>(a.i));
        case Op::logical_not:
            return truth(a.i == 0);
        case Op::equal:
            return truth(real ? a.d == args[1].d : a.i == args[1].i);
        case Op::unequal:
            return truth(real ? a.d != args[1].d : a.i != args[1].i);
        case Op::less:
            return truth(real ? a.d < args[1].d : a.i < args[1].i);
        case Op::less_equal:
            return truth(real ? a.d <= args[1].d : a.i <= args[1].i);
        case Op::floor:
            return make(real ? to_integer(std::floor(a.d)) : a.i);
        case Op::ceiling:
            return make(real ? to_integer(std::ceil(a.d)) : a.i);
        case Op::truncate:
            return make(real ? to_integer(std::trunc(a.d)) : a.i);
        case Op::absolute:
            if (real) return make(std::fabs(a.d));
            return a.i < 0 ? integer_op(Op::subtract, 0, a.i) : a;
        case Op::sign:
            return make(static_cast<std::int64_t>(real ? (a.d > 0) - (a.d < 0) : (a.i > 0) - (a.i < 0)));
        case Op::sine:
            return make(std::sin(a.d));
        case Op::cosine:
            return make(std::cos(a.d));
        case Op::tangent:
            return make(std::tan(a.d));
        case Op::exponential:
            return make(std::exp(a.d));
        default:
            return real ? real_op(op, a.d, args[1].d) : integer_op(op, a.i, args[1].i);
    }
}

const Expr* ExprPool::add(Expr expr) {
    if (pool_.size() >= max_expressions)
        throw InputError("the model's expressions are too large once unfolded");
    pool_.push_back(std::move(expr));
    return &pool_.back();
}

const Expr* ExprPool::constant(Type type, Value value) {
    Expr e{Op::constant, type};
    e.value = value;
    return add(std::move(e));
}

const Expr* ExprPool::slot(Type type, std::uint32_t slot) {
    Expr e{Op::slot, type};
    e.slot = slot;
    return add(std::move(e));
}

const Expr* ExprPool::cell(Type type, std::uint32_t first, std::uint32_t length, const Expr* index) {
    Expr e{Op::cell, type};
    e.slot = first;
    e.length = length;
    e.args = {index};
    return add(std::move(e));
}

const Expr* ExprPool::as_real(const Expr* e) {
    return e->type == Type::real ? e : make(Op::to_real, Type::real, {e});
}

const Expr* ExprPool::make(Op op, Type type, std::vector<const Expr*> args) {
    auto is = [&](std::size_t i, std::int64_t value) {
        return args[i]->op == Op::constant && args[i]->type == Type::boolean && args[i]->value.i == value;
    };
    if (op == Op::logical_and || op == Op::logical_or) {
        const std::int64_t neutral = op == Op::logical_and ? 1 : 0;
        if (is(0, neutral)) return args[1];
        if (is(1, neutral) || is(0, 1 - neutral)) return args[0];
    } else if (op == Op::ite) {
        if (is(0, 1)) return args[1];
        if (is(0, 0)) return args[2];
    } else if (op == Op::logical_not && args[0]->op == Op::logical_not) {
        return args[0]->args[0];
    } else if (std::all_of(args.begin(), args.end(), [](const Expr* e) { return e->op == Op::constant; })) {
        Value values[2] = {args[0]->value, args.size() > 1 ? args[1]->value : Value{}};
        try {
            return constant(type, apply(op, args[0]->type, values));
        } catch (const InputError&) {
            // Left for the moment it is evaluated: the branch it stands in may never be taken.
        }
    }
    Expr e{op, type};
    e.args = std::move(args);
    return add(std::move(e));
}

const Symbol* Scope::find(const std::string& name) const {
    for (const Scope* scope = this; scope; scope = scope->parent) {
        auto found = scope->symbols.find(name);
        if (found != scope->symbols.end()) return &found->second;
    }
    return nullptr;
}

std::pair<const Json*, const Scope*> Scope::find_function(const std::string& name) const {
    for (const Scope* scope = this; scope; scope = scope->parent) {
        auto found = scope->functions.find(name);
        if (found != scope->functions.end()) return {found->second, scope};
    }
    return {nullptr, nullptr};
}

}  // namespace misstep::jani
