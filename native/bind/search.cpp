// Searches for Python.
#include "search/search.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/heuristic_object.hpp"
#include "bind/proof_objects.hpp"
#include "util/error.hpp"

using namespace misstep;

namespace {

struct ResultObject {
    nb::object task;
    const TaskObject* core;
    SearchResult result;
    std::shared_ptr<Frontier> frontier;  // where it was asked for
};

using SearchFunction = SearchResult (*)(const StateSpace&, Heuristic&, const Word*, const SearchOptions&);

SearchFunction search_by_name(const std::string& name) {
    if (name == "astar") return astar;
    if (name == "gbfs") return gbfs;
    if (name == "ehc") return ehc;
    if (name == "lazy") return lazy;
    throw InputError("unknown search '" + name + "'; there are astar, gbfs, lazy, ehc");
}

ResultObject search(nb::object task, const std::string& config, const StateObject* start,
                    const Budget* budget, std::optional<std::uint64_t> seed, std::optional<Total> below,
                    HeuristicObject* given, bool keep_frontier) {
    const TaskObject& core = nb::cast<const TaskObject&>(task);
    std::size_t colon = config.find(':');
    if ((colon == std::string::npos) != (given != nullptr))
        throw InputError("a search is written like astar:lmcut, or astar with a heuristic, not '" + config +
                         "'");
    SearchFunction function = search_by_name(config.substr(0, colon));
    std::unique_ptr<Heuristic> own;
    std::unique_lock<std::mutex> busy;
    if (given != nullptr) {
        require_same_task(core, *given->core, "heuristic");
        nb::gil_scoped_release no_gil;
        busy = std::unique_lock(*given->busy);
    } else {
        own = make_heuristic(core.space, config.substr(colon + 1));
    }
    Heuristic* heuristic = given != nullptr ? given->heuristic.get() : own.get();
    if (start != nullptr) require_same_task(core, *start->core, "state");
    const Word* from = start == nullptr ? core.space.initial.data() : start->words.data();
    SearchOptions options{copy_of(budget), seed,
                          below && *below <= kMaxCost ? static_cast<Cost>(*below) : kInfinity};
    ResultObject object{std::move(task), &core, {}, nullptr};
    if (keep_frontier) {
        object.frontier = std::make_shared<Frontier>();
        options.frontier = object.frontier.get();
    }
    run_interruptible(options.budget,
                      [&] { object.result = function(core.space, *heuristic, from, options); });
    return object;
}

nb::object cost_or_infinity(Cost cost) {
    return cost == kInfinity ? nb::cast(std::numeric_limits<double>::infinity())
                             : nb::cast(static_cast<double>(cost));
}

const char* outcome_name(SearchOutcome outcome) {
    switch (outcome) {
        case SearchOutcome::kSolved:
            return "solved";
        case SearchOutcome::kUnsolvable:
            return "unsolvable";
        case SearchOutcome::kLimit:
            break;
    }
    return "limit";
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::class_<ResultObject>(m, "SearchResult", "What a search found, and what it took.")
        .def_prop_ro(
            "outcome", [](const ResultObject& r) { return outcome_name(r.result.outcome); },
            "`solved`, `unsolvable` or `limit`.")
        .def_prop_ro(
            "limit", [](const ResultObject& r) { return limit_name(r.result.limit); },
            nb::sig("def limit(self) -> str | None"),
            "What ended the search early: `expansions`, `seconds`, `memory`, `stopped`, or `incomplete` "
            "where "
            "hill-climbing ran dry, or `bound` where no plan costs less than was asked for; None where "
            "nothing did.")
        .def_prop_ro(
            "plan",
            [](const ResultObject& r) {
                std::vector<ActionObject> plan;
                for (ActionId id : r.result.plan) plan.push_back({r.task, r.core, id});
                return plan;
            },
            nb::sig("def plan(self) -> list[Action]"))
        .def_prop_ro(
            "cost",
            [](const ResultObject& r) -> nb::object {
                return r.result.outcome == SearchOutcome::kSolved ? nb::cast(r.result.cost) : nb::none();
            },
            nb::sig("def cost(self) -> int | None"), "Of the plan; None without one.")
        .def_prop_ro(
            "lower_bound", [](const ResultObject& r) { return cost_or_infinity(r.result.lower_bound); },
            nb::sig("def lower_bound(self) -> float"),
            "A proven lower bound on the cost of every plan of the start state; infinity where there is "
            "none.")
        .def_prop_ro("expanded", [](const ResultObject& r) { return r.result.expanded; })
        .def_prop_ro("evaluated", [](const ResultObject& r) { return r.result.evaluated; })
        .def_prop_ro("generated", [](const ResultObject& r) { return r.result.generated; })
        .def_prop_ro(
            "registered", [](const ResultObject& r) { return r.result.registered; },
            "Distinct states that were stored.")
        .def_prop_ro(
            "bytes", [](const ResultObject& r) { return r.result.bytes; }, "What the stored states took.")
        .def_prop_ro("seconds", [](const ResultObject& r) { return r.result.seconds; })
        .def_prop_ro(
            "frontier",
            [](const ResultObject& r) -> nb::object {
                if (!r.frontier || r.frontier->bound <= 0) return nb::none();
                return nb::cast(FrontierObject{r.task, r.core, r.frontier});
            },
            nb::sig("def frontier(self) -> Frontier | None"),
            "Why A*'s lower bound holds, where `keep_frontier` was asked for and it is not too large.")
        .def("__repr__", [](const ResultObject& r) {
            std::string text = std::string("<SearchResult ") + outcome_name(r.result.outcome);
            if (r.result.outcome == SearchOutcome::kSolved) text += ", cost " + std::to_string(r.result.cost);
            if (const char* limit = limit_name(r.result.limit)) text += std::string(" (") + limit + ")";
            return text + ", " + std::to_string(r.result.expanded) + " expanded>";
        });

    m.def(
        "search", &search, nb::arg("task"), nb::arg("config"), nb::kw_only(), nb::arg("state") = nb::none(),
        nb::arg("budget") = nb::none(), nb::arg("seed") = nb::none(), nb::arg("below") = nb::none(),
        nb::arg("heuristic") = nb::none(), nb::arg("keep_frontier") = false,
        nb::sig("def search(task: Task, config: str, *, state: State | None = None, budget: Budget | None = "
                "None, seed: int | None = None, below: int | None = None, heuristic: Heuristic | None = "
                "None, keep_frontier: bool = False) -> SearchResult"),
        "Searches from a state (the initial one by default): `astar:lmcut`, `astar:hmax`, `astar:blind`, "
        "`gbfs:ff`, "
        "`lazy:ff`, `ehc:ff`. A limit that is hit ends the search with what it knows; a seed shuffles the "
        "order of "
        "successors. A* with an admissible heuristic ends with the limit `bound` as soon as no plan can cost "
        "less than `below`. A `heuristic` that is given is used instead of a new one: `astar`.");

    m.def(
        "count_states",
        [](nb::object task, std::uint32_t max_depth, const StateObject* start, const Budget* budget) {
            const TaskObject& core = nb::cast<const TaskObject&>(task);
            if (start != nullptr) require_same_task(core, *start->core, "state");
            Budget spending = copy_of(budget);
            LimitHit hit = LimitHit::kNone;
            std::vector<std::uint64_t> counts;
            run_interruptible(spending, [&] {
                counts = count_states(core.space,
                                      start == nullptr ? core.space.initial.data() : start->words.data(),
                                      max_depth, spending, hit);
            });
            return counts;
        },
        nb::arg("task"), nb::arg("max_depth"), nb::kw_only(), nb::arg("state") = nb::none(),
        nb::arg("budget") = nb::none(),
        nb::sig("def count_states(task: Task, max_depth: int, *, state: State | None = None, budget: Budget "
                "| None = None) -> list[int]"),
        "The number of distinct states first reached at depth 0, 1, 2, ...: short where there are no more or "
        "the budget was used up.");
}
