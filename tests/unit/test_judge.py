"""The judge decides by intervals alone."""

import math

import pytest

from misstep.bound import Bound
from misstep.judge import Kind, Qualitative, judge

INF = math.inf


@pytest.mark.parametrize(
    ("run", "best", "kind", "gap"),
    [
        (Bound(7, 7), Bound(3, 5), Kind.BUG, Bound(2, 4)),
        (Bound(INF, INF), Bound(0, 5), Kind.BUG, Bound(INF, INF)),
        (Bound(5, 5), Bound(5, 5), Kind.CLEARED, Bound(0, 0)),
        (Bound(5, 5), Bound(5, INF), Kind.CLEARED, Bound(0, 0)),
        (Bound(INF, INF), Bound(INF, INF), Kind.CLEARED, Bound(0, 0)),
        (Bound(5, 5), Bound(4, 5), Kind.UNKNOWN, Bound(0, 1)),
        (Bound(6, INF), Bound(2, 5), Kind.BUG, Bound(1, INF)),  # cut off beyond a known plan
        (Bound(4, INF), Bound(2, 5), Kind.UNKNOWN, Bound(0, INF)),
        (Bound(INF, INF), Bound(3, INF), Kind.UNKNOWN, Bound(0, INF)),
    ],
)
def test_quantitative(run: Bound, best: Bound, kind: Kind, gap: Bound) -> None:
    verdict = judge(run, best)
    assert (verdict.kind, verdict.gap) == (kind, gap)


@pytest.mark.parametrize(
    ("run", "best", "kind"),
    [
        (Bound(70, 70), Bound(3, 5), Kind.CLEARED),
        (Bound(INF, INF), Bound(0, 5), Kind.BUG),
        (Bound(INF, INF), Bound(0, INF), Kind.UNKNOWN),
        (Bound(6, INF), Bound(2, 5), Kind.UNKNOWN),
    ],
)
def test_qualitative(run: Bound, best: Bound, kind: Kind) -> None:
    assert judge(run, best, objective=Qualitative()).kind is kind


class Within:
    """Costs up to twice the best are fine: an objective of one's own."""

    name = "coarse"

    def value(self, cost: float, /) -> float:
        return cost if cost == INF else cost // 10


def test_an_objective_of_ones_own() -> None:
    assert judge(Bound(19, 19), Bound(11, 11), objective=Within()).kind is Kind.CLEARED
    assert judge(Bound(20, 20), Bound(11, 11), objective=Within()).kind is Kind.BUG
