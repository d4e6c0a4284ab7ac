"""A slice of the torture with fixed seeds; `make torture` goes on from there."""

from __future__ import annotations

from tests.torture.trial import Score, trials


def test_nothing_is_false_on_some_random_worlds() -> None:
    score = Score()
    for seed in (8, 21, 5002):
        trials(seed, score, policies=1)
    assert score.false == []
    assert score.tasks >= 1 and all(score.verdicts[name] > 50 for name in ("bug", "cleared", "unknown"))
    assert score.faults > 50 and score.certificates > 20
