// Interval arithmetic over expressions: what can still be true of a state that is only partly known.
#pragma once

#include <vector>

#include "jani/model.hpp"

namespace misstep::jani {

struct Interval {
    double lower, upper;
    bool is(double x) const { return lower == x && upper == x; }
};

// An enclosure of the values of e; `slots` gives one for every slot. Booleans are 0 and 1.
Interval enclose(const Expr* e, const std::vector<Interval>& slots);

// The domains of all state variables; slots that are not state variables get their initial value.
std::vector<Interval> domains(const Model& model);

// The slots an expression reads.
void collect_slots(const Expr* e, std::vector<std::uint32_t>& slots);

}  // namespace misstep::jani
