"""Counts of distinct states at depth k equal those of planners that ground PDDL on their own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any

import pytest

from misstep import _core as core
from tests.peers.pddl_text import without_costs
from tests.taskset import PddlTask, own_tasks, sampled, shared_tasks

MAX_STATES = 2000
# pyperplan knows neither negative preconditions nor equality.
NEGATION = ("ferry", "keys", "lights", "torch", "tyre")

Successors = Callable[[Hashable], Iterable[Hashable]]


def counts(start: Hashable, successors: Successors, *, limit: int) -> list[int]:
    """Whole layers of a breadth-first search, until more than `limit` states were seen or none are left."""
    seen = {start}
    layer = [start]
    sizes = [1]
    while layer and len(seen) <= limit:
        layer = list(dict.fromkeys(s for state in layer for s in successors(state) if s not in seen))
        seen.update(layer)
        sizes.append(len(layer))
    return sizes if layer else sizes[:-1]


def _check(task: PddlTask, start: Hashable, successors: Successors, *, limit: int) -> None:
    """Irrelevant variables stay: without them states that differ for a PDDL planner would be one."""
    native = core.Task(task.sas("--keep-unimportant-variables"))
    if native.fact_name(0, 0) == "(dummy val1)":
        pytest.skip("the translator saw that there is no plan and wrote a dummy task")
    theirs = counts(start, successors, limit=limit)
    assert core.count_states(native, len(theirs) - 1) == theirs


def _stripped(task: PddlTask, folder: Path) -> tuple[str, str]:
    paths = []
    for path in (task.domain, task.problem):
        copy = folder / path.name
        copy.write_text(without_costs(path.read_text()))
        paths.append(str(copy))
    return paths[0], paths[1]


TASKS = sampled([*own_tasks(), *shared_tasks()])
POSITIVE = [t for t in TASKS if t.is_own and t.domain.parent.name not in NEGATION]
REAL = [
    t for t in TASKS if not t.is_own and t.domain.parent.name in ("blocks", "delivery", "visitall", "rovers")
]


@pytest.mark.parametrize("task", [*POSITIVE, *REAL], ids=lambda t: t.name)
def test_pyperplan(task: PddlTask, tmp_path: Path) -> None:
    pytest.importorskip("pyperplan", reason="pyperplan is not installed")
    from pyperplan import grounding
    from pyperplan.pddl.parser import Parser

    logging.getLogger().setLevel(logging.WARNING)
    parser = Parser(*_stripped(task, tmp_path))
    problem = parser.parse_problem(parser.parse_domain())
    peer = grounding.ground(problem, remove_irrelevant_operators=False)
    start = frozenset(peer.initial_state)
    _check(task, start, lambda s: [n for _, n in peer.get_successor_states(s)], limit=MAX_STATES)


@pytest.mark.parametrize("domain", NEGATION)
def test_unified_planning(domain: str, tmp_path: Path) -> None:
    """Its simulator takes milliseconds a state: fewer states, and one domain after the other."""
    pytest.importorskip("unified_planning", reason="unified-planning is not installed")
    from unified_planning.engines.sequential_simulator import UPSequentialSimulator
    from unified_planning.io import PDDLReader
    from unified_planning.shortcuts import get_environment

    get_environment().credits_stream = None
    for task in sampled([t for t in own_tasks() if t.domain.parent.name == domain], most=2):
        problem = PDDLReader().parse_problem(*_stripped(task, tmp_path))
        simulator = UPSequentialSimulator(problem)
        fluents = list(problem.initial_values)
        states = {}

        def key(state: Any) -> Hashable:
            name = frozenset(f for f in fluents if state.get_value(f).is_true())  # noqa: B023
            states.setdefault(name, state)  # noqa: B023
            return name

        def successors(name: Hashable) -> Iterable[Hashable]:
            state = states[name]  # noqa: B023
            for action, arguments in simulator.get_applicable_actions(state):  # noqa: B023
                yield key(simulator.apply(state, action, arguments))  # noqa: B023

        _check(task, key(simulator.get_initial_state()), successors, limit=25)
