"""Time limits of commands: they count from the start of the program, imports included."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NoReturn

from misstep.errors import LimitReached

_began: list[float] = []


def begin() -> None:
    """Called once, where misstep is run as a program."""
    _began[:] = [time.perf_counter() - _age()]


def left_of(seconds: float | None) -> float | None:
    """What is left of so many seconds since the program started; all of it where it is no program."""
    if seconds is None or not _began:
        return seconds
    return max(0.0, seconds - (time.perf_counter() - _began[0]))


@contextlib.contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raises LimitReached in whatever is done meanwhile, native work included, once the time is up."""
    left = left_of(seconds)
    if left is None:
        yield
        return
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, max(left, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _ring(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise LimitReached("the time was up before there was a result; allow more --seconds", "seconds")


def _age() -> float:
    """How old the process is, as far as the system tells."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        age = float(Path("/proc/uptime").read_text().split()[0]) - ticks / os.sysconf("SC_CLK_TCK")
        return max(0.0, age)
    return 0.0
