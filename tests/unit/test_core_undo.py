"""Undo proofs of the native core on hand-made tasks."""

from __future__ import annotations

import pytest

from misstep import InputError
from misstep import _core as core
from misstep.reference import fdr
from misstep.testing.random_tasks import to_sas
from tests.unit.core_tasks import counter, delivery


def _task(*actions: fdr.Action, goal: fdr.Facts) -> core.Task:
    """A robot in three rooms, rooms that are visited or not, a lamp with three colours."""
    facts = (
        ("(in a)", "(in b)", "(in c)"),
        ("(visited b)", "(not (visited b))"),
        ("(red)", "(green)", "(blue)"),
    )
    return core.Task(to_sas(fdr.Task(facts, (0, 1, 0), goal, actions)))


GO = fdr.Action("(go a b)", {0: 0}, {0: 1, 1: 0}, 1)
BACK = fdr.Action("(go b a)", {0: 1}, {0: 0}, 1)


def test_inverses() -> None:
    task = delivery()
    proofs = core.UndoProofs(task)
    start = task.initial_state
    there, back = task.action("(drive lorry a b)"), task.action("(drive lorry b a)")
    assert (proofs.inverse(there), proofs.inverse(back)) == (back, there)
    assert proofs.undo_plan(there, start) == [back]
    assert proofs.inverse(there, start) == back
    assert proofs.inverse(task.action("(load parcel a)")) is None
    assert [a.name for a in proofs.unproven] == ["(load parcel a)", "(unload parcel b)", "(light)"]
    assert not proofs.all_undoable


def test_a_fact_that_nobody_needs_may_get_lost() -> None:
    task = _task(GO, BACK, goal={0: 0, 1: 0})
    proofs = core.UndoProofs(task)
    assert proofs.inverse(task.actions[0]) is None
    assert proofs.undo_plan(task.actions[0], task.initial_state) == [task.actions[1]]
    assert proofs.all_undoable
    assert proofs.unproven == []


def test_a_fact_that_the_goal_needs_may_not() -> None:
    task = _task(GO, BACK, goal={0: 0, 1: 1})
    proofs = core.UndoProofs(task)
    assert proofs.undo_plan(task.actions[0], task.initial_state) is None
    # The way back of the other one visits b, too, but whoever comes from there has done so before.
    assert [a.name for a in proofs.unproven] == ["(go a b)"]
    visited = task.state_from_values([0, 0, 0])
    assert proofs.undo_plan(task.actions[0], visited) == [task.actions[1]]


def test_one_plan_for_each_old_value() -> None:
    paint = fdr.Action("(paint blue)", {0: 0}, {2: 2}, 1)
    repaint = [fdr.Action(f"(repaint {v})", {2: 2}, {2: v}, 1) for v in (0, 1)]
    task = _task(paint, *repaint, goal={2: 0})
    proofs = core.UndoProofs(task)
    names = [
        [a.name for a in proofs.undo_plan(task.actions[0], task.state_from_values([0, 1, colour])) or ()]
        for colour in range(3)
    ]
    # Nobody needs green, so nothing has to be done to get back to it.
    assert names == [["(repaint 0)"], [], []]
    assert proofs.all_undoable


def test_longer_plans_within_limits() -> None:
    """Round a ring of rooms, one way only."""
    rooms = 5
    ring = [fdr.Action(f"(go {i})", {0: i}, {0: (i + 1) % rooms}, 1) for i in range(rooms)]
    facts = (tuple(f"(in r{i})" for i in range(rooms)),)
    task = core.Task(to_sas(fdr.Task(facts, (0,), {0: 3}, tuple(ring))))
    plan = core.UndoProofs(task).undo_plan(task.actions[0], task.initial_state)
    assert plan is not None
    assert [a.index for a in plan] == [1, 2, 3, 4]
    assert core.UndoProofs(task, max_plan=4).all_undoable
    assert len(core.UndoProofs(task, max_plan=3).unproven) == rooms
    assert len(core.UndoProofs(task, max_expansions=2).unproven) == rooms


def test_mutexes_say_what_was_there_before() -> None:
    """A full hand is not free: where a thing is put down, the hand was not."""
    facts = (("(on table)", "(held)"), ("(free)", "(not (free))"))
    take = fdr.Action("(take)", {0: 0, 1: 0}, {0: 1, 1: 1}, 1)
    put = fdr.Action("(put)", {0: 1}, {0: 0, 1: 0}, 1)
    task = core.Task(to_sas(fdr.Task(facts, (0, 0), {0: 1}, (take, put))))
    proofs = core.UndoProofs(task)
    assert proofs.inverse(task.actions[1]) == task.actions[0]
    assert proofs.all_undoable
    impossible = task.state_from_values([1, 0])
    assert proofs.undo_plan(task.actions[1], impossible) is None
    assert proofs.inverse(task.actions[1], impossible) is None


def test_what_is_refused() -> None:
    task, other = delivery(), counter(2)
    proofs = core.UndoProofs(task)
    with pytest.raises(InputError, match="not applicable"):
        proofs.undo_plan(task.action("(drive lorry b a)"), task.initial_state)
    with pytest.raises(InputError, match="another task"):
        proofs.inverse(other.actions[0])
    with pytest.raises(InputError, match="another task"):
        proofs.undo_plan(task.actions[0], other.initial_state)
