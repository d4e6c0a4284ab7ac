"""Estimates that outgrow the small integers inside: batches fall back, sums stop growing, nothing wraps."""

from __future__ import annotations

import math
from typing import cast

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


def line(steps: int, *, detour: int | None = None) -> core.Task:
    """A walk of so many dear steps; a step from `detour` to where `detour` + 100 is saves 99 of them."""
    actions = [fdr.Action(f"(go {i})", {0: i}, {0: i + 1}, LARGEST) for i in range(steps)]
    if detour is not None:
        actions.append(fdr.Action("(jump)", {0: detour}, {0: detour + 100}, LARGEST))
    facts = (tuple(f"(at {i})" for i in range(steps + 1)),)
    return core.Task(to_sas(fdr.Task(facts, (0,), {0: steps}, tuple(actions))))


def go_on(batch: core.StateBatch) -> list[core.Action | None]:
    """A policy that never jumps."""
    task = cast(core.Task, batch.task)
    return [next((a for a in task.applicable(s) if a.name != "(jump)"), None) for s in batch]


@pytest.mark.parametrize("config", ["astar:blind", "astar:lmcut", "gbfs:blind", "ehc:hmax", "lazy:ff"])
def test_plans_have_their_true_cost_and_lower_bounds_stay_below(config: str) -> None:
    """108 steps of the largest cost are more than 30 bits hold."""
    for steps in (106, 107, 108, 240):
        found = core.search(line(steps), config)
        assert found.cost == steps * LARGEST == sum(action.cost for action in found.plan)
        assert found.lower_bound <= steps * LARGEST
        assert not config.startswith("astar") or found.lower_bound >= min(steps * LARGEST, 2**30 - 2)


def test_a_search_for_less_than_a_large_bound_says_what_it_knows() -> None:
    task = line(240)
    for below in (10**9, 2 * 10**9, 5 * 10**9):
        found = core.search(task, "astar:lmcut", below=below)
        assert found.outcome == ("limit" if below == 10**9 else "solved")
        assert found.lower_bound <= 240 * LARGEST


def test_runs_and_improved_plans_are_exact() -> None:
    task = line(300, detour=150)
    graph = core.PolicyGraph(task, go_on)
    (run,) = graph.run(task.batch([task.initial_state]), max_steps=1000)
    assert (run.outcome, run.spent) == ("solved", 300 * LARGEST)
    (later,) = graph.run(task.batch([run.states[100]]), max_steps=1000)
    assert later.spent == 200 * LARGEST  # from what is known of the first run
    plan, limit, _ = graph.lookahead(task.initial_state, depth=1, below=300 * LARGEST)
    assert (plan, limit) == (None, None)
    plan, _, _ = graph.lookahead(run.states[149], depth=2, below=151 * LARGEST)
    assert plan is not None and sum(action.cost for action in plan) == 52 * LARGEST
    better = core.improve_plan(task, task.initial_state, run.actions)
    assert better.cost == 201 * LARGEST and better.exhausted


def test_enumeration_counts_beyond_thirty_bits() -> None:
    every = core.enumerate_states(line(240), max_states=1000)
    assert max(every.values()) == 240 * LARGEST


def test_bounds_are_exact() -> None:
    task = line(300, detour=150)
    store = core.BoundStore(core.Dominance(task))
    graph = core.PolicyGraph(task, go_on)
    (run,) = graph.run(task.batch([task.initial_state]), max_steps=1000)
    store.add_run(run.states, run.actions, run.outcome)
    assert store.policy_cost(task.initial_state) == 300 * LARGEST
    assert store.bound(task.initial_state) >= 201 * LARGEST
    store.add_plan(run.states[150], [task.action("(jump)"), *run.actions[250:]])
    assert store.bound(task.initial_state) == 201 * LARGEST
    assert sum(action.cost for action in store.plan_of(task.initial_state)) == 201 * LARGEST
