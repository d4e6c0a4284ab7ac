"""Small campaigns for tests, and an engine that only pretends."""

import time
from collections.abc import Callable
from pathlib import Path

from misstep.campaign.coordinator import Coordinator
from misstep.campaign.database import NAME, Database, Row
from misstep.campaign.engine import Assignment, Ended
from misstep.campaign.plan import Plan, read_plan
from misstep.campaign.result import Result

TOML = 'domain = "domain.pddl"\nproblems = ["p*.pddl"]\npolicies = ["heuristic:ff"]\n'


def written(folder: Path, toml: str = TOML) -> Path:
    """A campaign's file with three problems of different sizes, all nonsense: nobody reads them."""
    (folder / "domain.pddl").write_text("a domain")
    for number, size in (("1", 30), ("2", 10), ("3", 20)):
        (folder / f"p{number}.pddl").write_text(number * size)
    file = folder / "campaign.toml"
    file.write_text(toml)
    return file


def opened(folder: Path, toml: str = TOML) -> tuple[Plan, Database]:
    plan = read_plan(written(folder, toml))
    return plan, Database.create(plan.out / NAME)


class Pretended:
    """An engine whose jobs end as a function says, in the order in which they begin."""

    def __init__(self, end: Callable[[Assignment], Ended] | None = None, *, slots: int = 1) -> None:
        self.slots = slots
        self.begun: list[Assignment] = []
        self.is_closed = False
        self._end = end or (lambda job: Ended(job.id, Result(tested=4, bugs=1, cleared=3)))
        self._ended: list[Ended] = []

    def begin(self, assignment: Assignment) -> None:
        self.begun.append(assignment)
        assert len(self._ended) < self.slots
        self._ended.append(self._end(assignment))

    def wait(self, seconds: float) -> list[Ended]:
        return [self._ended.pop(0)] if self._ended else []

    def close(self) -> None:
        self.is_closed = True


def ran(plan: Plan, database: Database, engine: Pretended, *, retry: bool = False) -> list[Row]:
    """All rows after the campaign was run."""
    coordinator = Coordinator(plan, database, retry_before=time.time() if retry else None)
    coordinator.prepare()
    coordinator.run(engine)
    return list(database.rows())
