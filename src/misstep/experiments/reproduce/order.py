"""What somebody wants to have reproduced, and how much of it fits into the time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from misstep.budget import Budget

CORES = 2
"""The plan is made for so many cores, wherever it runs: `--jobs` never changes a result."""
LEAST_SECONDS = 2.0
"""A job gets at least so much time: loading a task takes a part of it."""
FEWEST_STATES = 5
"""Of a task, however short the time is."""
TASKS_FIRST = 2 / 3
"""For `scale_of`, where shares of states are compared: they differ far more from task to task than from state to state
of one, so most of the time goes into tasks."""
# Starting jobs, waiting for the last test of a stage and writing records take time, too.
_USABLE = 0.85
_START_SECONDS = 0.6
# Some tasks take several times what others take. The plan is made for the mean; the limit of a test is far above it, so
# that tests are not cut short on a busy machine, either.
_LIMIT_FACTOR = 20.0


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
    pools: Mapping[str, str] = field(default_factory=dict)
    """How the pools of an experiment are made; results with other pools are not mixed with these."""
    tell: Callable[[str], None] = lambda text: None
    """Hears where it stands."""

    def budget(self) -> Budget:
        """What the whole may take by the clock, from now on: what was asked for, longer where there are fewer jobs."""
        return Budget(seconds=self.seconds * max(1.0, CORES / self.jobs))


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is done."""

    tasks: int
    """Of each domain."""
    pool: int
    """States of each task."""
    seconds: float
    """When a test is cut short; nearly all end by themselves before, as what they do is counted, not timed."""


def scale_of(
    seconds: float, cells: int, *, most_states: int, state_seconds: float, into_tasks: float = 0.5
) -> Scale:
    """Shares the time among so many tests of one task of every domain.

    `state_seconds` is what a state takes on average, measured on the papers' policies and tasks. More time goes into
    more tasks and into more states of each: `into_tasks` is the power of the time that the number of tasks grows with,
    so with 1/2 both grow alike.
    """
    each = CORES * seconds * _USABLE / max(1, cells)
    smallest, largest = (_START_SECONDS + state_seconds * states for states in (FEWEST_STATES, most_states))
    tasks = max(1, int((each / smallest) ** into_tasks), int(each / largest))
    mean = each / tasks
    pool = min(most_states, max(FEWEST_STATES, round((mean - _START_SECONDS) / state_seconds)))
    return Scale(tasks, pool, limit_of(mean))


def limit_of(mean: float) -> float:
    """When a test is cut short, in a plan where one takes so many seconds on average."""
    return round(max(LEAST_SECONDS, _LIMIT_FACTOR * mean), 1)
