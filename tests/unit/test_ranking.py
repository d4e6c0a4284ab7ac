"""Fuzzing bugs and their order, against the definition with exact gaps."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

import misstep
from misstep.bound import Bound
from misstep.events import Judged
from misstep.judge import Verdict
from misstep.reports.ranking import added_gap, added_gaps, ranked
from misstep.tally import Tally


def judged(id: int, gap: Bound, *, verdict: Verdict = Verdict.BUG, steps: int = 1) -> Judged:
    """An event of which only the gap matters."""
    free = Bound(0, math.inf)
    return Judged(
        id=id, verdict=verdict, outcome="solved", cost=free, best=free, gap=gap, oracle="test", steps=steps
    )


def test_what_is_said_holds_whatever_the_exact_gaps_are() -> None:
    rng = Random(1)
    for _ in range(2000):
        exact = [rng.choice([0, 1, 2, 5, math.inf]) for _ in range(2)]
        bounds = [
            Bound(rng.choice([0.0, gap]), rng.choice([gap, math.inf, gap + 1 if gap < math.inf else gap]))
            for gap in exact
        ]
        added = added_gap(judged(1, bounds[0]), judged(0, bounds[1]))
        assert added is not None
        if added > 0:  # Definition 4
            assert exact[0] > exact[1]
            assert exact[0] - exact[1] >= added
        elif all(bound.is_exact for bound in bounds):
            assert not exact[0] > exact[1]


def test_there_may_be_nothing_to_compare_with() -> None:
    assert added_gap(judged(0, Bound(3, 3)), None) is None
    tally = Tally()
    tally.add(judged(0, Bound(3, 3)))
    tally.add(judged(5, Bound(3, 3)))
    assert added_gaps(tally, {0: None, 5: 4}) == {}


def test_what_a_walk_made_worst_comes_first() -> None:
    tally = Tally()
    for event in (
        judged(0, Bound(9, 9)),
        judged(1, Bound(9, 9)),
        judged(2, Bound(4, 4)),
        judged(3, Bound(0, 0), verdict=Verdict.CLEARED),
        judged(4, Bound(2, 7), steps=7),
        judged(5, Bound(2, 7), steps=3),
    ):
        tally.add(event)
    added = added_gaps(tally, {0: None, 1: 0, 2: 3, 4: 0, 5: 0})
    assert added == {1: 0, 2: 4, 4: 0, 5: 0}
    assert [event.id for event in ranked(tally, added)] == [2, 0, 1, 5, 4]


def test_a_report_knows_its_parents(courier: tuple[Path, Path]) -> None:
    report = misstep.test(courier, "heuristic:ff", pool=40, seed=1)
    assert report.bugs
    parents = {line["id"]: line.get("parent") for line in report.record.store.lines("pool.jsonl")}
    exact = {id: event.gap for id, event in report.tally.judged.items()}
    worse = [
        bug.id for bug in report.bugs if (at := parents[bug.id]) is not None and bug.gap.lo > exact[at].hi
    ]
    assert report.fuzzing_bugs == len(worse)
    assert report.as_json()["fuzzing_bugs"] == len(worse)
    assert {bug.id for bug in report.ranked} == {bug.id for bug in report.bugs}
