"""Jobs put together by task, policy and configuration: counts, and what they say about rates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from misstep.campaign.database import DONE, FAILED, Database, Row
from misstep.errors import InputError
from misstep.explain.rates import Rate
from misstep.statistics import CONFIDENCE, Interval, rate_bounds
from misstep.status import is_mostly_unanswered
from misstep.support.suggest import did_you_mean

BY = ("task", "policy", "configuration")
"""What jobs can be put together by; also `seed`."""
_ALL = (*BY, "seed")


@dataclass(slots=True)
class Group:
    """The sum over some jobs."""

    names: tuple[str, ...] = ()
    jobs: int = 0
    done: int = 0
    failed: int = 0
    tested: int = 0
    solved: int = 0
    bugs: int = 0
    cleared: int = 0
    unknown: int = 0
    unanswered: int = 0
    runs: int = 0
    unsafe_runs: int = 0
    faults: int = 0
    seconds: float = 0.0
    effective: float = 0.0
    """How many independent states say as much about the rate."""

    def add(self, row: Row) -> None:
        """Takes a job in."""
        self.jobs += 1
        self.done += row.state == DONE
        self.failed += row.state == FAILED
        self.seconds += row.wall_seconds or 0.0
        found = row.result
        if found is None:
            return
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(found, name))
        self.effective += found.tested if found.effective is None else found.effective

    @property
    def share(self) -> float | None:
        """Of tested states, the share of bugs; of runs on models, that of unsafe ones; None without any."""
        bad, all_ = (self.unsafe_runs, self.runs) if self.runs else (self.bugs, self.tested)
        return bad / all_ if all_ else None

    def rate(self, confidence: float = CONFIDENCE) -> Interval:
        """Between which bounds that rate lies; states of one walk count for less, unknown ones both ways.

        The bounds are those of one rate. Where the jobs of a group have different ones, they hold for the mean,
        since sums of different coins vary less than sums of equal ones (Hoeffding 1956).
        """
        if self.runs:
            safe = self.runs - self.unsafe_runs - self.unanswered
            return rate_bounds(self.unsafe_runs, safe, self.unanswered, confidence=confidence)
        return rate_bounds(
            self.bugs, self.cleared, self.unknown, confidence=confidence, effective=self.effective
        )

    def told(self, confidence: float = CONFIDENCE) -> Rate:
        """The rate for people."""
        bounds = self.rate(confidence)
        if self.runs:
            safe = self.runs - self.unsafe_runs - self.unanswered
            return Rate(self.unsafe_runs, safe, self.unanswered, bounds, confidence, of_runs=True)
        return Rate(self.bugs, self.cleared, self.unknown, bounds, confidence, self.effective)

    def as_json(self, by: Sequence[str], *, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Plain data."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        rate = list(self.rate(confidence))
        return {**dict(zip(by, self.names, strict=True)), **counts, "rate": rate, "confidence": confidence}


_SUMS = tuple("tested solved bugs cleared unknown unanswered runs unsafe_runs faults".split())
_COUNTS = ("jobs", "done", "failed", *_SUMS, "seconds")


def is_dead_job(row: Row) -> bool:
    """Whether a job is done and says nothing, since the policy gave hardly an answer."""
    found = row.result
    return found is not None and is_mostly_unanswered(found.unanswered, found.runs or found.tested)


def job_counts(database: Database) -> dict[str, int]:
    """How far a campaign is, under the names that JSON objects have for it."""
    counts = database.counts()
    return {
        "jobs": sum(counts.values()),
        "done": counts["done"],
        "failed": counts["failed"],
        "left": counts["waiting"] + counts["running"],
        "bugs": database.bugs(),
        "without_answers": sum(map(is_dead_job, database.rows())),
    }


def grouped(rows: Iterable[Row], by: Sequence[str]) -> list[Group]:
    """The groups in the order in which the plan names them first."""
    found: dict[tuple[str, ...], Group] = {}
    for row in rows:
        names = tuple(str(getattr(row, name)) for name in by)
        found.setdefault(names, Group(names)).add(row)
    return list(found.values())


def totals(rows: Iterable[Row]) -> Group:
    """All jobs as one group."""
    return next(iter(grouped(rows, ())), Group())


def read_by(text: str) -> tuple[str, ...]:
    """What `--by` says: names with commas between them."""
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in _ALL:
            hint = did_you_mean(name, _ALL) or f"choose among {', '.join(_ALL)}"
            raise InputError(f"--by {text}: jobs cannot be put together by `{name}`; {hint}")
    return tuple(dict.fromkeys(names))
