// h_u: how far a state is from satisfying a condition, after the paper's Manhattan-like estimate, but with
// h_u(s) = 0 iff the condition holds in s, also for strict and negated constraints.
#pragma once

#include <memory>
#include <vector>

#include "jani/model.hpp"

namespace misstep::jani {

class Distance {
  public:
    // `epsilon` is the least step of a real-valued constraint. Normalised: every constraint is divided by the
    // range of its difference, so that a sum over constraints does not mix units.
    Distance(const Model& model, Program& program, const Expr* condition, double epsilon, bool normalised);
    double operator()(Value* frame) const { return value(root_, frame); }

  private:
    enum class Kind : std::uint8_t { sum, least, less, less_equal, equal, unequal, truth, constant };
    struct Node {
        Kind kind;
        std::uint32_t left = 0, right = 0;  // nodes of sum and least
        Source a{}, b{};
        bool real = false;   // the type of a and b
        bool wanted = true;  // of truth
        double step = 1;
        double scale = 1;
        double constant = 0;
    };
    std::uint32_t build(const Expr* e, bool sense);
    std::uint32_t combine(Kind kind, std::uint32_t left, std::uint32_t right);
    std::uint32_t compare(Kind kind, const Expr* a, const Expr* b);
    double value(std::uint32_t node, Value* frame) const;

    const Model& model_;
    Program& program_;
    double epsilon_;
    bool normalised_;
    std::vector<Node> nodes_;
    std::uint32_t root_;
};

}  // namespace misstep::jani
