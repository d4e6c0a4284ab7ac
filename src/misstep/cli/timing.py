"""The time of commands: it counts from the start of the program, imports included."""

import contextlib
import os
import time
from pathlib import Path

_began: list[float] = []


def begin() -> None:
    """Called once, where misstep is run as a program."""
    _began[:] = [time.perf_counter() - _age()]


def left_of(seconds: float | None) -> float | None:
    """What is left of so many seconds since the program started; all of it where it is no program."""
    if seconds is None or not _began:
        return seconds
    return max(0.0, seconds - (time.perf_counter() - _began[0]))


def _age() -> float:
    """How old the process is, as far as the system tells."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        age = float(Path("/proc/uptime").read_text().split()[0]) - ticks / os.sysconf("SC_CLK_TCK")
        return max(0.0, age)
    return 0.0
