"""Safety certificates, whole, on a model made by hand: reasons, questions, and what would never end."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from misstep.reference import reading
from misstep.reference.checked import Checked, Refused
from misstep.reference.jani_model import Jani
from misstep.reference.safety import POLICY_WORD, check_certificate
from tests.unit.reference_model import BUG, CLEARED, MODEL, NEAR, SOON, UNSAFE, moves, state
from tests.unit.reference_tasks import signed

ALL = [BUG, CLEARED, NEAR, SOON]


@pytest.mark.parametrize("certificate", ALL)
def test_certificates_by_hand(certificate: dict[str, Any]) -> None:
    asked = certificate in (BUG, NEAR)
    words = (POLICY_WORD,) if asked else ()
    assert check_certificate(certificate, MODEL) == Checked(certificate["verdict"], False, words)


def changed(certificate: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return signed(certificate, **changes)


@pytest.mark.parametrize(
    ("certificate", "reason"),
    [
        (changed(BUG, format=1), "format 2 is known here, not 1"),
        (changed(BUG, kind="classical"), "kind safety, not classical"),
        (changed(BUG, surprise=1), "surprise"),
        (changed(BUG, verdict="unknown"), "no verdict"),
        (changed(BUG, safe=[], faults=[]), "no state is claimed to be a bug"),
        (changed(BUG, trace=[]), "needs an unsafe run"),
        (changed(BUG, not_safe=[2]), "not to be lost"),
        (changed(BUG, trace=[0, 2]), "not end in an unsafe state"),
        (changed(BUG, trace=[2, 3]), "not on the run"),
        (
            changed(BUG, trace=[0, 1, 2, 3], decisions=[[0, "go"], [1, "stay"], [2, "go"]]),
            "none of the policy",
        ),
        (changed(BUG, trace=[0, 2, 3, 3], decisions=[[0, "go"], [2, "go"], [3, "go"]]), "after its end"),
        (changed(BUG, decisions=[[0, "go"]]), "decision is missing"),
        (changed(BUG, decisions=[[0, "go"], [2, "go"], [0, "stay"]]), "two decisions"),
        (changed(BUG, strategy=[], faults=[]), "not covered"),
        (changed(BUG, strategy=[[0, 0, "go"]]), "alternative"),
        (changed(BUG, refutation=[]), "not refuted"),
        (changed(BUG, states=[state(0), state(1), state(2), state(3, 1)]), "horizon only"),
        (changed(BUG, states=[state(0), state(1), state(2), state(4)]), "cannot have"),
        (changed(BUG, constants={"BOTTOM": 1}), "BOTTOM"),
        (changed(BUG, semantics={"integers": "clip"}), "integers"),
        (changed(BUG, semantics={"keep_impossible": 1}), "neither true nor false"),
        (changed(BUG, unsafe="y"), "the name y"),
        (changed(BUG, unsafe="x"), "neither true nor false"),
        (changed(BUG, unsafe={"op": "∃"}), "operator ∃"),
        (changed(BUG, radius=-1), "whole number"),
        (changed(BUG, radius=0), "deviations"),
        (changed(CLEARED, not_safe=[]), "no state is claimed to be lost"),
        (changed(CLEARED, not_safe=[1]), "not refuted"),
        (changed(CLEARED, safe=[0]), "is lost"),
        (changed(NEAR, safe=[]), "no state is claimed to be safe"),
        (changed(NEAR, trace=[0]), "has no run"),
        (changed(NEAR, radius=0), "more deviations"),
        (changed(NEAR, decisions=[[0, "go"], [1, "go"]]), "deviations"),
        (changed(NEAR, decisions=[[1, "go"]]), "decision is missing"),
        (changed(SOON, horizon=2), "no action where the play goes on"),
        (changed(SOON, horizon=0), "where the play is over"),
    ],
)
def test_reasons(certificate: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        check_certificate(certificate, MODEL)


def test_a_goal_ends_the_play_but_not_where_it_is_unsafe() -> None:
    goal = {"op": "=", "left": "x", "right": 2}
    over = changed(
        BUG, verdict="safe", goal=goal, safe=[2], trace=[], faults=[], strategy=[[2, 0, None]], refutation=[]
    )
    assert check_certificate(over, MODEL).verdict == "safe"
    with pytest.raises(Refused, match="unsafe state"):
        check_certificate(changed(over, safe=[3], strategy=[[3, 0, None]], goal=UNSAFE), MODEL)
    with pytest.raises(Refused, match="play is over"):
        check_certificate(changed(CLEARED, goal=goal), MODEL)


def test_a_clearance_may_show_the_run_that_it_is_about() -> None:
    shown = changed(CLEARED, trace=[0, 2, 3], decisions=[[0, "go"], [2, "go"]])
    assert check_certificate(shown, MODEL).words == (POLICY_WORD,)
    elsewhere = changed(BUG, safe=[0, 1], strategy=[[0, 0, "stay"], [1, 0, "back"]])
    with pytest.raises(Refused, match="not on the run"):
        check_certificate(elsewhere, MODEL)


def test_constants_that_a_certificate_states_are_used() -> None:
    higher = changed(
        CLEARED, constants={"TOP": 2}, states=[state(0), state(1), state(2)], refutation=[[2, 0, [["go", 2]]]]
    )
    with pytest.raises(Refused, match="not refuted before"):
        check_certificate(higher, MODEL)  # there 2 leads to 2, and nothing is unsafe


@pytest.mark.parametrize("garbage", [None, 3, "x", [], {}, {"format": 2}, {"format": 2, "kind": "safety"}])
def test_garbage_is_refused(garbage: Any) -> None:
    with pytest.raises(Refused):
        check_certificate(garbage, MODEL)
    for model in (
        garbage,
        {**MODEL, "system": garbage},
        {**MODEL, "variables": garbage},
        {**MODEL, "automata": [garbage]},
    ):
        if model in ({**MODEL, "variables": []}, {**MODEL, "variables": {}}):
            continue
        with pytest.raises(Refused):
            check_certificate(BUG, model)


HUGE: Any = {"op": "ac", "var": "i", "length": 10**12, "exp": "i"}
NESTED: Any = {"op": "ac", "var": "i", "length": 10**5, "exp": {**HUGE, "length": 10**5}}
SOME: Any = {"op": "av", "elements": [1]}
POWER: Any = 3
for _ in range(12):
    POWER = {"op": "*", "left": POWER, "right": copy.deepcopy(POWER)}


@pytest.mark.parametrize(
    "large",
    [
        {"op": "=", "left": {"op": "aa", "exp": HUGE, "index": 0}, "right": 1},
        {"op": "=", "left": {"op": "aa", "exp": NESTED, "index": 0}, "right": 1},
        {"op": "=", "left": POWER, "right": 1},
        {"op": "=", "left": {"op": "floor", "exp": {"op": "pow", "left": 10, "right": 400}}, "right": 1},
        {"op": "=", "left": {"op": "/", "left": 1, "right": "x"}, "right": 1},
        {"op": "=", "left": {"op": "+", "left": SOME, "right": SOME}, "right": SOME},
        {"op": "=", "left": {"op": "*", "left": 10**12, "right": SOME}, "right": SOME},
    ],
)
def test_expressions_that_would_never_end_are_refused(large: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_WORK", 10**5)
    with pytest.raises(Refused):
        check_certificate(changed(BUG, unsafe=large), MODEL)


def test_boxes_that_are_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_WORK", 10**5)
    model = copy.deepcopy(MODEL)
    box = [{"ref": "x", "lower-bound": 0, "upper-bound": "TOP"}]
    model["automata"][0]["edges"][0]["destinations"][0]["assignments"] = box
    jani = Jani(model, {}, {})
    assert jani.outcomes(jani.read({"x": 0}), "stay") == {(0,), (1,), (2,), (3,)}
    jani = Jani(model, {"TOP": 10**9}, {})
    with pytest.raises(Refused, match="too long"):
        jani.outcomes(jani.read({"x": 0}), "stay")


def test_the_interpreter_knows_the_model() -> None:
    jani = Jani(MODEL, {}, {})
    for x in range(4):
        here = jani.read({"x": x})
        assert {label: jani.outcomes(here, label) for label in jani.applicable(here)} == {
            label: {(t,) for t in ts} for label, ts in moves(x).items()
        }
        assert jani.condition(UNSAFE)(here) == (x == 3)
