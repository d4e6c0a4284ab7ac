"""Pieces of work: what is left when the time is up is done by the next call."""

import multiprocessing
import time
from functools import partial
from pathlib import Path

import pytest

from misstep.budget import Budget
from misstep.experiments import pieces as module
from misstep.experiments.pieces import run_pieces


def wait_and_write(seconds: float, out: Path) -> str | None:
    """A piece: it takes so long, and leaves a file."""
    time.sleep(seconds)
    (out / str(seconds)).write_text("done")
    return None


def test_nobody_waits_for_pieces_when_the_time_is_up(tmp_path: Path) -> None:
    pieces = [(tmp_path / str(seconds), seconds) for seconds in (0.0, 600.0)]
    work = partial(wait_and_write, out=tmp_path)
    assert run_pieces(pieces[1:], work, jobs=2, where=tmp_path, budget=Budget(seconds=1)) == []
    for process in multiprocessing.active_children():  # told to end, or else at work for ten minutes
        process.join()
    assert not list(tmp_path.iterdir())
    run_pieces(pieces[:1], work, jobs=1, where=tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["0.0"]
    # With no time at all nothing is begun; what is done is not done again.
    heard: list[str] = []
    run_pieces(pieces, work, jobs=1, where=tmp_path, budget=Budget(seconds=0), tell=heard.append)
    assert heard == ["1 of 2 pieces of work are done already"]
    later = [(tmp_path / "0.25", 0.25), *pieces[:1]]
    assert run_pieces(later, work, jobs=1, where=tmp_path, budget=Budget(seconds=600)) == []
    assert (tmp_path / "0.25").is_file()


def test_who_waits_for_long_pieces_hears_how_far_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.01)
    parts, heard = iter(range(10_000)), list[str]()
    assert not run_pieces(
        [(tmp_path / "1.0", 1.0)],
        partial(wait_and_write, out=tmp_path),
        jobs=1,
        where=tmp_path,
        budget=Budget(seconds=600),
        progress=heard.append,
        under_way=lambda: f"{next(parts)} parts",
    )
    assert heard[:2] == [f"0 of 1 pieces of work are done · {count} parts" for count in range(2)]
    assert len(heard) > 10, "asked again and again while the only piece takes its second"
    assert heard[-1] == f"1 of 1 pieces of work are done · {len(heard) - 1} parts"
