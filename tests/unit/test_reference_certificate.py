"""Classical certificates, whole: the judge's rule, objectives, words, contradictions."""

from __future__ import annotations

import copy
import math
import random
from typing import Any

import pytest

from misstep.bound import Bound
from misstep.judge import judge
from misstep.objectives.cost import Quantitative
from misstep.objectives.goal import Qualitative
from misstep.reference.certificate import POLICY_WORD, check
from misstep.reference.checked import Refused
from misstep.reference.digest import digest
from misstep.reference.objective import check_verdict, read_objective
from tests.unit.reference_tasks import (
    BUG,
    CLEAR,
    CLEARED,
    LANDMARKS,
    LOOP,
    interval,
    signed,
)

INF = math.inf


@pytest.mark.parametrize("certificate", [BUG, CLEARED, LOOP])
def test_certificates_by_hand(certificate: dict[str, Any]) -> None:
    checked = check(certificate, CLEAR)
    assert checked.verdict == certificate["verdict"]
    assert (checked.rests_on_search, checked.words) == (False, (POLICY_WORD,))


@pytest.mark.parametrize(
    "garbage", [None, 3, "x", [], {}, {"format": 3}, {"format": 3, "kind": "classical"}, b"x", 1.5]
)
def test_garbage_is_refused(garbage: Any) -> None:
    with pytest.raises(Refused):
        check(garbage, CLEAR)


def test_certificates_that_cannot_even_be_written_are_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for strange in (deep, {1, 2}, b"x", {("a", 1): 2}, float("nan")):
        with pytest.raises(Refused):
            check({**BUG, "pool": strange}, CLEAR)
    own: dict[str, Any] = copy.copy(BUG)
    own["pool"] = own
    with pytest.raises(Refused):
        check(own, CLEAR)


def search(value: float | None) -> dict[str, Any]:
    return {"kind": "search", "value": value, "search": "astar:lmcut", "expanded": 9}


def test_a_clearance_by_search_says_so() -> None:
    checked = check(signed(CLEARED, lower=search(2)), CLEAR)
    assert checked.rests_on_search
    assert checked.words == (POLICY_WORD, "search astar:lmcut: no plan below 2 (9 states expanded)")


def test_a_bug_does_not_rest_on_the_search_that_makes_its_gap_narrow() -> None:
    checked = check(signed(BUG, lower=search(2)), CLEAR)
    assert not checked.rests_on_search and len(checked.words) == 2


def test_a_bug_of_a_run_that_was_cut_off_rests_on_what_is_said_about_the_rest() -> None:
    certificate = signed(
        BUG,
        run={"outcome": "cut-off", "actions": ["(go a b)"], "rest": search(4)},
        cost=interval(5, None),
        objective={"name": "quantitative", "values": [[2, 2], [5, 5], [None, None]]},
        gap=interval(3, None),
        fault=None,
    )
    assert check(certificate, CLEAR).rests_on_search


def test_a_fault_by_search_says_so() -> None:
    fault = {**LOOP["fault"], "lower": search(2)}
    assert check(signed(LOOP, fault=fault), CLEAR).rests_on_search


@pytest.mark.parametrize(
    ("certificate", "reason"),
    [
        (signed(BUG, format=1), "format 3 is known here, not 1"),
        (signed(BUG, kind="safety"), "kind classical, not safety"),
        (signed(BUG, verdict="unknown"), "no verdict"),
        (signed(BUG, surprise=1), "surprise"),
        (signed(BUG, lower=search(3)), "contradicts the plan"),
        (signed(BUG, lower=search(6), witness=None, best=interval(0, None)), "contradicts the policy's run"),
        (signed(BUG, best=interval(2, 1)), "no interval"),
        (signed(BUG, best=interval(1, 1)), "tighter than its evidence"),
        (signed(BUG, witness=None), "tighter than its evidence"),
        (signed(BUG, lower=None), "tighter than its evidence"),
        (signed(BUG, cost=interval(6, 6)), "tighter than its evidence"),
        (signed(BUG, gap=interval(2, 3)), "gap of these bounds"),
        (signed(BUG, gap=interval(3, None)), "gap of these bounds"),
        (signed(BUG, verdict="cleared", fault=None), "nobody does better"),
        (signed(CLEARED, verdict="bug"), "worse than possible"),
        (signed(CLEARED, gap=interval(0, 1)), "gap of these bounds"),
        (signed(CLEARED, fault=BUG["fault"]), "has no fault"),
        (signed(BUG, objective="quantitative"), "object"),
        (signed(BUG, objective={"name": "quantitative", "values": [[2, 2]]}), "other costs"),
        (signed(BUG, objective={"name": "quantitative", "values": [[2, 2], [5, 6]]}), "not the values"),
        (signed(BUG, lower={**LANDMARKS, "kind": "magic"}), "magic"),
    ],
)
def test_reasons(certificate: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        check(certificate, CLEAR)


def test_a_custom_objective_is_taken_at_its_word_and_says_so() -> None:
    mine = {"name": "mine", "values": [[2, 4], [5, 25]]}
    checked = check(signed(BUG, objective=mine, gap=interval(21, 21)), CLEAR)
    assert checked.words[-1].startswith("objective mine: its values")
    flat = {"name": "mine", "values": [[2, 7], [5, 7]]}
    assert check(signed(BUG, objective=flat, verdict="cleared", gap=interval(0, 0), fault=None), CLEAR)
    with pytest.raises(Refused, match="worse than possible"):
        check(signed(BUG, objective=flat, gap=interval(0, 0)), CLEAR)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([[2, 5], [5, 4]], "smaller value"),
        ([[2, 1], [2, 2], [5, 4]], "two values"),
        ([[2, -1], [5, 4]], "number from 0"),
        ([[2, 1], [5, math.nan]], "number from 0"),
        ([[2, 1], [4, 3], [5, 4]], "other costs"),
        ([[2, 1]], "other costs"),
        ([[2, 1, 0], [5, 4]], "no pair"),
        ([2, 5], "no pair"),
        (None, "list"),
        ([[2, 1], [5, None], [None, 3]], "other costs"),
    ],
)
def test_tables_that_are_no_objective(values: Any, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        read_objective({"name": "mine", "values": values}, (5, 5, 2, 2))


def test_infinity_is_the_largest_cost() -> None:
    objective = read_objective({"name": "mine", "values": [[None, 9], [0, 1]]}, (0, INF))
    assert objective.values == {0: 1, INF: 9}
    with pytest.raises(Refused, match="smaller value"):
        read_objective({"name": "mine", "values": [[None, 0], [0, 1]]}, (0, INF))


def test_the_rule_is_the_judges() -> None:
    """The judge of misstep and the rule of the checker agree on all small intervals."""
    ends = [(a, b) for a in (0, 1, 2, INF) for b in (0, 1, 2, INF) if a <= b]
    for objective in (Quantitative(), Qualitative()):
        for run in ends:
            for best in ends:
                verdict = judge(Bound(*run), Bound(*best), objective=objective)
                values = {end: objective.value(end) for end in (*run, *best)}
                for kind in ("bug", "cleared"):
                    try:
                        check_verdict(kind, run, best, (verdict.gap.lo, verdict.gap.hi), values)
                    except Refused:
                        assert str(verdict.verdict) != kind
                    else:
                        assert str(verdict.verdict) == kind


def test_random_bytes_in_random_places() -> None:
    rng = random.Random(0)
    for _ in range(300):
        certificate = copy.deepcopy(rng.choice([BUG, CLEARED, LOOP]))
        key = rng.choice([k for k in certificate if k != "sha256"])
        certificate[key] = rng.choice(
            [rng.random(), [rng.random()], {"kind": rng.random()}, str(rng.random()), -1]
        )
        certificate["sha256"] = digest(certificate)
        try:
            check(certificate, CLEAR)
        except Refused:
            continue
        assert key in ("id", "pool", "witness_oracle", "task", "policy", "oracle", "seed", "replay")
