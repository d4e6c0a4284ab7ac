"""Plan costs and h^max values equal Fast Downward's."""

from __future__ import annotations

import math
import random

import pytest

from misstep import _core as core
from misstep.reference import fdr
from misstep.reference.plan import validate
from misstep.testing.random_tasks import random_walk
from tests.data import NO_DATA
from tests.peers import downward
from tests.taskset import PddlTask, own_tasks, sampled, shared_tasks

pytestmark = downward.needs_downward
TASKS = sampled([*own_tasks(), *shared_tasks()])


def test_there_are_enough_tasks() -> None:
    own = own_tasks()
    assert len(own) >= 80
    assert len({task.domain for task in own}) >= 15


def test_real_tasks_are_present() -> None:
    if not shared_tasks():
        pytest.skip(NO_DATA)


@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.name)
def test_costs(task: PddlTask) -> None:
    """A* is as good as Fast Downward's, and each accepts the other's plan."""
    sas = task.sas()
    theirs = downward.solve(sas, "astar(lmcut())")
    reference = fdr.parse(sas)
    native = core.Task(sas)
    if theirs.cost < math.inf:
        assert validate(reference, reference.initial, theirs.plan) == theirs.cost
    for name in ("blind", "hmax", "lmcut"):
        if name != "lmcut" and not task.is_own:
            continue
        ours = core.search(native, f"astar:{name}")
        assert ours.lower_bound == theirs.cost, name
        if theirs.cost == math.inf:
            assert ours.outcome == "unsolvable", name
        else:
            plan = [str(action) for action in ours.plan]
            assert validate(reference, reference.initial, plan) == ours.cost == theirs.cost, name


@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.name)
def test_hmax(task: PddlTask) -> None:
    """The initial state and 20 random reachable ones."""
    sas = task.sas()
    reference = fdr.parse(sas)
    rng = random.Random(task.name)
    states = {reference.initial: None}
    for _ in range(40):
        states[random_walk(reference, rng.randint(1, 30), rng)] = None
    chosen = list(states)[:21]
    native = core.Task(sas)
    h = core.Heuristic(native, "hmax")
    batch = native.batch([native.state_from_values(values) for values in chosen])
    theirs = [downward.initial_value(downward.with_initial_state(sas, s), "hmax") for s in chosen]
    assert h.evaluate(batch).tolist() == theirs
