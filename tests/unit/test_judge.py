"""The judge decides by intervals alone."""

import math
from typing import Any

import numpy as np
import pytest

from misstep.bound import Bound
from misstep.errors import PartError
from misstep.judge import Verdict, judge
from misstep.objectives.cost import Quantitative
from misstep.objectives.goal import Qualitative

INF = math.inf


@pytest.mark.parametrize(
    ("run", "best", "verdict", "gap"),
    [
        (Bound(7, 7), Bound(3, 5), Verdict.BUG, Bound(2, 4)),
        (Bound(INF, INF), Bound(0, 5), Verdict.BUG, Bound(INF, INF)),
        (Bound(5, 5), Bound(5, 5), Verdict.CLEARED, Bound(0, 0)),
        (Bound(5, 5), Bound(5, INF), Verdict.CLEARED, Bound(0, 0)),
        (Bound(INF, INF), Bound(INF, INF), Verdict.CLEARED, Bound(0, 0)),
        (Bound(5, 5), Bound(4, 5), Verdict.UNKNOWN, Bound(0, 1)),
        (Bound(6, INF), Bound(2, 5), Verdict.BUG, Bound(1, INF)),  # cut off beyond a known plan
        (Bound(4, INF), Bound(2, 5), Verdict.UNKNOWN, Bound(0, INF)),
        (Bound(INF, INF), Bound(3, INF), Verdict.UNKNOWN, Bound(0, INF)),
    ],
)
def test_quantitative(run: Bound, best: Bound, verdict: Verdict, gap: Bound) -> None:
    judgement = judge(run, best, objective=Quantitative())
    assert (judgement.verdict, judgement.gap) == (verdict, gap)
    assert set(judgement.values) == {(end, end) for end in (run.lo, run.hi, best.lo, best.hi)}


@pytest.mark.parametrize(
    ("run", "best", "verdict"),
    [
        (Bound(70, 70), Bound(3, 5), Verdict.CLEARED),
        (Bound(INF, INF), Bound(0, 5), Verdict.BUG),
        (Bound(INF, INF), Bound(0, INF), Verdict.UNKNOWN),
        (Bound(6, INF), Bound(2, 5), Verdict.UNKNOWN),
    ],
)
def test_qualitative(run: Bound, best: Bound, verdict: Verdict) -> None:
    assert judge(run, best, objective=Qualitative()).verdict is verdict


class Within:
    """Costs up to twice the best are fine: an objective of one's own."""

    name = "coarse"

    def value(self, cost: float, /) -> float:
        return cost if cost == INF else cost // 10


def test_an_objective_of_ones_own() -> None:
    assert judge(Bound(19, 19), Bound(11, 11), objective=Within()).verdict is Verdict.CLEARED
    assert judge(Bound(20, 20), Bound(11, 11), objective=Within()).verdict is Verdict.BUG


class Without(Within):
    """An objective of one's own that gives what it is told to give for the cost of the run."""

    def __init__(self, value: object) -> None:
        self.given = value

    def value(self, cost: float, /) -> Any:
        if cost != 7:
            return cost
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


@pytest.mark.parametrize(
    "value",
    [ZeroDivisionError("no"), -1, -0.5, math.nan, None, "7", True, 3, 4.9, 2.9, math.inf, np.float64(-1)],
)
def test_an_objective_that_gives_no_values_of_a_monotone_function_is_refused(value: object) -> None:
    """The run costs 7; a state costs 3 to 5 at best, and 9 elsewhere: so 7 has to be worth 5 to 9."""
    with pytest.raises(PartError, match="objective"):
        judge(Bound(7, 9), Bound(3, 5), objective=Without(value))


@pytest.mark.parametrize("value", [5.5, 6, 7.0, 8, np.float32(7), np.int64(7)])
def test_numbers_of_all_kinds_are_values(value: object) -> None:
    judgement = judge(Bound(7, 9), Bound(3, 5), objective=Without(value))
    assert judgement.verdict is Verdict.BUG
    assert judgement.gap == Bound(float(value) - 5, 9 - 3)


def test_a_value_of_zero_is_one() -> None:
    assert judge(Bound(0, 0), Bound(0, 0), objective=Quantitative()).gap == Bound(0, 0)
    assert judge(Bound(7, 7), Bound(0, 7), objective=Without(np.float64(7))).verdict is Verdict.UNKNOWN


def test_only_a_bug_is_one() -> None:
    verdicts = (
        judge(Bound(5, 5), best, objective=Quantitative()) for best in (Bound(3), Bound(3, 4), Bound(5))
    )
    assert [judgement.is_bug for judgement in verdicts] == [False, True, False]


def test_the_same_value_for_different_costs_is_fine() -> None:
    assert judge(Bound(7, 9), Bound(3, 5), objective=Without(5)).verdict is Verdict.UNKNOWN


def test_different_values_for_the_same_cost_are_refused() -> None:
    class Drifting(Within):
        asked = 0

        def value(self, cost: float, /) -> float:
            self.asked += 1
            return cost + self.asked

    with pytest.raises(PartError, match="objective"):
        judge(Bound(7, 7), Bound(3, 5), objective=Drifting())
