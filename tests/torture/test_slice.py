"""A slice of the torture with fixed seeds; `make torture` goes on from there."""

from __future__ import annotations

import pytest

from tests.torture.__main__ import main
from tests.torture.trial import ORACLES, Score, trials


def test_nothing_is_false_on_some_random_worlds() -> None:
    score = Score()
    trials(4, score, policies=1, pool=25, oracles=ORACLES[::3], flat=0)
    trials(
        4, score, policies=1, pool=60, oracles=("planner", "abstraction"), flat=1, whole=1, verify=1, bare=2
    )
    assert score.false == []
    assert score.tasks == 2 and all(score.verdicts[name] > 20 for name in ("bug", "cleared", "unknown"))
    assert score.faults > 20 and score.certificates > 0 and score.bare == 2
    assert score.tampered > 10 and score.forged > score.accepted > 0


def test_the_command_with_all_its_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `make soundness` calls it, for one world."""
    given = "60 4 --worlds 1 --verdicts 1 --flat 1 --small 1 --states 600 --bare 1 --recorded 1 --tests 1"
    monkeypatch.setattr("sys.argv", ["torture", *given.split(), "--whole", "1", "--verify", "1"])
    assert main() == 0
    assert "on 1 worlds" in capsys.readouterr().out
