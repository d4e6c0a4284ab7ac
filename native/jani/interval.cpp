#include "jani/interval.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace misstep::jani {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr Interval anything{-inf, inf};
constexpr Interval any_truth{0, 1};

Interval truth(bool possible_false, bool possible_true) {
    return {possible_false ? 0.0 : 1.0, possible_true ? 1.0 : 0.0};
}

Interval product(Interval a, Interval b) {
    double x[4] = {a.lower * b.lower, a.lower * b.upper, a.upper * b.lower, a.upper * b.upper};
    for (double& v : x)
        if (std::isnan(v)) v = 0;  // 0 * infinity
    return {*std::min_element(x, x + 4), *std::max_element(x, x + 4)};
}

}  // namespace

Interval enclose(const Expr* e, const std::vector<Interval>& slots) {
    auto arg = [&](std::size_t i) { return enclose(e->args[i], slots); };
    switch (e->op) {
        case Op::constant: {
            double x = e->type == Type::real ? e->value.d : static_cast<double>(e->value.i);
            return {x, x};
        }
        case Op::slot:
            return slots[e->slot];
        case Op::cell: {
            if (e->length == 0) return anything;  // an index out of range: there is no value
            Interval result{inf, -inf};
            for (std::uint32_t i = 0; i < e->length; ++i) {
                result.lower = std::min(result.lower, slots[e->slot + i].lower);
                result.upper = std::max(result.upper, slots[e->slot + i].upper);
            }
            return result;
        }
        case Op::to_real:
            return arg(0);
        case Op::logical_not: {
            Interval a = arg(0);
            return {1 - a.upper, 1 - a.lower};
        }
        case Op::logical_and: {
            Interval a = arg(0);
            if (a.is(0)) return a;
            Interval b = arg(1);
            return {std::min(a.lower, b.lower), std::min(a.upper, b.upper)};
        }
        case Op::logical_or: {
            Interval a = arg(0);
            if (a.is(1)) return a;
            Interval b = arg(1);
            return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
        }
        case Op::ite: {
            Interval c = arg(0);
            if (c.is(1)) return arg(1);
            if (c.is(0)) return arg(2);
            Interval a = arg(1), b = arg(2);
            return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
        }
        case Op::equal: {
            Interval a = arg(0), b = arg(1);
            bool may = a.lower <= b.upper && b.lower <= a.upper;
            return truth(!(may && a.lower == a.upper && b.is(a.lower)), may);
        }
        case Op::unequal: {
            Interval a = arg(0), b = arg(1);
            bool may_equal = a.lower <= b.upper && b.lower <= a.upper;
            return truth(may_equal, !(may_equal && a.lower == a.upper && b.is(a.lower)));
        }
        case Op::less: {
            Interval a = arg(0), b = arg(1);
            return truth(a.upper >= b.lower, a.lower < b.upper);
        }
        case Op::less_equal: {
            Interval a = arg(0), b = arg(1);
            return truth(a.upper > b.lower, a.lower <= b.upper);
        }
        case Op::add: {
            Interval a = arg(0), b = arg(1);
            return {a.lower + b.lower, a.upper + b.upper};
        }
        case Op::subtract: {
            Interval a = arg(0), b = arg(1);
            return {a.lower - b.upper, a.upper - b.lower};
        }
        case Op::multiply:
            return product(arg(0), arg(1));
        case Op::minimum: {
            Interval a = arg(0), b = arg(1);
            return {std::min(a.lower, b.lower), std::min(a.upper, b.upper)};
        }
        case Op::maximum: {
            Interval a = arg(0), b = arg(1);
            return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
        }
        case Op::floor: {
            Interval a = arg(0);
            return {std::floor(a.lower), std::floor(a.upper)};
        }
        case Op::ceiling: {
            Interval a = arg(0);
            return {std::ceil(a.lower), std::ceil(a.upper)};
        }
        case Op::truncate: {
            Interval a = arg(0);
            return {std::trunc(a.lower), std::trunc(a.upper)};
        }
        case Op::sine:
        case Op::cosine:
            return {-1, 1};
        default:
            return e->type == Type::boolean ? any_truth : anything;
    }
}

std::vector<Interval> domains(const Model& model) {
    std::vector<Interval> result(model.program.frame().size(), anything);
    for (const Variable& v : model.variables) {
        if (!v.transient) continue;
        for (std::size_t i = 0; i < v.initial.size(); ++i) result[v.slot + i] = anything;
    }
    const auto& fields = model.layout.fields();
    for (std::uint32_t i = 0; i < fields.size(); ++i) {
        if (!model.field_bounded(i)) continue;
        Value lower = model.field_lower(i), upper = model.field_upper(i);
        result[fields[i].slot] = fields[i].real
                                     ? Interval{lower.d, upper.d}
                                     : Interval{static_cast<double>(lower.i), static_cast<double>(upper.i)};
    }
    return result;
}

void collect_slots(const Expr* e, std::vector<std::uint32_t>& slots) {
    if (e->op == Op::slot) slots.push_back(e->slot);
    if (e->op == Op::cell)
        for (std::uint32_t i = 0; i < e->length; ++i) slots.push_back(e->slot + i);
    for (const Expr* arg : e->args) collect_slots(arg, slots);
}

}  // namespace misstep::jani
