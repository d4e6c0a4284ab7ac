"""What somebody wants to have reproduced, and how much of it fits into the time."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CORES = 2
"""The plan is made for so many cores, wherever it runs: `--jobs` never changes a result."""
LEAST_SECONDS = 2.0
"""A job gets at least so much time: loading a task takes a part of it."""
# More time goes into more tasks and into longer tests of each, alike.
_FIRST_SECONDS = 8.0
# Starting jobs and writing records takes time, too.
_USABLE = 0.9
_STATES_A_SECOND = 1.5
_FEWEST_STATES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One reproduction. The plan follows from all but `jobs`, `out` and `tell`."""

    name: str
    seconds: float
    out: Path
    data: Path | None
    """The folder with the papers' policies; None for the bundled ones."""
    seed: int = 0
    jobs: int = CORES
    tell: Callable[[str], None] = lambda text: None
    """Hears where it stands."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is done."""

    tasks: int
    """Of each domain."""
    pool: int
    """States of each task."""
    seconds: float
    """When a test is cut short; most should end by themselves, as what they do is counted, not timed."""


def scale_of(seconds: float, cells: int, *, most_states: int) -> Scale:
    """Shares the time among so many tests of one task of every domain; more time, more tasks and states."""
    each = CORES * seconds * _USABLE / max(1, cells)
    tasks = max(1, int(math.sqrt(each / _FIRST_SECONDS)))
    limit = max(LEAST_SECONDS, each / tasks)
    pool = min(most_states, max(_FEWEST_STATES, round(_STATES_A_SECOND * limit)))
    return Scale(tasks, pool, round(limit, 1))
