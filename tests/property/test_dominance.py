"""Dominance functions and the plans they promise against brute force, on every pair of reachable states."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterator

import numpy as np
import pytest

from misstep import _core as core
from misstep.reference import fdr
from misstep.testing import exhaustive
from tests.property.cases import CHUNK, FIRST_SEED, Case, numbered

NUM_TASKS = int(os.environ.get("MISSTEP_RANDOM_TASKS", "300"))
CHUNKS = [
    range(s, min(s + CHUNK, FIRST_SEED + NUM_TASKS)) for s in range(FIRST_SEED, FIRST_SEED + NUM_TASKS, CHUNK)
]
MOST_STATES = 500
MOST_CARRIED = 60


def functions(task: core.Task) -> Iterator[tuple[str, core.Dominance]]:
    yield "atomic", core.Dominance(task, factors="atomic")
    yield "merged", core.Dominance(task, max_transitions=200)
    yield "small factors", core.Dominance(task, max_transitions=30)
    yield "out of time", core.Dominance(task, max_transitions=30, budget=core.Budget(seconds=0))
    yield "out of memory", core.Dominance(task, max_transitions=30, budget=core.Budget(memory_mb=1e-4))
    stop = core.StopFlag()
    stop.set()
    yield "stopped", core.Dominance(task, factors="atomic", budget=core.Budget(stop=stop))


def states_of(case: Case) -> tuple[list[fdr.State], np.ndarray]:
    """States and their exact costs: reachable ones and, as morphs may be, some that are not."""
    rng = random.Random(f"dominance {case.seed}")
    known = dict(case.exact)
    task = case.reference
    for _ in range(3):
        start = tuple(rng.randrange(len(values)) for values in task.facts)
        if start not in known:
            known |= exhaustive.exact_costs(task, exhaustive.depths(task, start))
    states = list(known)
    if len(states) > MOST_STATES:
        states = rng.sample(states, MOST_STATES)
    return states, np.array([known[state] for state in states], dtype=float)


def bound(costs: np.ndarray) -> np.ndarray:
    """h*(s) - h*(t) where h*(s) is finite; elsewhere D may say anything."""
    with np.errstate(invalid="ignore"):
        difference: np.ndarray = costs[:, None] - costs[None, :]
    difference[np.isinf(costs), :] = math.inf
    return difference


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda r: f"{r.start}-{r.stop - 1}")
def test_values_are_lower_bounds(seeds: range) -> None:
    finite: dict[str, int] = {}
    total = 0
    for seed in seeds:
        case = numbered(seed)
        states, costs = states_of(case)
        most = bound(costs)
        batch = case.batch(states)
        solvable = np.isfinite(costs)
        total += int(solvable.sum()) * len(states)
        for name, dominance in functions(case.native):
            values = dominance.values(batch, batch)
            assert np.all(values <= most), f"random task {seed}, {name}"
            assert values[0, -1] == dominance.value(batch[0], batch[len(batch) - 1])
            if name != "out of memory":  # tiny tasks need none
                assert (dominance.limit is not None) == (name in ("out of time", "stopped")), (seed, name)
            finite[name] = finite.get(name, 0) + int(np.isfinite(values[solvable]).sum())
    print(f"\ntasks {seeds.start}-{seeds.stop - 1}: of {total:,} pairs (s solvable), D > -inf:", finite)
    assert finite["merged"] > finite["out of memory"] > 0


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda r: f"{r.start}-{r.stop - 1}")
def test_plans_are_carried_over(seeds: range) -> None:
    carried = 0
    for seed in seeds:
        case = numbered(seed)
        states, costs = states_of(case)
        rng = random.Random(seed)
        for name, dominance in functions(case.native):
            batch = case.batch(states)
            values = dominance.values(batch, batch)
            pairs = [(int(i), int(j)) for i, j in np.argwhere(np.isfinite(values)) if i != j]
            pairs = [(i, j) for i, j in pairs if np.isfinite(costs[i])]
            if len(pairs) > MOST_CARRIED:
                pairs = rng.sample(pairs, MOST_CARRIED)
            for i, j in pairs:
                plan = core.search(case.native, "astar:blind", state=batch[i]).plan
                answer = dominance.carry(batch[i], plan, batch[j])
                promised = sum(action.cost for action in plan) - values[i, j]
                try:
                    cost = replay(case.reference, states[j], answer)
                    assert cost <= promised
                except (ValueError, AssertionError) as error:
                    error.add_note(f"random task {seed}, {name}: {states[i]} to {states[j]}")
                    raise
                carried += 1
    print(f"\ntasks {seeds.start}-{seeds.stop - 1}: {carried:,} plans carried over")


def replay(task: fdr.Task, state: fdr.State, plan: list[core.Action]) -> int:
    """The cost of a plan by the reference, action by action: names may be ambiguous, indices are not."""
    cost = 0
    for action in plan:
        state = task.actions[action.index].apply(state)
        cost += task.actions[action.index].cost
    if not task.is_goal(state):
        raise ValueError("the plan ends in a state that is not a goal state")
    return cost
