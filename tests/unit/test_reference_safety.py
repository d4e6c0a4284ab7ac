"""Safety certificates, whole, on a model made by hand: reasons, questions, and what would never end."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from misstep.reference import reading
from misstep.reference.checked import Checked, Refused
from misstep.reference.jani_model import Jani
from misstep.reference.safety import POLICY_WORD
from tests.unit.reference_model import (
    BUG,
    CLEARED,
    MODEL,
    NEAR,
    SOON,
    STATES,
    UNSAFE,
    Proof,
    changed,
    check_proof,
    moves,
    resigned,
)

FAULT = BUG["certificate"]["fault"]


@pytest.mark.parametrize("proof", [BUG, CLEARED, NEAR, SOON])
def test_certificates_by_hand(proof: Proof) -> None:
    words = (POLICY_WORD,) if proof in (BUG, NEAR) else ()
    assert check_proof(proof) == Checked(proof["certificate"]["verdict"], False, words)


@pytest.mark.parametrize(
    ("proof", "reason"),
    [
        (changed(BUG, format=1), "format 3 is known here, not 1"),
        (changed(BUG, kind="classical"), "kind safety-evidence, not classical"),
        (changed(BUG, surprise=1), "surprise"),
        (changed(BUG, verdict="unknown"), "no verdict"),
        (changed(BUG, verdict="cleared"), "not refuted"),
        (changed(BUG, verdict="safe"), "does not need a run"),
        (changed(BUG, run=None), "needs an unsafe run"),
        (changed(BUG, run={"outcome": "unsafe", "steps": 3}), "another length"),
        (changed(BUG, run={"outcome": "loop", "steps": 2}), "is unsafe"),
        (changed(BUG, state={"x": 3}), "not covered"),
        (changed(BUG, state={"x": 4}), "cannot have"),
        (changed(BUG, step=1), "horizon only"),
        (changed(BUG, runs=[[0, 2], [2, 3]]), "not end in an unsafe state"),
        (changed(BUG, runs=[[2, 3]]), "no run from the state"),
        (changed(BUG, runs=[[2, 3], [0, 2], [0, 2]]), "two steps"),
        (changed(BUG, runs=[[2, 3], [0, 3]]), "none of the policy"),
        (changed(BUG, runs=[[2, 3], [3, 3], [0, 2]]), "after its end"),
        (changed(BUG, decisions=[[0, "go"]]), "decision is missing"),
        (changed(BUG, decisions=[[0, "go"], [2, "go"], [0, "stay"]]), "two decisions"),
        (changed(BUG, strategy=[]), "not covered"),
        (changed(BUG, strategy=[[0, 0, "go"]]), "not covered by the strategy"),
        (changed(BUG, fault={**FAULT, "alternative": "go"}), "alternative"),
        (changed(BUG, fault={**FAULT, "action": "stay"}), "not the policy's"),
        (changed(BUG, fault={**FAULT, "outcome": {"x": 3}}), "no outcome"),
        (changed(BUG, fault={**FAULT, "outcome": {"x": 1}}), "not refuted"),
        (changed(BUG, refutation=[]), "not refuted"),
        (changed(BUG, refutation=[[2, 0, [["go", 3], ["go", 3]]]]), "twice"),
        (changed(BUG, states=[[0], [1], [2], [4]]), "cannot have"),
        (changed(BUG, states=[[0, 0], [1, 0], [2, 0], [3, 0]]), "another number of values"),
        (changed(BUG, states=STATES[:3]), "no state 3"),
        (changed(BUG, constants={"BOTTOM": 1}), "BOTTOM"),
        (changed(BUG, semantics={"integers": "clip"}), "integers"),
        (changed(BUG, semantics={"keep_impossible": 1}), "neither true nor false"),
        (changed(BUG, unsafe="y"), "the name y"),
        (changed(BUG, unsafe="x"), "neither true nor false"),
        (changed(BUG, unsafe={"op": "∃"}), "operator ∃"),
        (changed(BUG, radius=-1), "whole number"),
        (changed(BUG, radius=0), "deviations"),
        (changed(CLEARED, state={"x": 1}), "not refuted"),
        (changed(NEAR, radius=0), "more deviations"),
        (changed(NEAR, decisions=[[0, "go"], [1, "go"]]), "deviations"),
        (changed(NEAR, decisions=[[1, "go"]]), "decision is missing"),
        (changed(SOON, horizon=2), "no action where the play goes on"),
        (changed(SOON, horizon=0), "where the play is over"),
    ],
)
def test_reasons(proof: Proof, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        check_proof(proof)


def test_the_question_must_be_that_of_the_evidence() -> None:
    for name, other in (("radius", 3), ("goal", False), ("unsafe", True), ("constants", {"TOP": 3})):
        asked = copy.deepcopy(BUG)
        asked["certificate"][name] = other
        with pytest.raises(Refused, match=f"another {name}"):
            check_proof(resigned(asked))


def test_blocks_are_a_chain() -> None:
    """What comes after a damaged block is not there; what came before it still holds."""
    second = copy.deepcopy(CLEARED["evidence"][1])
    second |= {"states": [], "refutation": []}
    longer = resigned({**CLEARED, "evidence": [*CLEARED["evidence"], second]})
    assert check_proof(longer).verdict == "cleared"
    early = {**longer, "certificate": CLEARED["certificate"]}
    assert check_proof(early).verdict == "cleared"  # it names the first block, which is still there
    damaged = copy.deepcopy(longer)
    damaged["evidence"][2]["states"] = [[0]]
    with pytest.raises(Refused, match="line 3 of the evidence: the digest"):
        check_proof(damaged)
    assert check_proof({**damaged, "certificate": CLEARED["certificate"]}).verdict == "cleared"
    with pytest.raises(Refused, match="does not follow"):
        check_proof({**longer, "evidence": [longer["evidence"][0], longer["evidence"][2]]})
    with pytest.raises(Refused, match="no evidence"):
        check_proof({**longer, "evidence": []})


def test_a_later_line_takes_the_place_of_an_earlier_one() -> None:
    lines = [[1, 1, "stay"], [1, 1, "back"], [0, 0, "stay"]]
    assert check_proof(changed(NEAR, strategy=lines)).verdict == "safe"
    with pytest.raises(Refused):
        check_proof(changed(NEAR, strategy=[lines[1], lines[0], lines[2]]))


def test_a_proof_that_fails_leaves_the_others_alone() -> None:
    assert check_proof(changed(CLEARED, strategy=[[1, 0, "go"]])).verdict == "cleared"
    assert check_proof(changed(NEAR, refutation=[[1, 0, [["go", 0]]]])).verdict == "safe"


def test_a_goal_ends_the_play_but_not_where_it_is_unsafe() -> None:
    goal = {"op": "=", "left": "x", "right": 2}
    over = changed(CLEARED, verdict="safe", goal=goal, strategy=[[2, 0, None]], refutation=[])
    assert check_proof(over).verdict == "safe"
    with pytest.raises(Refused, match="unsafe state"):
        check_proof(changed(over, state={"x": 3}, strategy=[[3, 0, None]], goal=UNSAFE))
    with pytest.raises(Refused, match="play is over"):
        check_proof(changed(CLEARED, goal=goal))


def test_constants_that_a_certificate_states_are_used() -> None:
    higher = changed(CLEARED, constants={"TOP": 2}, states=STATES[:3], refutation=[[2, 0, [["go", 2]]]])
    with pytest.raises(Refused, match="not refuted before"):
        check_proof(higher)  # there 2 leads to 2, and nothing is unsafe


@pytest.mark.parametrize("garbage", [None, 3, "x", [], {}, {"format": 3}, {"format": 3, "kind": "safety"}])
def test_garbage_is_refused(garbage: Any) -> None:
    with pytest.raises(Refused):
        check_proof({**BUG, "certificate": garbage})
    for line in (0, 1):
        lines = list(BUG["evidence"])
        lines[line] = garbage
        with pytest.raises(Refused):
            check_proof({**BUG, "evidence": lines})
    for model in (
        garbage,
        {**MODEL, "system": garbage},
        {**MODEL, "variables": garbage},
        {**MODEL, "automata": [garbage]},
    ):
        if model in ({**MODEL, "variables": []}, {**MODEL, "variables": {}}):
            continue
        with pytest.raises(Refused):
            check_proof(BUG, model)


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
        check_proof(changed(BUG, unsafe=large))


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


def test_an_automaton_that_takes_no_part_stays_where_it_is() -> None:
    """`null` in a vector: `go` moves the first of two automata alone, `both` moves both."""
    steps = [
        {"location": "here", "action": action, "destinations": [{"location": "here"}]}
        for action in ("go", "step")
    ]
    automaton = {"locations": [{"name": "here"}], "initial-locations": ["here"], "edges": steps}
    model = {
        **MODEL,
        "variables": [],
        "actions": [{"name": name} for name in ("go", "step", "both")],
        "automata": [{**automaton, "name": name} for name in ("one", "two")],
        "system": {
            "elements": [{"automaton": "one"}, {"automaton": "two"}],
            "syncs": [
                {"synchronise": ["go", None], "result": "go"},
                {"synchronise": ["go", "step"], "result": "both"},
            ],
        },
    }
    vectors = {
        label: [[(instance.name, action) for instance, action in part] for part in parts]
        for label, parts in Jani(model, {}, {}).labels.items()
    }
    assert vectors == {
        "go": [[("one", "go")]],
        "both": [[("one", "go"), ("two", "step")]],
        "": [[("one", "")], [("two", "")]],
    }


@pytest.mark.parametrize(("value", "is_fine"), [(0, True), (7, True), (0.5, False), (True, False)])
def test_a_transient_variable_begins_with_a_value_of_its_type(value: object, is_fine: bool) -> None:
    passing = {"name": "t", "type": "int", "transient": True, "initial-value": value}
    model = {**MODEL, "variables": [*MODEL["variables"], passing]}
    if is_fine:
        assert Jani(model, {}, {}).initial == [value]
    else:
        with pytest.raises(Refused, match="out of the bounds of t"):
            Jani(model, {}, {})
