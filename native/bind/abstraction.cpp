// Abstractions for Python.
#include "abstraction/abstraction.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/heuristic_object.hpp"
#include "util/error.hpp"

using namespace misstep;

namespace {

struct AbstractionObject {
    nb::object task;
    const TaskObject* core;
    std::shared_ptr<const Abstraction> abstraction;
};

// The larger of two estimates; the second one is not asked where the first one is infinite.
class LargerOf final : public Heuristic {
  public:
    LargerOf(std::unique_ptr<Heuristic> first, std::unique_ptr<Heuristic> second)
        : first_(std::move(first)), second_(std::move(second)) {}
    using Heuristic::evaluate;
    Cost evaluate(const Word* state) override {
        Cost value = first_->evaluate(state);
        return value == kInfinity ? value : std::max(value, second_->evaluate(state));
    }
    bool is_admissible() const override { return first_->is_admissible() && second_->is_admissible(); }
    bool is_consistent() const override { return first_->is_consistent() && second_->is_consistent(); }

  private:
    std::unique_ptr<Heuristic> first_, second_;
};

MergeOrder order_by_name(const std::string& name) {
    if (name == "newest") return MergeOrder::kNewestFirst;
    if (name == "smallest") return MergeOrder::kSmallestFirst;
    if (name == "one-by-one") return MergeOrder::kOneByOne;
    throw InputError("order is '" + name + "'; there are newest, smallest and one-by-one");
}

void make(AbstractionObject* self, nb::object task, std::int32_t max_states, std::uint64_t max_transitions,
          const std::string& order, const Budget* budget) {
    const TaskObject& core = nb::cast<const TaskObject&>(task);
    AbstractionOptions options{max_states, max_transitions, order_by_name(order), copy_of(budget)};
    std::shared_ptr<const Abstraction> made;
    run_interruptible(options.budget, [&] { made = std::make_shared<Abstraction>(core.space, options); });
    new (self) AbstractionObject{std::move(task), &core, std::move(made)};
}

HeuristicObject as_heuristic(const AbstractionObject& self, const std::optional<std::string>& beside) {
    std::unique_ptr<Heuristic> own = std::make_unique<AbstractionHeuristic>(self.abstraction);
    std::string name = "abstraction";
    if (beside) {
        own = std::make_unique<LargerOf>(std::move(own), make_heuristic(self.core->space, *beside));
        name += "+" + *beside;
    }
    return HeuristicObject{self.task, self.core, name, std::move(own)};
}

}  // namespace

void bind_abstraction(nb::module_& m) {
    nb::class_<AbstractionObject>(m, "Abstraction", "Lower bounds on h* by table lookup (merge-and-shrink).")
        .def(
            "__init__", &make, nb::arg("task"), nb::kw_only(), nb::arg("max_states") = 20'000,
            nb::arg("max_transitions") = 1'000'000, nb::arg("order") = "newest",
            nb::arg("budget") = nb::none(),
            nb::sig("def __init__(self, task: Task, *, max_states: int = 20000, max_transitions: int = "
                    "1000000, order: str = 'newest', budget: Budget | None = None) -> None"),
            "A limit that is hit leaves several factors, whose largest distance counts; `limit` says so. "
            "`order`: "
            "what is merged first, `newest` or `smallest` of the pairs that DFP likes best, or `one-by-one`.")
        .def(
            "__call__",
            [](const AbstractionObject& self, const StateObject& state) {
                require_same_task(*self.core, *state.core, "state");
                Cost cost = self.abstraction->value(state.words.data());
                return cost == kInfinity ? std::numeric_limits<double>::infinity()
                                         : static_cast<double>(cost);
            },
            nb::arg("state"), "At most h* of a state; infinity where the abstraction has no plan.")
        .def("heuristic", &as_heuristic, nb::arg("beside") = nb::none(),
             nb::sig("def heuristic(self, beside: str | None = None) -> Heuristic"),
             "As a heuristic for searches; with `beside`, such as `lmcut`, the larger of both estimates.")
        .def_prop_ro(
            "limit", [](const AbstractionObject& self) { return limit_name(self.abstraction->limit()); },
            nb::sig("def limit(self) -> str | None"))
        .def_prop_ro("seconds", [](const AbstractionObject& self) { return self.abstraction->seconds(); })
        .def_prop_ro(
            "steps",
            [](const AbstractionObject& self) {
                nb::list steps;
                for (const FactorStep& step : self.abstraction->task().steps)
                    steps.append(nb::make_tuple(step.factor, step.partner, step.table));
                return steps;
            },
            nb::sig("def steps(self) -> list[tuple[int, int | None, list[int]]]"),
            "How it was made, beginning with a factor for each variable: a factor, its partner where both "
            "are "
            "merged, and the new number of each state (-1: unreachable, -2: no plan).")
        .def_prop_ro(
            "distances",
            [](const AbstractionObject& self) {
                nb::list distances;
                for (const Factor& factor : self.abstraction->task().factors)
                    distances.append(nb::make_tuple(*factor.serial, factor.goal_distance));
                return distances;
            },
            nb::sig("def distances(self) -> list[tuple[int, list[int]]]"),
            "The factors that are left, by number, with the distance of each of their states.")
        .def_prop_ro(
            "sizes",
            [](const AbstractionObject& self) {
                std::vector<std::int32_t> sizes;
                for (const Factor& factor : self.abstraction->task().factors)
                    sizes.push_back(factor.num_states);
                return sizes;
            },
            "The numbers of abstract states, one a factor.");
}
