#include "jani/distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "jani/interval.hpp"

namespace misstep::jani {

Distance::Distance(const Model& model, Program& program, const Expr* condition, double epsilon,
                   bool normalised)
    : model_(model), program_(program), epsilon_(epsilon), normalised_(normalised) {
    root_ = build(condition, true);
}

std::uint32_t Distance::combine(Kind kind, std::uint32_t left, std::uint32_t right) {
    nodes_.push_back({kind, left, right});
    return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t Distance::compare(Kind kind, const Expr* a, const Expr* b) {
    Node node{kind};
    node.real = a->type == Type::real;
    node.step = node.real ? epsilon_ : 1;
    bool location = false;
    for (const Instance& in : model_.instances)
        location |= (a->op == Op::slot && a->slot == in.slot) || (b->op == Op::slot && b->slot == in.slot);
    if (location) node.scale = 0;  // names have no distance: 0 or 1
    if (normalised_ && !location) {
        auto slots = domains(model_);
        Interval x = enclose(a, slots), y = enclose(b, slots);
        double range = std::max(std::abs(x.upper - y.lower), std::abs(y.upper - x.lower));
        if (std::isfinite(range) && range > 0) node.scale = 1 / range;
    }
    node.a = program_.compile_value(a);
    node.b = program_.compile_value(b);
    nodes_.push_back(node);
    return static_cast<std::uint32_t>(nodes_.size() - 1);
}

// Negation normal form on the way down: `sense` says whether e or its negation is wanted.
std::uint32_t Distance::build(const Expr* e, bool sense) {
    const auto& x = e->args;
    switch (e->op) {
        case Op::constant: {
            Node node{Kind::constant};
            node.constant = (e->value.i != 0) == sense ? 0 : std::numeric_limits<double>::infinity();
            nodes_.push_back(node);
            return static_cast<std::uint32_t>(nodes_.size() - 1);
        }
        case Op::logical_not:
            return build(x[0], !sense);
        case Op::logical_and:
        case Op::logical_or: {
            bool sum = (e->op == Op::logical_and) == sense;
            std::uint32_t left = build(x[0], sense), right = build(x[1], sense);
            return combine(sum ? Kind::sum : Kind::least, left, right);
        }
        case Op::ite: {
            std::uint32_t then = combine(Kind::sum, build(x[0], true), build(x[1], sense));
            std::uint32_t otherwise = combine(Kind::sum, build(x[0], false), build(x[2], sense));
            return combine(Kind::least, then, otherwise);
        }
        case Op::equal:
        case Op::unequal: {
            bool equal = (e->op == Op::equal) == sense;
            if (x[0]->type != Type::boolean) return compare(equal ? Kind::equal : Kind::unequal, x[0], x[1]);
            std::uint32_t both = combine(Kind::sum, build(x[0], true), build(x[1], equal));
            std::uint32_t neither = combine(Kind::sum, build(x[0], false), build(x[1], !equal));
            return combine(Kind::least, both, neither);
        }
        case Op::less:
            return sense ? compare(Kind::less, x[0], x[1]) : compare(Kind::less_equal, x[1], x[0]);
        case Op::less_equal:
            return sense ? compare(Kind::less_equal, x[0], x[1]) : compare(Kind::less, x[1], x[0]);
        default: {
            Node node{Kind::truth};
            node.a = program_.compile_value(e);
            node.wanted = sense;
            nodes_.push_back(node);
            return static_cast<std::uint32_t>(nodes_.size() - 1);
        }
    }
}

double Distance::value(std::uint32_t at, Value* frame) const {
    const Node& node = nodes_[at];
    switch (node.kind) {
        case Kind::sum:
            return value(node.left, frame) + value(node.right, frame);
        case Kind::least:
            return std::min(value(node.left, frame), value(node.right, frame));
        case Kind::constant:
            return node.constant;
        case Kind::truth:
            return (program_.eval(node.a, frame).i != 0) == node.wanted ? 0 : 1;
        default:
            break;
    }
    Value a = program_.eval(node.a, frame);
    Value b = program_.eval(node.b, frame);
    // The truth of the constraint is decided as the guard would decide it; only the size is approximate.
    double v = node.real ? a.d - b.d : static_cast<double>(a.i) - static_cast<double>(b.i);
    bool less = node.real ? a.d < b.d : a.i < b.i;
    bool equal = node.real ? a.d == b.d : a.i == b.i;
    double distance = 0;
    switch (node.kind) {
        case Kind::less:
            distance = less ? 0 : v + node.step;
            break;
        case Kind::less_equal:
            distance = less || equal ? 0 : std::max(v, std::numeric_limits<double>::min());
            break;
        case Kind::equal:
            distance = equal ? 0 : std::max(std::abs(v), std::numeric_limits<double>::min());
            break;
        default:
            distance = equal ? node.step : 0;
    }
    if (distance == 0) return 0;
    return node.scale == 0 ? 1 : distance * node.scale;
}

}  // namespace misstep::jani
