"""Experiments as campaigns: stages of tests, each planned from what the ones before it found."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from misstep.budget import Budget
from misstep.campaign.coordinator import Coordinator, Progress, open_database, record_path
from misstep.campaign.database import FAILED, Database
from misstep.campaign.engine import Engine
from misstep.campaign.files import Digests
from misstep.campaign.job import CampaignJob, job_id
from misstep.campaign.local import LocalEngine
from misstep.campaign.plan import Limits
from misstep.campaign.words import duration, progress_words
from misstep.config import Config
from misstep.errors import MisstepError
from misstep.events import Finished, Judged
from misstep.experiments.pieces import bind_plan
from misstep.experiments.reproduce.data import Subject
from misstep.experiments.reproduce.order import Order
from misstep.judge import Verdict
from misstep.record.record import POOL, Record
from misstep.tally import Tally

PLAN = "reproduce.json"
_TRIES = 3
_MEMORY_MB = 4000
_ALL = 10**9
_NOT_COUNTED = ("seconds", "memory", "interrupted")


@dataclass(frozen=True, slots=True)
class Cell:
    """A test for one number of a table: a row, one of its tasks, and what is tried there."""

    row: str
    task: str
    column: str
    policy: str
    """As people read it."""
    config: Config


@dataclass(slots=True)
class Found:
    """What came of a test, as far as its record goes."""

    cell: Cell
    record: Path
    judged: dict[int, Judged] = field(default_factory=dict)
    """The last word on each state."""
    finished: Finished | None = None
    is_left: bool = False
    """Whether the time of the whole was up before it was done; the same command goes on."""
    failure: str | None = None
    """Why there is no result; the same command tries again."""

    @property
    def is_cut(self) -> bool:
        """Whether a limit that is not counted, such as time, cut something short."""
        return self.finished is None or any(
            limit.rpartition(": ")[2] in _NOT_COUNTED for limit in self.finished.limits_hit
        )

    @property
    def pool(self) -> Path:
        """The file with its states."""
        return self.record / POOL

    def first(self, count: int) -> list[Judged]:
        """So many states, in the order of the pool."""
        return [self.judged[id] for id in sorted(self.judged)[:count]]

    def bugs(self) -> frozenset[int]:
        """The states that were proven to be bugs."""
        return frozenset(id for id, event in self.judged.items() if event.verdict is Verdict.BUG)


def with_verdict(events: Iterable[Judged], verdict: Verdict) -> int:
    """How many states have it."""
    return sum(event.verdict is verdict for event in events)


def by_task(found: Iterable[Found]) -> dict[str, dict[str, dict[str, Found]]]:
    """Tests by row, task and column, but for those that are left for next time."""
    tests: dict[str, dict[str, dict[str, Found]]] = {}
    for each in found:
        if each.is_left:
            continue
        tests.setdefault(each.cell.row, {}).setdefault(each.cell.task, {})[each.cell.column] = each
    return tests


def reached(tested: Iterable[Subject], found: Iterable[Found]) -> dict[str, bool]:
    """The rows for which there is data, and whether any of their tests were made."""
    tests = by_task(found)
    return {subject.row: subject.row in tests for subject in tested}


Stage = Callable[[Sequence[Found]], list[Cell]]
"""The tests that come next, from all that was found so far."""


@dataclass(frozen=True, slots=True)
class _Campaign:
    """What a coordinator needs to know."""

    file: Path
    out: Path
    asked: Sequence[CampaignJob]
    tries: int = _TRIES
    limits: Limits = field(default_factory=Limits)
    keeps_all_records: bool = True

    def jobs(self, digests: Digests | None = None) -> Iterator[CampaignJob]:
        """All of them."""
        return iter(self.asked)


def test_config(order: Order) -> Config:
    """What all tests have in common: nothing that a table has no use for, and the effort that plans are made for."""
    return Config(seed=order.seed, effort=1.0, faults=False, memory_mb=_MEMORY_MB)


def cell_of(subject: Subject, problem: Path, column: str, *, order: Order, **options: object) -> Cell:
    """A test of a subject's policy on one of its tasks."""
    config = test_config(order).replace(
        domain=subject.domain, problem=problem, policy=subject.policy, **options
    )
    return Cell(subject.row, problem.stem, column, subject.label, config)


def run_stages(order: Order, stages: Sequence[Stage], budget: Budget | None = None) -> Iterator[list[Found]]:
    """Runs what is not done yet, stage by stage; after each of these, all that was found so far, as it was planned.

    Stopped and called again, it goes on where it was, and tries what failed before once more. Where the time is up
    within a stage, that is the last one; a test that was under way or never begun is in `found` without anything that
    it found. The caller is alone in `out`. InputError where that is of another order.
    """
    digests, begin = Digests(), time.time()
    with open_database(order.out) as database:
        bind(order)
        engine: Engine = LocalEngine(order.jobs)
        try:
            planned: dict[str, CampaignJob] = {}
            found: dict[Cell, Found] = {}
            for turn, stage in enumerate(stages):
                cells: dict[Cell, str] = {}
                for cell in stage(list(found.values())):
                    job = _job(cell, turn, digests)
                    planned.setdefault(job.id, job)  # the same test may serve several numbers
                    cells[cell] = job.id
                campaign = _Campaign(order.out / PLAN, order.out, list(planned.values()))
                # What fails now would fail again in the next stage.
                tell = _teller(order, f"stage {turn + 1} of {len(stages)}", budget)
                coordinator = Coordinator(campaign, database, retry_before=begin, tell=tell)
                left: set[str] = set()
                is_new = turn == len(stages) - 1
                if planned:
                    coordinator.prepare()
                    is_new = is_new or bool(database.next_jobs(1))
                    coordinator.seconds = None if budget is None else budget.seconds_left
                    if not coordinator.run(engine):
                        left = _waiting(database)
                failures = {row.id: row.reason or "" for row in database.rows() if row.state == FAILED}
                for cell, id in cells.items():
                    if cell not in found:
                        record = record_path(order.out, id)
                        found[cell] = (
                            Found(cell, record, is_left=True)
                            if id in left
                            else _found(cell, record, failures.get(id))
                        )
                # Who goes on with a later stage has seen this one: its tables would show less than there is.
                if is_new:
                    yield list(found.values())
                if left:
                    return
        finally:
            engine.close()


def _waiting(database: Database) -> set[str]:
    return {job.id for job in database.next_jobs(_ALL)}


def bind(order: Order) -> None:
    """Remembers what is done in `out`, so that nothing else is mixed with it."""
    about = {"name": order.name, "seconds": order.seconds, "seed": order.seed, "data": order.data is not None}
    bind_plan(order.out / PLAN, {**about, "pools": dict(order.pools)} if order.pools else about)


def _teller(order: Order, stage: str, budget: Budget | None) -> Callable[[Progress], None]:
    """Later stages are not planned yet: what a campaign expects is about this one, and the clock ends the whole."""

    def tell(progress: Progress) -> None:
        soon, whole = progress.seconds_left, None if budget is None else budget.seconds_left
        words = [
            stage if soon is None else f"{stage}, about {duration(soon)} left of it",
            progress_words(replace(progress, seconds_left=None)),
        ]
        if whole is not None:
            words.append(f"at most {duration(whole)} left in all")
        order.tell(" · ".join(words))

    return tell


def _job(cell: Cell, turn: int, digests: Digests) -> CampaignJob:
    task = f"{cell.row}/{cell.task}"
    id = job_id(cell.config, task=task, policy=cell.policy, digests=digests)
    subject = cell.config.problem or cell.config.model
    size = 0 if subject is None else subject.stat().st_size
    return CampaignJob(id, task, cell.policy, cell.column, cell.config.seed, turn, size, cell.config)


def _found(cell: Cell, record: Path, failure: str | None) -> Found:
    """What the record says; one that was never begun says nothing."""
    try:
        tally = Tally.added_up(Record.open(record).events())
    except MisstepError:
        return Found(cell, record, failure=failure)
    return Found(cell, record, tally.judged, tally.finished, failure=failure)
