"""What a campaign will take: from jobs that are done, from the sizes of tasks, and from limits."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from misstep.campaign.database import Database


@dataclass(frozen=True, slots=True)
class Costs:
    """How long jobs took so far."""

    exact: dict[tuple[str, str], float] = field(default_factory=dict)
    """Of a task and a configuration."""
    by_task: dict[str, float] = field(default_factory=dict)
    mean: float | None = None
    mean_size: float = 1.0
    jobs: int = 0

    @classmethod
    def of(cls, database: Database) -> "Costs":
        """What the database tells."""
        exact: dict[tuple[str, str], float] = {}
        by_task: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        jobs, seconds, bytes_ = 0, 0.0, 0.0
        for task, configuration, size, count, mean in database.durations():
            exact[task, configuration] = mean
            by_task[task].append((count, mean))
            jobs, seconds, bytes_ = jobs + count, seconds + count * mean, bytes_ + count * size
        return cls(
            exact,
            {
                task: sum(count * mean for count, mean in known) / sum(count for count, _ in known)
                for task, known in by_task.items()
            },
            seconds / jobs if jobs else None,
            max(1.0, bytes_ / jobs) if jobs else 1.0,
            jobs,
        )

    def predict(self, task: str, configuration: str, size: int, limit: float | None) -> float | None:
        """The seconds of one job; None where nothing is known, not even a limit.

        The nearest known jobs say it: of the same task and configuration, of the same task, or all jobs, where
        twice as large a task is taken to need twice the time.
        """
        if (known := self.exact.get((task, configuration))) is not None:
            return known
        guess = self.by_task.get(task)
        if guess is None and self.mean is not None:
            guess = self.mean * size / self.mean_size
        if guess is None:
            return limit
        return guess if limit is None else min(guess, limit)

    def expected(self, database: Database) -> Iterator[tuple[str, str, int, float]]:
        """Every kind of open job with its seconds, for their order; with its size where nothing is known."""
        for task, configuration, size, limit, _ in database.open_groups():
            seconds = None if self.mean is None else self.predict(task, configuration, size, limit)
            yield task, configuration, size, float(size) if seconds is None else seconds

    def left(self, database: Database) -> float | None:
        """The seconds of all open jobs together, one after the other; None where nobody can know."""
        total = 0.0
        for task, configuration, size, limit, count in database.open_groups():
            seconds = self.predict(task, configuration, size, limit)
            if seconds is None:
                return None
            total += seconds * count
        return total

    def most(self, database: Database) -> float | None:
        """The same where every job uses up its limit; None where one has none."""
        limits = [(limit, count) for *_, limit, count in database.open_groups()]
        if any(limit is None for limit, _ in limits):
            return None
        return sum((limit or 0.0) * count for limit, count in limits)
