"""Families: bugs grouped by what goes wrong, and how varied a set of bugs is (Table 1 of [22])."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from misstep._core import State
from misstep.events import Family
from misstep.task import Task


@dataclass(frozen=True, slots=True)
class BugSummary:
    """What families look at."""

    id: int
    state: State
    outcome: str
    schema: str | None
    """Of the decision that is provably at fault."""
    gap: float
    steps: int
    """Of the policy's run."""


def families(task: Task, bugs: Sequence[BugSummary]) -> list[Family]:
    """Bugs with the same outcome, the same schema at fault and in the same region; large families first."""
    region = regions(task, [bug.state for bug in bugs])
    groups: dict[tuple[str, str | None, int], list[BugSummary]] = {}
    for bug in bugs:
        groups.setdefault((bug.outcome, bug.schema, region[bug.state]), []).append(bug)
    found = [
        Family(
            outcome=outcome,
            schema=schema,
            region=number,
            members=tuple(bug.id for bug in group),
            representative=min(group, key=lambda bug: (bug.steps, bug.id)).id,
        )
        for (outcome, schema, number), group in groups.items()
    ]
    return sorted(found, key=lambda family: (-len(family.members), family.representative))


def regions(task: Task, states: Sequence[State]) -> dict[State, int]:
    """Numbers the connected parts of the state space that consist of these states alone."""
    parent = {state: state for state in states}

    def root(state: State) -> State:
        while parent[state] != state:
            parent[state] = parent[parent[state]]
            state = parent[state]
        return state

    for state in parent:
        for _, successor in task.successors(state):
            if successor in parent:
                parent[root(successor)] = root(state)
    numbers: dict[State, int] = {}
    return {state: numbers.setdefault(root(state), len(numbers)) for state in parent}


def share_with_unique_pair(states: Sequence[State]) -> float | None:
    """The share of states with two facts that no other of them has together; None without states."""
    if not states:
        return None
    values = np.array([state.values for state in states], dtype=np.int64).reshape(len(states), -1)
    width = int(values.max(initial=0)) + 1
    unique = np.zeros(len(states), dtype=bool)
    for first in range(values.shape[1]):
        pairs = values[:, [first]] * width + values[:, first + 1 :]
        order = np.argsort(pairs, axis=0, kind="stable")
        ranked = np.take_along_axis(pairs, order, axis=0)
        differs = np.ones((len(states) + 1, pairs.shape[1]), dtype=bool)
        differs[1:-1] = ranked[1:] != ranked[:-1]
        unique[order[differs[1:] & differs[:-1]]] = True
    return float(unique.mean())
