"""Small tasks on which LM-cut is so inconsistent that A* must reopen states; random ones hardly need it."""

from __future__ import annotations

import pytest

from misstep import _core as core
from misstep.reference import fdr
from misstep.testing import exhaustive
from misstep.testing.random_tasks import to_sas


def _task(sizes: str, initial: str, goal: str, actions: str) -> fdr.Task:
    """`0=1 2=0` is a partial state, `0=1 > 2=0 : 3` an action of cost 3; one action a line."""

    def facts(text: str) -> dict[int, int]:
        pairs = (word.split("=") for word in text.split())
        return {int(variable): int(value) for variable, value in pairs}

    def action(number: int, text: str) -> fdr.Action:
        before, rest = text.split(">")
        after, cost = rest.split(":")
        return fdr.Action(f"(act {number})", facts(before), facts(after), int(cost))

    return fdr.Task(
        facts=tuple(tuple(f"(x{i} {v})" for v in range(int(size))) for i, size in enumerate(sizes.split())),
        initial=tuple(map(int, initial.split())),
        goal=facts(goal),
        actions=tuple(action(i, line) for i, line in enumerate(actions.strip().splitlines())),
    )


TASKS = [
    _task(
        sizes="3 2 3 2 2 2",
        initial="2 0 2 0 1 0",
        goal="0=2 1=1 4=0 5=1",
        actions="""
            4=0 5=0 > 2=1 4=1 : 4
            0=0 2=1 > 0=2 4=0 : 1
            0=0 1=0 4=1 > 1=1 4=0 : 1
            1=1 4=1 5=1 > 0=1 5=0 : 1
            5=0 > 1=1 5=1 : 1
            2=2 3=0 > 0=0 1=0 : 4
            0=1 1=1 4=1 > 0=0 1=0 : 1
        """,
    ),
    _task(
        sizes="3 2 2 2 2",
        initial="0 0 1 1 1",
        goal="0=0 1=1 2=0 3=0 4=1",
        actions="""
            1=0 > 0=1 3=1 : 3
            0=1 4=0 > 3=0 : 5
            0=1 4=0 > 2=0 4=1 : 5
            0=1 2=0 > 0=0 : 3
            0=1 2=1 3=0 > 1=0 2=0 : 5
            1=0 3=1 > 0=2 1=1 : 3
            0=2 1=1 3=1 > 0=1 4=1 : 2
            4=0 > 1=1 4=1 : 3
            0=1 1=0 > 0=0 2=1 : 1
            4=1 > 4=0 : 1
        """,
    ),
    _task(
        sizes="3 3 3 2",
        initial="0 0 1 0",
        goal="0=1 1=1 2=1 3=1",
        actions="""
            0=0 1=2 2=0 > 2=2 : 1
            3=0 > 1=2 2=0 : 4
            1=2 3=0 > 2=2 3=1 : 1
            2=2 3=1 > 1=1 2=0 : 4
            1=0 2=0 3=1 > 0=2 2=1 : 1
            0=0 > 2=1 : 4
            0=0 1=2 2=2 > 1=0 3=1 : 1
            1=0 > 0=1 1=1 : 4
            0=0 2=1 3=0 > 1=2 : 1
        """,
    ),
    _task(
        sizes="2 3 2 3 3 2",
        initial="0 2 1 0 1 0",
        goal="1=1 3=2 5=1",
        actions="""
            0=0 4=1 > 2=0 3=1 : 4
            0=0 > 4=0 5=1 : 4
            3=0 > 0=1 2=0 : 4
            1=0 4=1 > 1=1 5=1 : 1
            3=0 > 2=1 3=1 : 1
            0=0 5=0 > 3=0 4=1 : 1
            0=0 1=2 4=1 > 0=1 3=2 : 1
            0=0 2=1 5=1 > 1=0 : 4
            4=0 > 1=1 : 4
            2=0 > 0=0 : 1
            4=1 > 4=0 5=0 : 1
            1=1 2=1 3=1 > 2=0 5=1 : 1
        """,
    ),
    _task(
        sizes="2 3 2 3",
        initial="1 1 1 0",
        goal="0=0 1=0 2=0 3=2",
        actions="""
            1=0 > 1=1 2=1 : 1
            0=0 1=1 3=0 > 0=1 3=1 : 1
            0=1 > 0=0 1=0 : 1
            1=1 2=1 3=0 > 3=1 : 4
            0=1 1=1 3=1 > 0=0 2=0 : 1
            2=1 3=1 > 0=1 3=2 : 4
            1=0 2=1 > 0=0 2=0 : 1
        """,
    ),
]


@pytest.mark.parametrize("task", TASKS, ids=range(len(TASKS)))
def test_astar_reopens(task: fdr.Task) -> None:
    native = core.Task(to_sas(task))
    reached = exhaustive.depths(task, task.initial)
    h = core.Heuristic(native, "lmcut")
    values = {s: h(native.state_from_values(s)) for s in reached}
    assert any(values[s] > a.cost + values[t] for s in reached for a, t in task.successors(s)), "inconsistent"
    for seed in (None, 1, 2, 3):
        found = core.search(native, "astar:lmcut", seed=seed)
        assert found.cost == exhaustive.exact_costs(task, reached)[task.initial]
