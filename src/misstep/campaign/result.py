"""What a finished job leaves in the database: the counts of its test, without the record."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep.errors import MisstepError
from misstep.record.record import Record
from misstep.status import unanswered
from misstep.tally import Tally

# The curve of a job with more bugs is drawn from so many.
_MOST_TIMES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The counts of one test. Those of a JANI model are runs, unsafe ones being the bad."""

    kind: str = "task"
    tested: int = 0
    solved: int = 0
    bugs: int = 0
    qualitative: int = 0
    quantitative: int = 0
    cleared: int = 0
    unknown: int = 0
    unanswered: int = 0
    """States, or runs on a model, of which nothing is known because the policy failed to answer."""
    families: int = 0
    runs: int = 0
    unsafe_runs: int = 0
    faults: int = 0
    effort: float = 0.0
    effective: float | None = None
    seconds: float = 0.0
    limits_hit: tuple[str, ...] = ()
    bug_seconds: tuple[float, ...] = ()
    """When each bug was known, from the start of the test on."""

    def __post_init__(self) -> None:
        """ValueError where no test counts so: who damaged the database is told, and statistics need sense."""
        numbers = [value for name in COUNTS if isinstance(value := getattr(self, name), int | float)]
        if not all(0 <= number < math.inf for number in numbers):
            raise ValueError("a count is negative or infinite")
        if self.bugs + self.cleared + self.unknown > self.tested and not self.runs:
            raise ValueError(
                f"{self.bugs} bugs, {self.cleared} cleared and {self.unknown} unknown of {self.tested}"
            )
        if self.unsafe_runs + self.unanswered > self.runs > 0:
            raise ValueError(
                f"{self.unsafe_runs} unsafe and {self.unanswered} unanswered of {self.runs} runs"
            )

    @property
    def counts(self) -> dict[str, Any]:
        """All but what depends on the clock: the same for every engine and however often it was disturbed."""
        return {name: getattr(self, name) for name in COUNTS}


COUNTS = tuple(
    "kind tested solved bugs qualitative quantitative cleared unknown unanswered families runs unsafe_runs "
    "faults effort effective".split()
)
"""The fields that do not depend on the clock."""
_SAME = tuple(
    "tested solved bugs qualitative quantitative cleared unknown runs unsafe_runs faults effort effective "
    "limits_hit".split()
)
"""The fields that the last event of a test has, too."""


def result_of(tally: Tally) -> Result | None:
    """The result of a test that ended; None where it did not, or where Ctrl-C ended it."""
    found, started = tally.finished, tally.started
    if found is None or "interrupted" in found.limits_hit or "error" in found.extra:
        return None
    times = sorted(event.at for event in tally.bugs)
    return Result(
        **{name: getattr(found, name) for name in _SAME},
        kind="task" if started is None else started.kind,
        unanswered=unanswered(found),
        families=len(found.families),
        seconds=found.seconds.get("total", found.at),
        bug_seconds=tuple(times[:: max(1, len(times) // _MOST_TIMES)]),
    )


def result_in(record: Path) -> Result | None:
    """The result of a test whose end is in its record, although nobody was left to hear of it."""
    try:
        return result_of(Tally.added_up(Record.open(record).events()))
    except MisstepError:
        return None
