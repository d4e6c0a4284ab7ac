"""What a run proves, outcome by outcome, and the fault that is found on it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from misstep.reference import reading
from misstep.reference.checked import Refused
from misstep.reference.fault import check_fault
from misstep.reference.run import follow
from tests.unit.reference_tasks import CLEAR, FAULT, LANDMARKS, A, B, C

OPEN = (0, 1)  # at a, the door open: the pit is then a dead end
THERE = ["(go a b)", "(go b c)"]
REST = {**LANDMARKS, "value": 1, "landmarks": [{"share": 1, "actions": ["(go b c)", "(fly a c)"]}]}
INF = math.inf


def run(outcome: str, *actions: str, **more: Any) -> dict[str, Any]:
    return {"outcome": outcome, "actions": list(actions), **more}


@pytest.mark.parametrize(
    ("written", "low", "high"),
    [
        (run("solved", *THERE), 2, 2),
        (run("solved", "(fly a c)"), 5, 5),
        (run("loop", "(go a b)", "(go b a)"), INF, INF),
        (run("stuck", "(go a b)"), INF, INF),
        (run("stuck", answer=None), INF, INF),
        (run("illegal", answer="(go b c)"), INF, INF),
        (run("illegal", answer="I would rather not", reason="this is no action"), INF, INF),
        (run("illegal", answer=None, reason="the answer was a list"), INF, INF),
        (run("dead-end", "(go a b)", "(fall b)"), INF, INF),
        (run("cut-off", "(go a b)"), 1, INF),
        (run("cut-off"), 0, INF),
        (run("cut-off", rest={"kind": "applicable", "value": 1}), 1, INF),
        (run("failed", "(go a b)", reason="CUDA out of memory"), 1, INF),
    ],
)
def test_outcomes(written: dict[str, Any], low: float, high: float) -> None:
    found = follow(CLEAR, OPEN, written)
    assert (found.low, found.high) == (low, high)
    assert len(found.states) == len(found.actions) + 1 == len(found.costs) + 1
    assert found.answer == written.get("answer")


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (run("solved", "(go a b)"), "does not fit solved"),
        (run("solved", *THERE, "(home)", "(fly a c)"), "goes on after its end"),
        (run("solved", "(go a b)", "(go b a)", "(fly a c)"), "goes on after its end"),
        (run("solved", "(go b c)"), "not applicable"),
        (run("solved", *THERE, reason="why not"), "not known here"),
        (run("loop", "(go a b)"), "not visited before"),
        (run("loop"), "not visited before"),
        (run("loop", *THERE), "does not fit loop"),
        (run("stuck", *THERE), "does not fit stuck"),
        (run("stuck", answer="(go a b)"), "gives no answer"),
        (run("illegal", answer="(go a b)"), "legal action"),
        (run("illegal", answer=3), "text"),
        (run("illegal", answer="(x)", reason=3), "text"),
        (run("dead-end", "(go a b)"), "out of reach"),
        (run("cut-off", *THERE), "does not fit cut-off"),
        (run("cut-off", rest={"kind": "dead-end"}), "out of reach"),
        (run("failed"), "no reason"),
        (run("failed", reason="  "), "no reason"),
        (run("failed", *THERE, reason="x"), "does not fit failed"),
        (run("bored"), "does not end like this"),
        ({"outcome": "stuck"}, "no field"),
        ({"outcome": None, "actions": []}, "text"),
        ({"outcome": "stuck", "actions": [1]}, "text"),
        (None, "object"),
    ],
)
def test_runs_that_are_not_what_they_say(written: Any, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        follow(CLEAR, OPEN, written)


@pytest.mark.parametrize(
    ("outcome", "actions"),
    [
        ("solved", ["(go b c)", "(home)", "(fly a c)"]),
        ("stuck", ["(go b c)", "(home)"]),
    ],
)
def test_a_run_ends_at_the_first_goal_state(outcome: str, actions: list[str]) -> None:
    """From b the goal costs 1. What comes after it must not be counted: the first run would seem to cost 7."""
    with pytest.raises(Refused, match="goes on after its end"):
        follow(CLEAR, (1, 1), run(outcome, *actions))
    assert follow(CLEAR, (1, 1), run("solved", "(go b c)")).high == 1


def test_where_a_split_action_applies_an_answer_is_not_illegal() -> None:
    with pytest.raises(Refused, match="legal action"):
        follow(CLEAR, A, run("illegal", answer="(home)"))  # the second action of the name applies
    assert follow(CLEAR, OPEN, run("illegal", answer="(home)")).low == INF


def test_the_word_of_a_search_about_the_rest_is_handed_on() -> None:
    word = {"kind": "search", "value": 9, "search": "astar", "expanded": 1}
    found = follow(CLEAR, A, run("cut-off", "(go a b)", rest=word))
    assert found.low == 10 and found.rest.word is not None


def test_runs_that_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_WORK", 3)
    with pytest.raises(Refused, match="too large"):
        follow(CLEAR, A, run("solved", *THERE))


FLIGHT = run("solved", "(fly a c)")
ROUND = run("loop", "(go a b)", "(go b a)")
LOST = run("stuck", "(go a b)")
LATE = {**FAULT, "step": 1, "until": 2, "better": "(go b c)", "witness": ["(go b c)"]}

UNNAMED = {"action": None, "schema": None, "better": None}


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        (FLIGHT, FAULT),
        (FLIGHT, {**FAULT, "schema": None}),
        (ROUND, {**LATE, "action": "(go b a)", "schema": "go", "lower": LANDMARKS}),
        (LOST, {**LATE, "action": None, "schema": None}),
        (LOST, {**FAULT, **UNNAMED, "until": 2}),
        (ROUND, {**FAULT, **UNNAMED, "until": 2}),
        (
            run("illegal", "(go a b)", answer="fly, you fools"),
            {**LATE, "action": "fly, you fools", "schema": "fly,"},
        ),
    ],
)
def test_faults(written: dict[str, Any], fault: dict[str, Any]) -> None:
    check_fault(CLEAR, follow(CLEAR, A, written), fault)


@pytest.mark.parametrize(
    ("written", "fault", "reason"),
    [
        (FLIGHT, {**FAULT, "action": "(go a b)"}, "not the policy's"),
        (FLIGHT, {**FAULT, "schema": "go"}, "schema"),
        (FLIGHT, {**FAULT, "better": "(go b c)"}, "better action"),
        (FLIGHT, {**FAULT, "better": None}, "better action"),
        (FLIGHT, {**FAULT, "witness": ["(go a b)"]}, "not a goal state"),
        (FLIGHT, {**FAULT, "witness": ["(fly a c)"], "better": "(fly a c)"}, "leave every best course"),
        (FLIGHT, {**FAULT, "step": 1}, "does not have"),
        (FLIGHT, {**FAULT, "until": 0}, "does not have"),
        (FLIGHT, {**FAULT, "until": 2}, "does not have"),
        (LOST, {**FAULT, "until": 2}, "names one of them"),
        (LOST, {**FAULT, **UNNAMED, "until": 3}, "does not have"),
        (run("solved", *THERE), {**FAULT, **UNNAMED, "until": 2}, "leave every best course"),
        (FLIGHT, {**FAULT, "step": -1}, "whole number"),
        (FLIGHT, {**FAULT, "step": 7}, "does not have"),
        (FLIGHT, {**FAULT, "step": True}, "whole number"),
        (
            FLIGHT,
            {**FAULT, "lower": {"kind": "search", "value": 3, "search": "x", "expanded": 1}},
            "contradicts",
        ),
        (ROUND, {**FAULT, "action": "(go a b)", "schema": "go", "lower": REST}, "leave every best course"),
        (ROUND, {**LATE, "step": 2, "until": 3, "action": None, "schema": None}, "does not have"),
        (LOST, {**LATE, "action": None, "schema": None, "lower": {"kind": "dead-end"}}, "leads nowhere"),
        (LOST, {**LATE, "action": "(go b c)", "schema": "go"}, "not the policy's"),
        (run("cut-off", "(go a b)"), {**LATE, "action": None, "schema": None}, "does not have"),
        (run("failed", "(go a b)", reason="x"), {**LATE, "action": None, "schema": None}, "does not have"),
        (FLIGHT, {"step": 0}, "no field"),
        (FLIGHT, "it was me", "object"),
    ],
)
def test_faults_that_are_not_proven(written: dict[str, Any], fault: Any, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        check_fault(CLEAR, follow(CLEAR, A, written), fault)


def test_the_states_are_those_of_the_actions() -> None:
    assert list(follow(CLEAR, A, run("solved", *THERE)).states) == [A, B, C]


def test_where_the_last_answer_leads_nowhere_the_rest_costs_infinitely_much() -> None:
    fault = {**FAULT, "action": None, "schema": None}
    assert check_fault(CLEAR, follow(CLEAR, OPEN, run("stuck", answer=None)), fault).value == INF
