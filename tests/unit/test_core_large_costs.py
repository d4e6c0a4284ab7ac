"""Estimates that outgrow the small integers inside: batches fall back, sums stop growing, nothing wraps."""

from __future__ import annotations

import math

import pytest

from misstep import InputError
from misstep import _core as core
from misstep.reference import fdr
from misstep.testing import exhaustive
from misstep.testing.random_tasks import to_sas

LARGEST = 10_000_000


def ladder(rungs: int, cost: int) -> fdr.Task:
    """Both facts of a rung need both facts of the rung below: h^add doubles from rung to rung.

    Below the ladder is a switch, so that no rung is reached before it; the last variable is a dead end.
    """
    size = 2 * rungs + 2
    actions = [fdr.Action("(start)", {0: 0, size - 1: 0}, {0: 1}, cost)]
    for rung in range(rungs):
        below = {0: 1} if rung == 0 else {2 * rung - 1: 1, 2 * rung: 1}
        actions += [fdr.Action(f"(climb {rung} {s})", below, {2 * rung + s: 1}, cost) for s in (1, 2)]
    facts = tuple((f"(no {i})", f"(yes {i})") for i in range(size))
    return fdr.Task(facts, (0,) * size, {2 * rungs: 1}, tuple(actions))


def states_of(task: fdr.Task) -> list[fdr.State]:
    """From the initial state up the ladder, and one without a way up."""
    states = [task.initial]
    for action in task.actions:
        if action.applicable(states[-1]):
            states.append(action.apply(states[-1]))
    return [*states, (*task.initial[:-1], 1)]


@pytest.mark.parametrize("cost", [0, 1, 200, 201, 30_000])
@pytest.mark.parametrize("rungs", [1, 6, 9, 12, 14])
def test_estimates_are_exact_one_by_one_and_in_batches(rungs: int, cost: int) -> None:
    task = ladder(rungs, cost)
    states = states_of(task)
    native = core.Task(to_sas(task))
    batch = native.batch([native.state_from_values(s) for s in states])
    for name, exact in (("hmax", exhaustive.hmax), ("hadd", exhaustive.hadd)):
        h = core.Heuristic(native, name)
        expected = [exact(task, s) for s in states]
        assert [h(s) for s in batch] == expected
        assert h.evaluate(batch).tolist() == expected
        goals = [dict(enumerate(s)) for s in states]
        table = [[exact(task, s, goal=goal) for goal in goals[:4]] for s in states]
        assert h.pairwise(batch, native.batch(list(batch)[:4])).tolist() == table
    ff = core.Heuristic(native, "ff")
    values = ff.evaluate(batch).tolist()
    for state, value in zip(states, values, strict=True):
        plan = ff.relaxed_plan(native.state_from_values(state))
        if plan is None:
            assert value == exhaustive.hmax(task, state) == math.inf
        else:
            used = [task.actions[a.index] for a in plan]
            assert exhaustive.is_relaxed_plan(used, state, task.goal)
            assert value == sum(a.cost for a in used)


@pytest.mark.parametrize("rungs", [20, 30, 31, 70])
@pytest.mark.parametrize("cost", [1, 200, LARGEST])
def test_sums_stop_growing_before_they_wrap(rungs: int, cost: int) -> None:
    """Far too expensive is still not a dead end, and relaxed plans stay relaxed plans."""
    task = ladder(rungs, cost)
    native = core.Task(to_sas(task))
    states = states_of(task)
    batch = native.batch([native.state_from_values(s) for s in states])
    h = core.Heuristic(native, "hadd")
    values = h.evaluate(batch).tolist()
    assert values == [h(s) for s in batch]
    for state, value in zip(states, values, strict=True):
        exact = exhaustive.hadd(task, state)
        assert value == exact or 2**29 <= value < exact < math.inf
    ff = core.Heuristic(native, "ff")
    for state, value in zip(states, ff.evaluate(batch).tolist(), strict=True):
        plan = ff.relaxed_plan(native.state_from_values(state))
        assert (plan is None) == (value == math.inf) == (exhaustive.hmax(task, state) == math.inf)
        if plan is not None:
            used = [task.actions[a.index] for a in plan]
            assert exhaustive.is_relaxed_plan(used, state, task.goal)
            assert value == sum(a.cost for a in used) or value >= 2**29
    hmax, lmcut = core.Heuristic(native, "hmax"), core.Heuristic(native, "lmcut")
    for state in states:
        exact = exhaustive.hmax(task, state)
        assert hmax(native.state_from_values(state)) == exact
        assert exact <= lmcut(native.state_from_values(state))


def test_larger_action_costs_are_refused() -> None:
    with pytest.raises(InputError, match=f"the largest cost is {LARGEST}"):
        core.Task(to_sas(ladder(1, LARGEST + 1)))


def test_a_plan_that_costs_too_much_to_count_is_an_error() -> None:
    """Never a wrong cost: 240 steps of the largest cost are more than the core can add up."""
    steps = 240
    task = fdr.Task(
        facts=(tuple(f"(at {i})" for i in range(steps + 1)),),
        initial=(0,),
        goal={0: steps},
        actions=tuple(fdr.Action(f"(go {i})", {0: i}, {0: i + 1}, LARGEST) for i in range(steps)),
    )
    native = core.Task(to_sas(task))
    for config in ("astar:blind", "gbfs:blind", "ehc:hmax"):
        with pytest.raises(InputError, match="a path costs more than"):
            core.search(native, config)
    near = native.state_from_values([steps - 90])
    assert core.search(native, "astar:lmcut", state=near).cost == 90 * LARGEST
