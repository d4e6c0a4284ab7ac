// Budgets and stop flags for Python.
#include "util/budget.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <cstdio>

#include "bind/objects.hpp"
#include "util/error.hpp"

using namespace misstep;

namespace {

constexpr double kBytesOfOneMb = 1e6;

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

double at_least_zero(double value, const char* name) {
    if (!(value >= 0))
        throw InputError(std::string(name) + " is " + number(value) +
                         "; give a number that is at least 0, or None for no limit");
    return value;
}

// Makes a budget smaller, never larger.
void narrow(Budget& budget, std::optional<double> seconds, std::optional<std::int64_t> expansions,
            std::optional<double> memory_mb, std::optional<double> effort) {
    if (seconds) budget.end_within(at_least_zero(*seconds, "seconds"));
    if (expansions) {
        at_least_zero(static_cast<double>(*expansions), "expansions");
        budget.max_expansions = std::min(budget.max_expansions, static_cast<std::uint64_t>(*expansions));
    }
    if (memory_mb) {
        double bytes = at_least_zero(*memory_mb, "memory_mb") * kBytesOfOneMb;
        // Larger numbers do not fit, and are no limit either.
        if (bytes < 1e18) budget.max_bytes = std::min(budget.max_bytes, static_cast<std::size_t>(bytes));
    }
    if (effort) budget.effort = std::min(budget.effort, at_least_zero(*effort, "effort"));
}

void limit_growth(Budget& budget, std::optional<double> growth_mb) {
    if (!growth_mb) return;
    double bytes = at_least_zero(*growth_mb, "growth_mb") * kBytesOfOneMb;
    std::size_t now = resident_bytes();
    if (bytes < 1e18 && now > 0) budget.max_resident = now + static_cast<std::size_t>(bytes);
}

std::optional<double> unless_infinite(double value) {
    return std::isinf(value) ? std::nullopt : std::optional(value);
}

std::optional<std::uint64_t> expansions(const Budget& budget) {
    return budget.max_expansions == Budget{}.max_expansions ? std::nullopt
                                                            : std::optional(budget.max_expansions);
}

std::optional<double> memory_mb(const Budget& budget) {
    if (budget.max_bytes == Budget{}.max_bytes) return std::nullopt;
    return static_cast<double>(budget.max_bytes) / kBytesOfOneMb;
}

Budget part(const Budget& whole, std::optional<double> seconds, std::optional<double> share,
            std::optional<std::int64_t> most_expansions, std::optional<double> most_memory_mb,
            std::optional<double> effort) {
    Budget budget = whole;
    if (share && !(*share >= 0 && *share <= 1))
        throw InputError("share is " + number(*share) + "; give a share of the seconds left, from 0 to 1");
    if (share && whole.has_deadline()) budget.end_within(*share * whole.seconds_left());
    narrow(budget, seconds, most_expansions, most_memory_mb, effort);
    return budget;
}

std::string text_of(const Budget& budget) {
    std::string text;
    auto add = [&text](const std::string& what) { text += (text.empty() ? " " : ", ") + what; };
    if (budget.has_deadline()) add(number(budget.seconds_left()) + " s left");
    if (auto most = expansions(budget)) add(std::to_string(*most) + " expansions");
    if (auto most = memory_mb(budget)) add(number(*most) + " MB");
    if (auto most = unless_infinite(budget.effort)) add("effort " + number(*most));
    if (budget.is_stopped()) add("stopped");
    return "<Budget" + (text.empty() ? " without limits" : text) + ">";
}

}  // namespace

void bind_budget(nb::module_& m) {
    nb::class_<StopFlag>(m, "StopFlag", "Set it from any thread to stop work whose budget has it.")
        .def(nb::init<>())
        .def("set", [](StopFlag& flag) { flag.stop.store(true); })
        .def("clear", [](StopFlag& flag) { flag.stop.store(false); })
        .def_prop_ro("is_set", [](const StopFlag& flag) { return flag.stop.load(); });

    nb::class_<Budget>(m, "Budget",
                       "What a piece of work may spend. Time is shared by all who are given the budget or a "
                       "part of it, since it goes by for all of them; expansions, memory and effort are for "
                       "each call, the size of the process for all. Work that uses its budget up ends with "
                       "what it knows and names the limit.")
        .def(
            "__init__",
            [](Budget* self, std::optional<double> seconds, std::optional<std::int64_t> expansions,
               std::optional<double> memory_mb, std::optional<double> effort, std::optional<double> growth_mb,
               std::shared_ptr<StopFlag> stop) {
                Budget budget;
                narrow(budget, seconds, expansions, memory_mb, effort);
                limit_growth(budget, growth_mb);
                budget.stop = std::move(stop);
                new (self) Budget(std::move(budget));
            },
            nb::kw_only(), nb::arg("seconds") = nb::none(), nb::arg("expansions") = nb::none(),
            nb::arg("memory_mb") = nb::none(), nb::arg("effort") = nb::none(),
            nb::arg("growth_mb") = nb::none(), nb::arg("stop").none() = nb::none(),
            "Seconds count from now. None is no limit, and so is infinity; a budget of 0 seconds is over at "
            "once. Memory is what stored states take; `growth_mb` is by how much the whole process may "
            "become "
            "larger than it is now. What a unit of effort is, the spender says.")
        .def_prop_ro(
            "seconds_left", [](const Budget& b) { return unless_infinite(b.seconds_left()); },
            "Never negative; None without a limit.")
        .def_prop_ro("expansions", &expansions)
        .def_prop_ro("memory_mb", &memory_mb)
        .def_prop_ro("effort", [](const Budget& b) { return unless_infinite(b.effort); })
        .def_prop_ro(
            "stop", [](const Budget& b) { return b.stop; }, nb::sig("def stop(self) -> StopFlag | None"))
        .def_prop_ro(
            "is_over", [](const Budget& b) { return b.over() != LimitHit::kNone; },
            "Whether the time is up, the process too large just now, or the stop flag set.")
        .def_prop_ro(
            "over", [](const Budget& b) { return limit_name(b.over()); },
            nb::sig("def over(self) -> str | None"),
            "`seconds` where the time is up, `memory` where the process is too large just now (it may become "
            "smaller when work ends), `stopped` where the stop flag is set, None otherwise.")
        .def("part", &part, nb::kw_only(), nb::arg("seconds") = nb::none(), nb::arg("share") = nb::none(),
             nb::arg("expansions") = nb::none(), nb::arg("memory_mb") = nb::none(),
             nb::arg("effort") = nb::none(),
             "A budget for a piece of the work, with the same stop flag: never more than what is left of "
             "this one. `share` is a share of the seconds left, from 0 to 1.")
        .def("__repr__", &text_of);
}
