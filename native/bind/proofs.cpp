// Evidence for lower bounds, for Python to write down: frontiers, charges, invariants.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bind/heuristic_object.hpp"
#include "bind/proof_objects.hpp"
#include "proofs/cuts.hpp"
#include "proofs/invariant.hpp"
#include "util/error.hpp"

using namespace misstep;

namespace {

struct LibraryObject {
    nb::object task;
    const TaskObject* core;
    std::unique_ptr<ChargesLibrary> library;
    std::unique_ptr<std::mutex> busy = std::make_unique<std::mutex>();
};

BatchObject as_batch(const FrontierObject& f, const std::vector<Word>& words) {
    const StatePacker& packer = f.core->space.packer;
    const std::size_t n = words.size() / packer.num_words(), width = f.core->task.variables.size();
    std::vector<std::int32_t> values(n * width);
    for (std::size_t i = 0; i < n; ++i)
        packer.unpack(words.data() + i * packer.num_words(), values.data() + i * width);
    return make_batch(f.task, *f.core, n, std::move(values));
}

nb::object cover(LibraryObject& self, const FrontierObject& frontier, HeuristicObject* known) {
    require_same_task(*self.core, *frontier.core, "frontier");
    if (known != nullptr) require_same_task(*self.core, *known->core, "heuristic");
    std::optional<std::vector<std::size_t>> used;
    bool is_known_used = false;
    {
        nb::gil_scoped_release no_gil;
        std::scoped_lock lock(*self.busy);
        std::unique_lock<std::mutex> other;
        if (known != nullptr) other = std::unique_lock(*known->busy);
        used = self.library->cover(*frontier.frontier, known == nullptr ? nullptr : known->heuristic.get(),
                                   is_known_used);
    }
    if (!used) return nb::none();
    return nb::make_tuple(*used, is_known_used);
}

std::size_t use(LibraryObject& self,
                const std::vector<std::pair<std::vector<FactId>, std::optional<Cost>>>& given) {
    Charges charges;
    for (const auto& [facts, share] : given) {
        for (FactId fact : facts)
            if (std::cmp_greater_equal(fact, self.library->num_facts()))
                throw InputError("no such fact: " + std::to_string(fact));
        charges.push_back({facts, share.value_or(kInfinity)});
    }
    std::scoped_lock lock(*self.busy);
    return self.library->use(std::move(charges));
}

nb::list charges(const LibraryObject& self, std::size_t index) {
    if (index >= self.library->size()) throw nb::index_error("no such charges");
    nb::list result;
    for (const Cut& cut : self.library->charges(index))
        result.append(nb::make_tuple(cut.facts, cut.share == kInfinity ? nb::none() : nb::cast(cut.share)));
    return result;
}

}  // namespace

void bind_proofs(nb::module_& m) {
    nb::class_<FrontierObject>(m, "Frontier", "Why a search may say that no plan costs less than `bound`.")
        .def_prop_ro("bound",
                     [](const FrontierObject& f) {
                         return f.frontier->bound == kInfinity ? std::numeric_limits<double>::infinity()
                                                               : static_cast<double>(f.frontier->bound);
                     })
        .def_prop_ro(
            "expanded", [](const FrontierObject& f) { return as_batch(f, f.frontier->expanded); },
            nb::sig("def expanded(self) -> StateBatch"), "The states that were expanded below the bound.")
        .def_prop_ro(
            "leaves", [](const FrontierObject& f) { return as_batch(f, f.frontier->leaves); },
            nb::sig("def leaves(self) -> StateBatch"),
            "The states behind them whose own plans count; those that are too far away as such are left "
            "out.");

    nb::class_<LibraryObject>(m, "ChargesLibrary",
                              "Cuts with shares of action costs, valid for all states of a task.")
        .def(
            "__init__",
            [](LibraryObject* self, nb::object task) {
                const TaskObject& core = nb::cast<const TaskObject&>(task);
                auto library = std::make_unique<ChargesLibrary>(core.space);
                new (self) LibraryObject{std::move(task), &core, std::move(library)};
            },
            nb::arg("task"), nb::sig("def __init__(self, task: Task) -> None"))
        .def(
            "add",
            [](LibraryObject& self, const StateObject& state) {
                require_same_task(*self.core, *state.core, "state");
                std::scoped_lock lock(*self.busy);
                return self.library->add(state.words.data());
            },
            nb::arg("state"), nb::sig("def add(self, state: State) -> int"),
            "The index of what LM-cut proves for a state.")
        .def("use", &use, nb::arg("charges"),
             nb::sig("def use(self, charges: list[tuple[list[int], int | None]]) -> int"),
             "Takes charges in as the last ones that were of use; for each that `cover` gave, in its order, "
             "this repeats what that remembers.")
        .def("cover", &cover, nb::arg("frontier"), nb::arg("known") = nb::none(),
             nb::sig("def cover(self, frontier: Frontier, known: Heuristic | None = None) -> "
                     "tuple[list[int], bool] | None"),
             "Indices of charges that prove what is missing at the leaves, and whether `known` was needed; "
             "None "
             "where they do not.")
        .def("charges", &charges, nb::arg("index"),
             nb::sig("def charges(self, index: int) -> list[tuple[list[int], int | None]]"),
             "The facts of each cut (numbered through, variable by variable) and its share; None is "
             "infinity.");

    m.def(
        "find_invariant",
        [](const TaskObject& core, const StateObject& state, const Budget* budget) -> nb::object {
            require_same_task(core, *state.core, "state");
            std::vector<std::int32_t> values(core.task.variables.size());
            core.space.packer.unpack(state.words.data(), values.data());
            Budget spending = copy_of(budget);
            std::optional<Invariant> found;
            run_interruptible(spending, [&] { found = find_invariant(core.task, values, spending); });
            if (!found) return nb::none();
            nb::list result;
            for (const std::vector<Fact>& facts : found->never) {
                std::vector<std::pair<int, int>> pairs;
                for (Fact fact : facts) pairs.push_back({fact.var, fact.value});
                result.append(pairs);
            }
            return result;
        },
        nb::arg("task"), nb::arg("state"), nb::kw_only(), nb::arg("budget") = nb::none(),
        nb::sig("def find_invariant(task: Task, state: State, *, budget: Budget | None = "
                "None) -> list[list[tuple[int, int]]] | None"),
        "Facts and pairs of facts (variable, value) that never come true from the state on, one of them part "
        "of "
        "the goal: there is no plan. None where h^2 does not show that.");
}
