"""Plan improvement of the native core: each way to a cheaper plan, limits, errors, a real pool."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from misstep import InputError, load
from misstep import _core as core
from misstep.policies.heuristic import Heuristic
from misstep.record.pool_file import read_pool
from misstep.reference import fdr
from misstep.testing.random_tasks import to_sas
from tests.unit.core_tasks import counter, delivery

PLAN = ["(load parcel a)", "(drive lorry a b)", "(unload parcel b)"]


def _actions(task: core.Task, names: list[str]) -> list[core.Action]:
    return [task.action(name) for name in names]


def _names(result: core.ImproveResult) -> list[str]:
    return [action.name for action in result.plan]


def test_what_is_not_needed_is_left_out() -> None:
    task = delivery()
    there_and_back = ["(drive lorry a b)", "(light)", "(drive lorry b a)"]
    plan = _actions(task, [*there_and_back, *PLAN])
    result = core.improve_plan(task, task.initial_state, plan, budget=core.Budget(expansions=0))
    assert (_names(result), result.cost, result.limit, result.exhausted) == (PLAN, 4, "expansions", False)


def test_an_optimal_plan_is_proven_optimal() -> None:
    task = delivery()
    result = core.improve_plan(task, task.initial_state, _actions(task, PLAN))
    assert (_names(result), result.cost, result.limit, result.exhausted) == (PLAN, 4, None, True)
    assert result.expanded > 0
    assert "cost 4, optimal" in repr(result)


def test_a_plan_that_is_cheap_enough_is_left_alone() -> None:
    task = delivery()
    for enough in (4, 3.5, 100):
        result = core.improve_plan(task, task.initial_state, _actions(task, PLAN), enough=enough)
        assert (result.cost, result.expanded, result.limit, result.exhausted) == (4, 0, None, False)


def test_the_empty_plan() -> None:
    task = delivery()
    result = core.improve_plan(task, task.state(["(at lorry a)", "(at parcel b)"]), [])
    assert (result.plan, result.cost) == ([], 0)


def test_a_detour_hidden_by_the_order_of_the_plan() -> None:
    """A tool is put aside long before it is needed; taking it later, straight to its place, is cheaper."""
    far = 12
    steps = tuple(fdr.Action(f"(work {i})", {1: i, 3: 0}, {1: i + 1}, 1) for i in range(far))
    other = tuple(fdr.Action(f"(fiddle {i})", {}, {2: i}, 1) for i in range(1, 40))
    task = core.Task(
        to_sas(
            fdr.Task(
                facts=(
                    ("(stored)", "(held)", "(aside)", "(in place)"),
                    tuple(f"(done {i})" for i in range(far + 1)),
                    tuple(f"(fiddled {i})" for i in range(40)),
                    ("(hand free)", "(hand full)"),
                ),
                initial=(0, 0, 0, 0),
                goal={0: 3, 1: far},
                actions=(
                    fdr.Action("(take)", {0: 0, 3: 0}, {0: 1, 3: 1}, 1),
                    fdr.Action("(put aside)", {0: 1}, {0: 2, 3: 0}, 1),
                    fdr.Action("(take again)", {0: 2, 3: 0}, {0: 1, 3: 1}, 1),
                    fdr.Action("(put in place)", {0: 1, 1: far}, {0: 3, 3: 0}, 1),
                    *steps,
                    *other,
                ),
            )
        )
    )
    work = [step.name for step in steps]
    plan = _actions(task, ["(take)", "(put aside)", *work, "(take again)", "(put in place)"])
    result = core.improve_plan(task, task.initial_state, plan, budget=core.Budget(expansions=2))
    assert _names(result) == [*work, "(take)", "(put in place)"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["(unload parcel b)"], r"step 1, \(unload parcel b\), is not applicable"),
        (PLAN[:2], "not a goal state"),
        ([], "not a goal state"),
    ],
)
def test_what_is_no_plan_is_refused(names: list[str], message: str) -> None:
    task = delivery()
    with pytest.raises(InputError, match=message):
        core.improve_plan(task, task.initial_state, _actions(task, names))


def test_other_tasks_are_refused() -> None:
    task, other = delivery(), counter(3)
    with pytest.raises(InputError, match="the state belongs to another task"):
        core.improve_plan(task, other.initial_state, [])
    with pytest.raises(InputError, match="the plan belongs to another task"):
        core.improve_plan(task, task.initial_state, other.actions)
    with pytest.raises(InputError, match="enough"):
        core.improve_plan(task, task.initial_state, _actions(task, PLAN), enough=float("nan"))


def test_limits() -> None:
    task = counter(40)
    plan = task.actions
    for budget, name in (
        (core.Budget(seconds=0.05), "seconds"),
        (core.Budget(memory_mb=1.0), "memory"),
        (core.Budget(expansions=10), "expansions"),
    ):
        result = core.improve_plan(task, task.initial_state, plan, budget=budget)
        assert (result.limit, result.cost, result.exhausted) == (name, 40, False)


def test_it_can_be_stopped() -> None:
    task, stop = counter(40), core.StopFlag()
    budget = core.Budget(seconds=60, stop=stop)
    results: list[core.ImproveResult] = []

    def work() -> None:
        results.append(core.improve_plan(task, task.initial_state, task.actions, budget=budget))

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.05)
    stop.set()
    thread.join()
    assert (results[0].limit, results[0].cost) == ("stopped", 40)


def test_the_gripper_pool_is_improved_to_the_optimum(data: Path) -> None:
    """Issue 4: gaps of 8 to 10 a state."""
    folder = data / "gnn" / "gripper"
    task = load(folder / "domain.pddl", folder / "problems" / "prob05.pddl")
    pool = read_pool(data / "peer-pools" / "gripper-prob05.pool.jsonl", task)[::20]
    graph = core.PolicyGraph(task, Heuristic().bind(task))
    runs = graph.run(task.batch([entry.state for entry in pool]))
    for entry, run in zip(pool, runs, strict=True):
        assert run.outcome == "solved"
        improved = core.improve_plan(task, entry.state, run.actions, budget=core.Budget(expansions=20_000))
        assert improved.cost == core.search(task, "astar:blind", state=entry.state).cost
