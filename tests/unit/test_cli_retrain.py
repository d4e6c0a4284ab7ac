"""What `misstep retrain` says about the comparison."""

from pathlib import Path

import pytest

from misstep.cli.retrain import _sum_up
from misstep.training.retraining import RetrainResult
from misstep.training.score import Exam
from misstep.training.standing import change


def test_counts_of_one_and_of_none(capsys: pytest.CaptureFixture[str]) -> None:
    """One task with one state; then with none to compare."""
    exam = Exam("t", 5.0, (5.0,), (True,), (False,))
    for keep in (True, False):
        told = change([exam], [exam], keep=[[keep]], parents=[[None]])
        path = Path("original.asnet")
        _sum_up(
            RetrainResult(
                *(Path("final.asnet"), 1, told, path, Path("learned.asnet"), "input", told.why_not),
                *("held-out tasks", 1.0, None),
            )
        )
        shown = capsys.readouterr().out
        assert f"held-out tasks: 1 task, {'1 state' if keep else '0 states'}\n" in shown
        assert "0 bugs fixed, 0 states forgotten; better on 0 tasks" in shown
        assert "of them unsolved" not in shown
        if keep:
            assert "of the 1 state that both solve" in shown
            assert "unchanged: it solves no more tasks and no more states, and has no fewer proven" in shown
            assert "no state was" not in shown
        else:
            assert "bug rate       no state was compared\n" in shown
            assert "100 %" not in shown
            assert "unchanged: no state was left to compare the two on." in shown
