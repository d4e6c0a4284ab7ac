"""The judge decides by intervals alone."""

import math

import pytest

from misstep.bound import Bound
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
