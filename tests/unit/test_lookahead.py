"""`lookahead`: free choices before the policy takes over, or late in a run that fails; runs that are cut off."""

from __future__ import annotations

import pytest

from misstep import _core as core
from misstep._core import PolicyGraph
from misstep.claim import Plan
from misstep.lab import Lab
from misstep.oracle import make_oracles, open_case
from misstep.pool import PoolEntry
from misstep.reference import fdr
from misstep.task import Task
from misstep.testing.random_tasks import to_sas

LENGTH = 10
ROAD = fdr.Task(
    facts=(tuple(f"(at {place})" for place in range(LENGTH + 1)),),
    initial=(0,),
    goal={0: LENGTH},
    actions=tuple(fdr.Action(f"(go {place})", {0: place}, {0: place + 1}, 1) for place in range(LENGTH)),
)


def lab_of(tired: int | None) -> Lab:
    """A policy that goes on to the end but for one place, where it stays."""
    task = Task(to_sas(ROAD))

    def goes(states: core.StateBatch) -> list[core.Action | None]:
        places = [state.values[0] for state in states]
        return [None if at in (tired, LENGTH) else task.actions[at] for at in places]

    return Lab(task=task, graph=PolicyGraph(task, goes, recheck=False))


@pytest.mark.parametrize("tired", [0, 1, 7])
def test_a_free_choice_may_come_late(tired: int) -> None:
    lab = lab_of(tired)
    entry = PoolEntry(id=0, state=lab.task.initial_state)
    case = open_case(lab, entry, lab.run([entry.state])[0])
    assert case.run.outcome == "stuck"
    (claim,) = make_oracles(["lookahead"])[0].bind(lab).claims(case)
    assert claim.bound.hi == LENGTH


@pytest.mark.parametrize("tired", [1, 2, LENGTH - 1])
def test_a_free_choice_may_come_at_every_later_step(tired: int) -> None:
    """With one free choice at the start, which does not help, step 1 is the first of the others."""
    lab = lab_of(tired)
    entry = PoolEntry(id=0, state=lab.task.initial_state)
    case = open_case(lab, entry, lab.run([entry.state])[0])
    (claim,) = make_oracles(["lookahead:depth=1"])[0].bind(lab).claims(case)
    assert isinstance(claim.evidence, Plan)
    assert [action.name for action in claim.evidence.actions] == [f"(go {place})" for place in range(LENGTH)]


def test_late_choices_share_the_limit() -> None:
    lab = lab_of(7)
    entry = PoolEntry(id=0, state=lab.task.initial_state)
    case = open_case(lab, entry, lab.run([entry.state])[0])
    (part,) = make_oracles(["lookahead:max_asked=1"])
    assert list(part.bind(lab).claims(case)) == []  # nothing is left for later steps


def test_a_run_is_cut_off_where_it_cannot_be_cheap_enough() -> None:
    """So does `morph` run the policy on states that it compares with."""
    lab = lab_of(None)
    start = lab.task.initial_state
    plan, _, asked = lab.graph.lookahead(start, depth=0, below=4)
    assert plan is None and asked <= 4
    plan, _, _ = lab.graph.lookahead(start, depth=0, below=LENGTH + 1)
    assert plan is not None and len(plan) == LENGTH
