"""Tasks, states, steps, plans and lower bounds of the trusted checker, on a task made by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from misstep.reference import reading
from misstep.reference.checked import Refused
from misstep.reference.dead_end import Reach, check_dead_end, check_unavoidable
from misstep.reference.fdr import Action, Task, parse, state_of
from misstep.reference.landmarks import landmark_bound
from misstep.reference.lower import lower_bound
from misstep.reference.plan import is_applicable, step, validate
from misstep.testing.random_tasks import to_sas
from tests.unit.reference_tasks import CLEAR, LANDMARKS, PIT, TASK, A, B, C


def test_states_are_read_from_atoms() -> None:
    assert state_of(TASK, ["(at b)", "(shut)"]) == B
    assert state_of(TASK, ["(at b)"]) == (1, 1)  # the door is the value that is no atom
    assert state_of(TASK, ["(shut)", "(at b)", "(at b)"]) == B


@pytest.mark.parametrize(
    "atoms",
    [
        [],
        ["(shut)"],
        ["(at a)", "(at b)"],
        ["(at a)", "(at b)", "(shut)"],
        ["(at a)", "(not (shut))"],
        ["(at a)", "(shut)", "(at nowhere)"],
        ["(at a)", ""],
    ],
)
def test_atoms_that_are_no_state(atoms: list[str]) -> None:
    with pytest.raises(Refused):
        state_of(TASK, atoms)


def test_a_surplus_here_does_not_make_up_for_a_gap_there() -> None:
    task = replace(TASK, facts=(("(p)", "(q)"), ("(r)", "(s)")), goal={})
    assert state_of(task, ["(p)", "(s)"]) == (0, 1)
    with pytest.raises(Refused, match="2 values"):
        state_of(task, ["(p)", "(q)"])  # two atoms for two variables, but both of the first


def test_an_atom_of_two_variables_is_no_description() -> None:
    task = replace(TASK, facts=(("(p)", "(q)"), ("(p)", "(s)")), goal={})
    with pytest.raises(Refused):
        state_of(task, ["(p)"])


def test_steps() -> None:
    assert step(TASK, A, "(go a b)") == (B, 1)
    assert step(TASK, A, "(fly a c)") == (C, 5)
    for name in ("(go b c)", "(no such action)", ""):
        with pytest.raises(Refused):
            step(TASK, A, name)


def test_a_name_may_stand_for_actions_that_differ_in_their_preconditions_only() -> None:
    assert step(TASK, (2, 1), "(home)") == ((0, 1), 1)  # the first one
    assert step(TASK, PIT, "(home)") == (A, 1)  # the second one
    assert step(TASK, C, "(home)") == (A, 1)  # both
    with pytest.raises(Refused, match="not applicable"):
        step(TASK, (3, 1), "(home)")
    assert [is_applicable(TASK, s, "(home)") for s in (C, (2, 1), PIT, (3, 1))] == [True, True, True, False]
    assert not is_applicable(TASK, A, "anything at all")


def test_names_that_mean_different_things_are_refused_where_they_do() -> None:
    assert step(TASK, C, "(home)")[0][0] == 0
    assert step(TASK, A, "(odd)") == (B, 1)  # the other action of the name is not applicable
    with pytest.raises(Refused, match="do different things here"):
        step(TASK, A, "(dear)")


def test_plans() -> None:
    assert validate(TASK, A, ["(go a b)", "(go b c)"]) == 2
    assert validate(TASK, C, []) == 0
    for plan in (["(go a b)"], ["(go b c)"], ["(go a b)", "(go b c)", "(home)"], [""]):
        with pytest.raises(Refused):
            validate(TASK, A, plan)


def test_plans_that_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_WORK", 3)
    with pytest.raises(Refused, match="too large"):
        validate(TASK, A, ["(go a b)", "(go b c)"])


def test_relaxed_reachability() -> None:
    assert Reach(CLEAR, A).has_goal and Reach(CLEAR, C).has_goal
    assert not Reach(CLEAR, (3, 1)).has_goal  # the pit, with the door open: nothing leads out
    assert not Reach(CLEAR, A, without={*CLEAR.numbers["(go a b)"], *CLEAR.numbers["(fly a c)"]}).has_goal
    assert Reach(CLEAR, A, without=CLEAR.numbers["(go a b)"]).has_goal
    assert Reach(CLEAR, C, without=range(len(CLEAR.actions))).has_goal
    check_dead_end(CLEAR, (3, 1))
    with pytest.raises(Refused):
        check_dead_end(CLEAR, A)


def test_sets_that_every_plan_needs() -> None:
    go, fly = CLEAR.numbers["(go a b)"], CLEAR.numbers["(fly a c)"]
    both = {*go, *fly}
    check_unavoidable(CLEAR, A, [])
    check_unavoidable(CLEAR, A, [both, both, both])
    for at in range(4):
        sets = [both] * 3
        sets.insert(at, set(go))
        with pytest.raises(Refused, match="can be avoided"):
            check_unavoidable(CLEAR, A, sets)
    with pytest.raises(Refused, match="can be avoided"):
        check_unavoidable(CLEAR, A, [both, set()])


def test_actions_without_preconditions_are_taken_too() -> None:
    task = Task((("(p)", "(q)"),), (0,), {0: 1}, (Action("(a)", {}, {0: 1}, 3),))
    assert Reach(task, (0,)).has_goal
    assert landmark_bound(task, (0,), [{"share": 3, "actions": ["(a)"]}]) == 3


def test_landmarks_prove_the_sum_of_their_shares() -> None:
    assert landmark_bound(CLEAR, A, LANDMARKS["landmarks"]) == 2
    assert landmark_bound(CLEAR, A, []) == 0


@pytest.mark.parametrize(
    ("landmarks", "reason"),
    [
        ([{"share": 1, "actions": ["(go a b)"]}], "avoided"),
        ([{"share": 1, "actions": []}], "avoided"),
        ([{"share": 2, "actions": ["(go a b)", "(fly a c)"]}], "charged more"),
        ([{"share": 1, "actions": ["(go a b)", "(fly a c)"]}] * 2, "charged more"),
        ([{"share": -1, "actions": ["(go a b)", "(fly a c)"]}], "whole number"),
        ([{"share": 0.5, "actions": ["(go a b)", "(fly a c)"]}], "whole number"),
        ([{"share": 1, "actions": ["(go a b)", "(fly a c)", "(dream)"]}], "does not have"),
        ([{"share": 1}], "no field"),
        ({}, "list"),
        ([None], "object"),
    ],
)
def test_landmarks_that_prove_nothing(landmarks: Any, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        landmark_bound(CLEAR, A, landmarks)


def test_an_action_that_is_listed_twice_is_charged_once() -> None:
    assert landmark_bound(CLEAR, A, [{"share": 1, "actions": ["(go a b)", "(fly a c)", "(go a b)"]}]) == 1


def test_landmarks_that_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_WORK", CLEAR.size)
    with pytest.raises(Refused, match="too large"):
        landmark_bound(CLEAR, A, LANDMARKS["landmarks"])


def test_kinds_of_evidence() -> None:
    assert lower_bound(CLEAR, A, None).value == 0
    assert lower_bound(CLEAR, A, LANDMARKS).value == 2
    assert lower_bound(CLEAR, (3, 1), {"kind": "dead-end"}).value == math.inf
    assert lower_bound(CLEAR, B, {"kind": "applicable", "value": 1}).value == 1
    assert lower_bound(CLEAR, (3, 1), {"kind": "applicable", "value": None}).value == math.inf
    word = lower_bound(CLEAR, A, {"kind": "search", "value": 2, "search": "astar:lmcut", "expanded": 7})
    assert (word.value, word.word) == (2, "search astar:lmcut: no plan below 2 (7 states expanded)")
    never = lower_bound(CLEAR, A, {"kind": "search", "value": None, "search": "astar", "expanded": 7})
    assert (never.value, never.word) == (math.inf, "search astar: no plan at all (7 states expanded)")


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        ({"kind": "magic", "value": 3}, "not known here: magic"),
        ({"kind": None}, "kind of the evidence"),
        ({"kind": ["search"]}, "kind of the evidence"),
        ({}, "kind of the evidence"),
        ("search", "object or null"),
        ({**LANDMARKS, "value": 3}, "not the sum"),
        ({**LANDMARKS, "value": 1}, "not the sum"),
        ({**LANDMARKS, "oracle": "x"}, "not known here"),
        ({"kind": "dead-end"}, "out of reach"),
        ({"kind": "dead-end", "value": 3}, "not known here"),
        ({"kind": "applicable", "value": 2}, "cheapest applicable"),
        ({"kind": "search", "value": -1, "search": "astar", "expanded": 7}, "number from 0"),
        ({"kind": "search", "value": 1, "search": None, "expanded": 7}, "text"),
        ({"kind": "search", "value": 1}, "no field"),
    ],
)
def test_evidence_that_is_refused(evidence: Any, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        lower_bound(CLEAR, A, evidence)
    with pytest.raises(Refused, match="needs no action"):
        lower_bound(CLEAR, C, {"kind": "applicable", "value": 1})


def test_sas_text_reads_back_and_garbage_is_refused() -> None:
    sas = to_sas(TASK)
    assert parse(sas) == TASK
    lines = sas.splitlines()
    for i in range(len(lines)):
        for damaged in (
            lines[:i] + lines[i + 1 :],
            [*lines[:i], "-7", *lines[i + 1 :]],
            [*lines[:i], "x", *lines[i:]],
        ):
            try:
                parse("\n".join(damaged))
            except Refused:
                continue
            assert lines[i].startswith(
                ("var", "Atom", "NegatedAtom", "go", "fly", "fall", "home", "odd", "dear")
            ), lines[i]


HOME = Task(CLEAR.facts, C, {0: 0}, CLEAR.actions[5:])
"""The goal is a. `(home)` leads there: the first of the two from c, the second from anywhere while the door is shut."""


@pytest.mark.parametrize(
    ("state", "name", "is_needed"),
    [
        ((2, 1), "(home)", True),
        ((2, 1), "(home) 1", True),  # at c, the door open
        ((2, 1), "(home) 2", False),
        ((1, 0), "(home) 1", False),  # at b, the door shut
        ((1, 0), "(home) 2", True),
        ((2, 0), "(home)", True),
        ((2, 0), "(home) 1", False),  # at c, the door shut: either will do
        ((2, 0), "(home) 2", False),
    ],
)
def test_a_landmark_names_one_of_several_actions_by_its_place(
    state: tuple[int, int], name: str, is_needed: bool
) -> None:
    landmarks = [{"share": 1, "actions": [name]}]
    if is_needed:
        assert landmark_bound(HOME, state, landmarks) == 1
    else:
        with pytest.raises(Refused):
            landmark_bound(HOME, state, landmarks)


@pytest.mark.parametrize("name", ["(home) 0", "(home) 3", "(home) -1", "(home) x", "(gone) 1", "1", ""])
def test_a_landmark_of_no_action_is_refused(name: str) -> None:
    with pytest.raises(Refused, match="names an action that the task does not have"):
        landmark_bound(HOME, (2, 1), [{"share": 1, "actions": [name]}])
