// Random JANI expressions and models as text, together with what they mean: plain functions of two integers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "jani/model.hpp"
#include "tests/whole_space.hpp"

namespace misstep::testing {

inline constexpr std::int64_t kLowest = -3, kHighest = 4;  // of both variables, x and y

using Point = std::array<std::int64_t, 2>;

struct Formula {
    std::string json;
    std::function<std::int64_t(Point)> value;
};

inline Formula random_number(Rng& rng, int depth);

inline std::string binary_json(const std::string& op, const Formula& a, const Formula& b) {
    return R"({"op": ")" + op + R"(", "left": )" + a.json + R"(, "right": )" + b.json + "}";
}

template <class Function>
Formula binary(const std::string& op, const Formula& a, const Formula& b, Function function) {
    return {binary_json(op, a, b), [=](Point p) { return std::int64_t{function(a.value(p), b.value(p))}; }};
}

inline Formula random_truth(Rng& rng, int depth) {
    if (depth > 0 && rng.below(2) == 0) {
        Formula a = random_truth(rng, depth - 1), b = random_truth(rng, depth - 1);
        switch (rng.below(4)) {
            case 0:
                return binary("∧", a, b, [](auto x, auto y) { return x != 0 && y != 0; });
            case 1:
                return binary("∨", a, b, [](auto x, auto y) { return x != 0 || y != 0; });
            case 2:
                return binary("⇒", a, b, [](auto x, auto y) { return x == 0 || y != 0; });
            default:
                return {R"({"op": "¬", "exp": )" + a.json + "}",
                        [a](Point p) { return std::int64_t{a.value(p) == 0}; }};
        }
    }
    Formula a = random_number(rng, depth - 1), b = random_number(rng, depth - 1);
    switch (rng.below(5)) {
        case 0:
            return binary("=", a, b, [](auto x, auto y) { return x == y; });
        case 1:
            return binary("≠", a, b, [](auto x, auto y) { return x != y; });
        case 2:
            return binary("<", a, b, [](auto x, auto y) { return x < y; });
        case 3:
            return binary("≥", a, b, [](auto x, auto y) { return x >= y; });
        default:
            return binary("≤", a, b, [](auto x, auto y) { return x <= y; });
    }
}

inline Formula random_number(Rng& rng, int depth) {
    if (depth <= 0 || rng.below(3) == 0) {
        const std::uint64_t leaf = rng.below(3);
        if (leaf == 0) return {R"("x")", [](Point p) { return p[0]; }};
        if (leaf == 1) return {R"("y")", [](Point p) { return p[1]; }};
        const auto number = static_cast<std::int64_t>(rng.below(8)) + kLowest;
        return {std::to_string(number), [number](Point) { return number; }};
    }
    Formula a = random_number(rng, depth - 1), b = random_number(rng, depth - 1);
    switch (rng.below(6)) {
        case 0:
            return binary("+", a, b, [](auto x, auto y) { return x + y; });
        case 1:
            return binary("-", a, b, [](auto x, auto y) { return x - y; });
        case 2:
            return binary("*", a, b, [](auto x, auto y) { return x * y; });
        case 3:
            return binary("min", a, b, [](auto x, auto y) { return std::min(x, y); });
        case 4:
            return binary("max", a, b, [](auto x, auto y) { return std::max(x, y); });
        default: {
            Formula c = random_truth(rng, depth - 1);
            return {R"({"op": "ite", "if": )" + c.json + R"(, "then": )" + a.json + R"(, "else": )" + b.json +
                        "}",
                    [=](Point p) { return c.value(p) != 0 ? a.value(p) : b.value(p); }};
        }
    }
}

inline Formula within_bounds(const Formula& f) {
    const Formula low{std::to_string(kLowest), {}}, high{std::to_string(kHighest), {}};
    return {binary_json("max", low, {binary_json("min", high, f), {}}),
            [f](Point p) { return std::clamp(f.value(p), kLowest, kHighest); }};
}

// Edges of the actions a, b and c (labels 0, 1 and 2), each with a guard and one or two outcomes.
struct PlainModel {
    struct Edge {
        std::uint32_t label;
        Formula guard;
        std::vector<std::array<Formula, 2>> outcomes;  // the new x and y
    };
    std::vector<Edge> edges;
    std::string json;

    explicit PlainModel(std::vector<Edge> edges_) : edges(std::move(edges_)) {
        const std::string type = R"({"kind": "bounded", "base": "int", "lower-bound": -3, "upper-bound": 4})";
        std::string list;
        for (const Edge& edge : edges) {
            std::string destinations;
            for (const auto& outcome : edge.outcomes)
                destinations += (destinations.empty() ? "" : ", ") +
                                (R"({"location": "here", "probability": {"exp": 0.5}, "assignments": [)"
                                 R"({"ref": "x", "value": )" +
                                 outcome[0].json + R"(}, {"ref": "y", "value": )" + outcome[1].json + "}]}");
            list += (list.empty() ? "" : ", ") + (R"({"location": "here", "action": ")" +
                                                  std::string(1, static_cast<char>('a' + edge.label)) +
                                                  R"(", "guard": {"exp": )" + edge.guard.json +
                                                  R"(}, "destinations": [)" + destinations + "]}");
        }
        json = R"({"jani-version": 1, "name": "small", "type": "mdp", "actions": [{"name": "a"}, {"name": "b"},)"
               R"( {"name": "c"}], "variables": [{"name": "x", "type": )" +
               type + R"(, "initial-value": 0}, {"name": "y", "type": )" + type +
               R"(, "initial-value": 1}], "automata": [{"name": "one", "locations": [{"name": "here"}],)"
               R"( "initial-locations": ["here"], "edges": [)" +
               list +
               R"(]}], "system": {"elements": [{"automaton": "one"}], "syncs": [{"synchronise": ["a"],)"
               R"( "result": "a"}, {"synchronise": ["b"], "result": "b"}, {"synchronise": ["c"], "result": "c"}]}})";
    }
};

inline PlainModel random_model(Rng& rng) {
    std::vector<PlainModel::Edge> edges;
    for (std::size_t i = 1 + pick(rng, 5); i > 0; --i) {
        PlainModel::Edge edge{static_cast<std::uint32_t>(rng.below(3)), random_truth(rng, 1), {}};
        for (std::size_t k = 1 + pick(rng, 2); k > 0; --k)
            edge.outcomes.push_back(
                {within_bounds(random_number(rng, 2)), within_bounds(random_number(rng, 2))});
        edges.push_back(std::move(edge));
    }
    return PlainModel(std::move(edges));
}

inline std::shared_ptr<jani::Model> load(const std::string& json) {
    return jani::load_model(json, "small.jani", {});
}

inline const jani::Expr* condition(jani::Model& model, const std::string& json) {
    return model.condition(jani::parse_json(json, "condition"), jani::Path("condition"));
}

}  // namespace misstep::testing
