"""Budgets: what they promise, and that every native function keeps to the one that it is given."""

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

import misstep
from misstep import _core as core
from misstep.bundled.models import generate
from misstep.errors import InputError
from tests.unit.core_tasks import counter, delivery


def test_without_limits() -> None:
    budget = misstep.Budget()
    assert (budget.seconds_left, budget.expansions, budget.memory_mb, budget.effort) == (None,) * 4
    assert (budget.stop, budget.is_over, budget.over) == (None, False, None)
    assert repr(budget) == "<Budget without limits>"


def test_it_says_what_it_is() -> None:
    stop = core.StopFlag()
    budget = core.Budget(seconds=1000, expansions=7, memory_mb=1.5, effort=2e6, stop=stop)
    assert budget.seconds_left is not None and 0 < budget.seconds_left <= 1000
    assert (budget.expansions, budget.memory_mb, budget.effort) == (7, 1.5, 2e6)
    assert budget.stop is stop
    for words in ("s left", "7 expansions", "1.5 MB", "effort 2e+06"):
        assert words in repr(budget)
    assert "stopped" not in repr(budget)
    stop.set()
    assert "stopped" in repr(budget)


def test_infinity_is_no_limit() -> None:
    budget = core.Budget(seconds=math.inf, memory_mb=math.inf, effort=math.inf)
    assert (budget.seconds_left, budget.memory_mb, budget.effort) == (None,) * 3
    assert core.Budget(seconds=1e300).seconds_left is None


@pytest.mark.parametrize("name", ["seconds", "expansions", "memory_mb", "effort"])
def test_bad_values_are_refused(name: str) -> None:
    values = [-1] if name == "expansions" else [-1.0, -1e-9, math.nan, -math.inf]
    for value in values:
        with pytest.raises(InputError, match=rf"{name} is .*at least 0"):
            core.Budget(**{name: value})
        with pytest.raises(InputError, match=rf"{name} is .*at least 0"):
            core.Budget().part(**{name: value})


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan, math.inf])
def test_bad_shares_are_refused(share: float) -> None:
    with pytest.raises(InputError, match=r"share is .*from 0 to 1"):
        core.Budget().part(share=share)


def test_everything_has_a_name() -> None:
    with pytest.raises(TypeError):
        core.Budget(60)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        core.Budget(expansions=1.5)


def test_no_seconds_are_over_at_once() -> None:
    budget = core.Budget(seconds=0)
    assert (budget.is_over, budget.over, budget.seconds_left) == (True, "seconds", 0.0)


def test_time_goes_by_from_construction() -> None:
    budget = core.Budget(seconds=0.01)
    before = budget.seconds_left
    assert before is not None and before <= 0.01
    while not budget.is_over:
        time.sleep(0.001)
    assert (budget.over, budget.seconds_left) == ("seconds", 0.0)


def test_the_stop_flag_comes_first() -> None:
    stop = core.StopFlag()
    budget = core.Budget(seconds=0, stop=stop)
    assert budget.over == "seconds"
    stop.set()
    assert budget.over == "stopped"
    stop.clear()
    assert budget.over == "seconds"


def test_a_part_is_never_more_than_the_whole() -> None:
    stop = core.StopFlag()
    whole = core.Budget(seconds=100, expansions=10, memory_mb=20, effort=30, stop=stop)
    more = whole.part(seconds=1000, expansions=1000, memory_mb=1000, effort=1000)
    assert (more.expansions, more.memory_mb, more.effort) == (10, 20, 30)
    assert more.seconds_left is not None and more.seconds_left <= 100
    less = whole.part(seconds=1, expansions=1, memory_mb=2, effort=3)
    assert (less.expansions, less.memory_mb, less.effort) == (1, 2, 3)
    assert less.seconds_left is not None and less.seconds_left <= 1
    same = whole.part()
    assert (same.expansions, same.memory_mb, same.effort) == (10, 20, 30)
    assert same.seconds_left is not None and 1 < same.seconds_left <= 100
    for part in (more, less, same):
        assert part.stop is stop and not part.is_over
    stop.set()
    assert [part.over for part in (more, less, same)] == ["stopped"] * 3


def test_a_part_of_no_limit_has_its_own() -> None:
    part = core.Budget().part(seconds=5, expansions=3, memory_mb=2, effort=1)
    assert part.seconds_left is not None and part.seconds_left <= 5
    assert (part.expansions, part.memory_mb, part.effort, part.stop) == (3, 2, 1, None)


def test_shares_are_of_the_seconds_left() -> None:
    whole = core.Budget(seconds=1000)
    half, all_of_it = whole.part(share=0.5), whole.part(share=1)
    assert half.seconds_left is not None and 400 < half.seconds_left <= 500
    assert all_of_it.seconds_left is not None and 900 < all_of_it.seconds_left <= 1000
    assert whole.part(share=0).over == "seconds"
    assert core.Budget().part(share=0.1).seconds_left is None
    both = whole.part(share=0.5, seconds=2)
    assert both.seconds_left is not None and both.seconds_left <= 2


def test_parts_of_what_is_over_are_over() -> None:
    assert core.Budget(seconds=0).part(seconds=60, share=1).over == "seconds"


@dataclass
class Bench:
    """What the native functions work on; each would go on for long without a budget."""

    task: core.Task = field(default_factory=lambda: counter(40))
    asked: int = 0

    def policy(self, batch: core.StateBatch) -> list[core.Action]:
        self.asked += len(batch)
        return [self.task.applicable(state)[0] for state in batch]

    def graph(self) -> core.PolicyGraph:
        return core.PolicyGraph(self.task, self.policy)

    def run_of_one_step(self) -> tuple[list[core.State], list[core.Action]]:
        start = self.task.initial_state
        action, after = self.task.successors(start)[0]
        return [start, after], [action]


def _search(config: str) -> Callable[[Bench, core.Budget], str | None]:
    return lambda bench, budget: core.search(bench.task, config, budget=budget).limit


def _improve(bench: Bench, budget: core.Budget) -> str | None:
    result = core.improve_plan(bench.task, bench.task.initial_state, bench.task.actions, budget=budget)
    assert result.expanded == 0 and result.cost == 40
    return result.limit


def _runs(bench: Bench, budget: core.Budget) -> str | None:
    graph = bench.graph()
    assert graph.run(bench.task.batch([bench.task.initial_state]), budget=budget) == []
    assert bench.asked == 0
    return graph.limit


def _known_runs(bench: Bench, budget: core.Budget) -> str | None:
    """A run of which every answer is known already."""
    graph, starts = bench.graph(), bench.task.batch([bench.task.initial_state])
    assert len(graph.run(starts)) == 1 and graph.limit is None
    assert graph.run(starts, budget=budget) == []
    return graph.limit


def _lookahead(bench: Bench, budget: core.Budget) -> str | None:
    plan, limit, _ = bench.graph().lookahead(bench.task.initial_state, budget=budget)
    assert plan is None and bench.asked == 0
    return limit


def _fuzzer(bench: Bench, budget: core.Budget) -> str | None:
    fuzzer = core.NativeFuzzer(
        bench.graph(),
        kind="refined",
        bias="plan-length",
        distance="ff",
        max_walk=5,
        state_budget=50,
        expansion_budget=200,
        max_steps=1000,
        novelty=0,
        max_star_expansions=0,
        max_idle_walks=100,
        seed=0,
    )
    limit = fuzzer.extend(1000, budget=budget)
    assert fuzzer.walks == 0
    return limit


def _dominance(bench: Bench, budget: core.Budget) -> str | None:
    made = core.Dominance(bench.task, budget=budget)
    assert made.is_fallback
    return made.limit


def _bounds(bench: Bench, budget: core.Budget) -> str | None:
    store = core.BoundStore(core.Dominance(bench.task, factors="atomic"), lookahead=1000)
    store.add_run(*bench.run_of_one_step(), "stuck", budget=budget)
    assert store.expansions <= 1
    return store.limit


def _h2(bench: Bench, budget: core.Budget) -> str | None:
    return bench.task.h2(budget=budget).limit


LIMIT_OF: dict[str, Callable[[Bench, core.Budget], str | None]] = {
    "astar": _search("astar:blind"),
    "gbfs": _search("gbfs:hmax"),
    "ehc": _search("ehc:hmax"),
    "improve_plan": _improve,
    "PolicyGraph.run": _runs,
    "PolicyGraph.run, known": _known_runs,
    "PolicyGraph.lookahead": _lookahead,
    "NativeFuzzer.extend": _fuzzer,
    "Dominance": _dominance,
    "BoundStore.add_run": _bounds,
    "Task.h2": _h2,
}


def _over(limit: str) -> core.Budget:
    stop = core.StopFlag()
    stop.set()
    return {
        "stopped": core.Budget(stop=stop),
        "seconds": core.Budget(seconds=0),
        "memory": core.Budget(memory_mb=0),
    }[limit]


OVER = ("stopped", "seconds", "memory")


@pytest.mark.parametrize("limit", OVER)
@pytest.mark.parametrize("function", LIMIT_OF)
def test_native_functions_end_at_once(function: str, limit: str) -> None:
    assert LIMIT_OF[function](Bench(), _over(limit)) == limit


@pytest.mark.parametrize("limit", OVER)
def test_states_are_not_counted(limit: str) -> None:
    assert core.count_states(counter(40), 1000, budget=_over(limit)) == [1]


@pytest.mark.parametrize("limit", OVER)
def test_what_cannot_be_pruned_in_time_is_kept(limit: str) -> None:
    task = delivery()
    assert core.Task(task.pruned_sas()).domain_sizes != task.domain_sizes
    assert core.Task(task.pruned_sas(budget=_over(limit))).domain_sizes == task.domain_sizes


@pytest.mark.parametrize("limit", OVER)
def test_models_are_not_explored(limit: str) -> None:
    document = generate("two_way_line", length=6, packages=1)
    model = core.JaniModel.parse(json.dumps(document), "line")
    assert model.explore(budget=_over(limit))[1] == 0
    game = core.JaniGame(model, "false")
    assert len(game.sample("true", 5, seed=0)) == 5
    assert game.sample("true", 5, seed=0, budget=_over(limit)) == []


@pytest.mark.parametrize("limit", OVER)
@pytest.mark.parametrize(
    "algorithm", ["level", "tarjan", "value-iteration", "lao", "lrtdp", "policy-iteration"]
)
def test_deciders_end_at_once(algorithm: str, limit: str) -> None:
    spec = [([(0, [1])], False, False, 0), ([(0, [2])], False, False, 0), ([], True, False, None)]
    decider = core.Decider(core.ExplicitGame(spec), algorithm)
    verdict, hit, expanded, _ = decider.decide(0, None, budget=_over(limit))
    assert (verdict, hit, expanded) == ("unknown", limit, 0)
    assert decider.minimal_radius(0, budget=_over(limit)) is None
    assert decider.decide(0, None)[0] == "unsafe"


@pytest.mark.parametrize("limit", OVER)
def test_safety_runs_end_at_once(limit: str) -> None:
    spec = [([(0, [0, 1])], False, False, 0), ([], True, False, None)]
    fuzzer = core.SafetyFuzzer(core.ExplicitGame(spec), seed=0)
    assert fuzzer.run(0, budget=_over(limit)) == (limit, [0])
    assert fuzzer.run(0)[0] == "unsafe"
