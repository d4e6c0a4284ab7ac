"""Work in copies of this process."""

from __future__ import annotations

import os
import signal

import pytest

from misstep.support.forked import in_order


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("size", [0, 1, 16, 17, 100])
def test_results_come_in_order(jobs: int, size: int) -> None:
    inherited = {number: number**2 for number in range(size)}
    assert list(in_order(lambda number: inherited[number], size, jobs=jobs)) == [n**2 for n in range(size)]


def test_the_work_is_done_elsewhere() -> None:
    assert os.getpid() not in in_order(lambda _: os.getpid(), 40, jobs=2)


def test_copies_end_although_this_process_outlives_its_signals() -> None:
    """One that had just begun kept the handler, which may be called where nobody hears its exception."""
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        for _ in range(10):
            assert list(in_order(lambda number: number, 17, jobs=2)) == list(range(17))
        assert set(in_order(lambda _: signal.getsignal(signal.SIGTERM), 40, jobs=2)) == {signal.SIG_DFL}
    finally:
        signal.signal(signal.SIGTERM, before)


def test_an_error_comes_back() -> None:
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda number: 1 // (30 - number), 40, jobs=2))
    assert list(in_order(lambda number: number, 3, jobs=2)) == [0, 1, 2]
