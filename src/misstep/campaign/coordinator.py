"""The coordinator: the one process that decides what runs next and writes down what came of it."""

import contextlib
import fcntl
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from misstep.campaign.cost import Costs
from misstep.campaign.database import NAME, Database, Waiting
from misstep.campaign.engine import Assignment, Ended, Engine
from misstep.campaign.files import Digests
from misstep.campaign.job import job_id
from misstep.campaign.plan import Limits, Planned
from misstep.campaign.result import result_in
from misstep.config import Config
from misstep.errors import InputError
from misstep.record.record import OF_CAMPAIGN

LOCK = "campaign.lock"
"""The file that the only coordinator holds."""
# Between two signs of life where nothing ends.
_WAIT_SECONDS = 0.5
# A test that keeps to its own limits ends long before it is ended by force.
_GRACE_FACTOR, _GRACE_SECONDS = 1.5, 30.0
_GRACE_MEMORY_FACTOR, _GRACE_MB = 2, 1000


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a campaign stands."""

    counts: dict[str, int]
    bugs: int
    seconds_left: float | None
    """None as long as nobody can know."""


@dataclass(slots=True)
class Coordinator:
    """Runs what is left of a campaign. Running it again goes on, and does nothing where all is done."""

    plan: Planned
    database: Database
    retry_before: float | None = None
    """Jobs that failed before this moment (of `time.time`) are tried again."""
    seconds: float | None = None
    """After so long `run` ends, and what is under way waits again."""
    tell: Callable[[Progress], None] = lambda progress: None
    _costs: Costs = field(default_factory=Costs)
    _digests: Digests = field(default_factory=Digests)
    _under: dict[str, tuple[int, bool]] = field(default_factory=dict)
    """Of jobs under way, how often each was begun, and whether it went on with an old record."""

    def prepare(self) -> tuple[int, int]:
        """Takes the plan in and cleans up after a coordinator that was killed: all jobs, and new ones."""
        asked, new = self.database.enrol(self.plan.jobs(self._digests))
        if not asked:
            raise InputError(f"{self.plan.file}: there are no jobs; give at least one task, policy and seed")
        self._recover()
        if self.retry_before is not None:
            self.database.retry_failed(before=self.retry_before)
        self._costs = Costs.of(self.database)
        self.database.expect(self._costs.expected(self.database))
        return asked, new

    def run(self, engine: Engine) -> bool:
        """Runs all jobs that wait; False where the time was up before. What ended until then is in the database."""
        is_whole = False
        try:
            is_whole = self._run(engine)
        finally:
            if not is_whole:
                engine.close()
                self._recover()
        self.tell(self.progress(engine.slots))
        return is_whole

    def _run(self, engine: Engine) -> bool:
        tell_at, end_at = 0.0, math.inf if self.seconds is None else time.monotonic() + self.seconds
        ended: list[Ended] = []
        while True:
            begun: list[Assignment] = []
            with self.database.transaction():
                for one in ended:
                    self._write_down(one)
                is_over = time.monotonic() >= end_at
                picked = self.database.next_jobs(0 if is_over else max(0, engine.slots - len(self._under)))
                for job in picked:
                    self.database.begin(job.id)
                    if (reason := self._changed(job)) is None:
                        begun.append(self._assignment(job))
                    else:
                        self.database.failed(job.id, reason)
            for one in ended:
                self._tidy(one)
            for assignment in begun:
                engine.begin(assignment)
            if is_over or (not self._under and not picked):
                return not self._under and not self.database.next_jobs(1)
            if time.monotonic() >= tell_at:
                begin = time.monotonic()
                self.tell(self.progress(engine.slots))
                now = time.monotonic()
                tell_at = now + max(_WAIT_SECONDS, 20 * (now - begin))  # a large database is asked less often
            ended = engine.wait(max(0.0, min(_WAIT_SECONDS, end_at - time.monotonic())))

    def progress(self, slots: int) -> Progress:
        """Where it stands, and how long it may take."""
        self._costs = Costs.of(self.database)
        left = self._costs.left(self.database)
        return Progress(
            self.database.counts(), self.database.bugs(), None if left is None else left / max(1, slots)
        )

    def record_of(self, id: str) -> Path:
        """The directory of a job's record."""
        return record_path(self.plan.out, id)

    def _recover(self) -> None:
        """Jobs under way when the coordinator was killed: those whose end is in the record are done."""
        with self.database.transaction():
            for id in self.database.running():
                result = result_in(self.record_of(id))
                if result is not None:
                    self.database.done(id, result)
                else:
                    self.database.again(id, "the campaign was stopped", is_fresh=False, counts=False)

    def _changed(self, job: Waiting) -> str | None:
        """Why a job is no longer the one that was planned: somebody has written to its files meanwhile."""
        try:
            now = job_id(job.config, task=job.task, policy=job.policy, digests=self._digests)
        except InputError as error:
            return str(error)
        if now == job.id:
            return None
        return "its files have changed since the campaign was started; the same command takes the new ones"

    def _assignment(self, job: Waiting) -> Assignment:
        record = self.record_of(job.id)
        if job.is_fresh:
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(record)
        self._under[job.id] = job.tries + 1, record.exists()
        return Assignment(job.id, job.config, record, limits_of(self.plan.limits, job.config))

    def _tidy(self, ended: Ended) -> None:
        """Drops the record of a test that found nothing, where the campaign says so; its result is safe."""
        found = ended.result
        if found is not None and not self.plan.keeps_all_records and not (found.bugs or found.unsafe_runs):
            shutil.rmtree(self.record_of(ended.id), ignore_errors=True)

    def _write_down(self, ended: Ended) -> None:
        reason = ended.reason or "nobody knows why"
        tries, was_resumed = self._under.pop(ended.id)
        if ended.result is not None:
            self.database.done(ended.id, ended.result)
        elif tries < self.plan.tries and (ended.is_accident or was_resumed):
            # An error may be one of the record that an accident left.
            self.database.again(ended.id, reason, is_fresh=not ended.is_accident)
        elif ended.is_accident:
            self.database.failed(ended.id, f"{reason}, in all of {tries} tries")
        else:
            self.database.failed(ended.id, reason)


def record_path(out: Path, id: str) -> Path:
    """The directory of a job's record; no directory has more than a share of all."""
    return out / OF_CAMPAIGN / id[:2] / id[:16]


def limits_of(limits: Limits, config: Config) -> Limits:
    """When a job is ended by force: as the campaign says, else well after the test should have ended itself."""
    seconds, memory = limits.seconds, limits.memory_mb
    if seconds is None and config.seconds is not None:
        seconds = config.seconds * _GRACE_FACTOR + _GRACE_SECONDS
    if memory is None and config.memory_mb is not None:
        memory = config.memory_mb * _GRACE_MEMORY_FACTOR + _GRACE_MB
    return Limits(seconds, memory)


def is_running(out: Path) -> bool:
    """Whether a coordinator is at work there."""
    try:
        descriptor = os.open(out / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@contextmanager
def alone_in(out: Path) -> Iterator[None]:
    """Makes the folder and keeps other coordinators out of it; InputError where one is at work."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(out / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise InputError(f"{out}: cannot write there: {error.strerror}; choose another --out") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            raise InputError(
                f"{out}: the campaign is being run already, by process {holder}; wait for it, or look at it with "
                "`misstep campaign status`"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def open_database(out: Path) -> Iterator[Database]:
    """The database for one who is alone in the folder already."""
    database = Database.create(out / NAME)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def open_campaign(out: Path) -> Iterator[Database]:
    """The database for the only coordinator; InputError where another one is at work."""
    with alone_in(out), open_database(out) as database:
        yield database
