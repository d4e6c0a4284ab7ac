"""Workers: processes that test problems side by side and tell their events to the one that started them.

A worker knows a `Config` and the directory of its record, nothing else, so the result of a problem is the
same whoever tests it. Where a worker dies, its problem alone is lost, and another worker takes the next.
"""

import contextlib
import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Semaphore
from pathlib import Path
from types import FrameType, TracebackType
from typing import NoReturn, Self

from misstep.ahead import Places
from misstep.config import Config
from misstep.corpus import Asked, Known, ask_again
from misstep.errors import MisstepError
from misstep.events import Event
from misstep.record.record import open_record
from misstep.session import Session
from misstep.support.census import die_with_parent

# After Ctrl-C a worker has this long to write down what it found.
_SECONDS_TO_END = 10.0


@dataclass(frozen=True, slots=True)
class Job:
    """One problem to test."""

    number: int
    config: Config
    record: Path
    is_free: bool
    """Whether a free directory is taken that begins so, instead of this one."""
    resume: bool
    known: tuple[Known, ...] = ()
    """Bugs to be tried first."""
    jobs: int = 1
    """Threads that help with it."""
    is_sharing: bool = False
    """Whether they begin only when other workers have nothing more to do."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a worker says about its job: an event, or its end, with the error that ended it."""

    number: int
    event: Event | None = None
    asked: tuple[Asked, ...] = ()
    """What became of the known bugs."""
    path: Path | None = None
    """The record's directory, once it is there."""
    is_done: bool = False
    error: str | None = None
    is_lost: bool = False
    """Whether the worker died, so that nobody knows whose fault it was."""


class Workers:
    """At most `count` processes. `with` sees to it that none is left, however it ends.

    A worker is replaced after `most_jobs`, so that what other people's code leaves behind does not add up.
    """

    def __init__(self, count: int, *, most_jobs: int | None = None) -> None:
        self._count = count
        self._most_jobs = most_jobs
        self._served: Counter[Connection] = Counter()
        self._context = multiprocessing.get_context("spawn")
        self._places: Semaphore | None = None
        """One for each worker that has nothing more to do; helpers of the others take them."""
        self._busy: dict[Connection, tuple[BaseProcess, Job]] = {}
        self._idle: list[tuple[Connection, BaseProcess]] = []

    def run(self, jobs: Iterator[Job]) -> Iterator[Told]:
        """Everything that is told, in the order in which it happens; a job is taken when it can begin."""
        places = self._places = self._context.Semaphore(0)
        is_more, left = True, 0
        while is_more or self._busy:
            while is_more and len(self._busy) < self._count:
                if (job := next(jobs, None)) is None:
                    is_more = False
                else:
                    self.begin(job)
            while not is_more and left < self._count - len(self._busy):
                places.release()
                left += 1
            yield from self.hear()

    @property
    def busy(self) -> dict[int, int]:
        """The jobs that are under way, by number, with the process that is at work."""
        return {job.number: process.pid or 0 for process, job in self._busy.values()}

    def hear(self, *, seconds: float | None = None) -> Iterator[Told]:
        """What is told next; nothing where nobody says anything for so long."""
        for connection in wait(list(self._busy), timeout=seconds):
            assert isinstance(connection, Connection)
            yield self._hear(connection)

    def kill(self, number: int) -> None:
        """Ends a worker by force; it is lost, and so is told."""
        for process, job in self._busy.values():
            if job.number == number:
                process.kill()

    def stop(self) -> Iterator[Told]:
        """Ends all work as Ctrl-C does; what was found so far is told and saved."""
        for process, _ in self._busy.values():
            process.terminate()
        while self._busy:
            told = list(self.hear(seconds=_SECONDS_TO_END))
            if not told:
                break
            yield from told

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends all workers, those that are at work by force, and waits for that."""
        for connection, process in [*self._idle, *((c, p) for c, (p, _) in self._busy.items())]:
            connection.close()  # an idle worker ends when nobody can ask it any more
            if connection in self._busy:
                process.kill()
            process.join(_SECONDS_TO_END)
            if process.is_alive():
                process.kill()
                process.join()

    def begin(self, job: Job) -> None:
        """Gives a job to a worker that is free, or to a new one."""
        connection, process = self._idle.pop() if self._idle else self._start()
        self._busy[connection] = process, job
        with contextlib.suppress(BrokenPipeError):  # it died meanwhile: `_hear` notices
            connection.send(job)

    def _start(self) -> tuple[Connection, BaseProcess]:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, self._places), daemon=True)
        process.start()
        theirs.close()
        return ours, process

    def _hear(self, connection: Connection) -> Told:
        process, job = self._busy[connection]
        try:
            told: Told = connection.recv()
        except (EOFError, OSError):
            del self._busy[connection]
            connection.close()
            process.join()
            return Told(job.number, is_done=True, error=_how_it_died(process.exitcode), is_lost=True)
        if told.is_done:
            del self._busy[connection]
            self._served[connection] += 1
            if self._served[connection] == self._most_jobs:
                connection.close()  # it ends when nobody can ask it any more
                del self._served[connection]
            else:
                self._idle.append((connection, process))
        return told


def _how_it_died(code: int | None) -> str:
    if code is not None and code < 0:
        said = f"was killed by signal {-code}" + (" (out of memory?)" if code == -signal.SIGKILL else "")
    else:
        said = f"ended with exit code {code}"
    return f"the process that tested it {said}; its record can be continued with --resume"


def _work(connection: Connection, places: Places | None) -> None:
    """The life of a worker. Ctrl-C goes to the whole group; only the parent says when to end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _interrupt)
    die_with_parent()  # a parent that is killed cannot end its workers
    parent = multiprocessing.parent_process()
    if parent is not None and os.getppid() != parent.pid:  # it was killed before
        return
    with contextlib.suppress(KeyboardInterrupt, EOFError, BrokenPipeError):
        while True:
            job: Job = connection.recv()
            connection.send(run_job(job, connection.send, places=places if job.is_sharing else None))


def run_job(job: Job, tell: Callable[[Told], None], *, places: Places | None = None) -> Told:
    """Tests a problem; what is told at last says how it ended. Helpers wait for `places`, where there are any."""
    number = job.number
    try:
        record, resume = open_record(job.record, is_free=job.is_free, resume=job.resume)
    except MisstepError as error:
        return Told(number, is_done=True, error=str(error))
    tell(Told(number, path=record.path))
    session = Session(job.config, record=record, resume=resume, jobs=job.jobs, places=places)
    try:
        if job.known:
            asked, session.task, session.config = ask_again(session.config, job.known)
            tell(Told(number, asked=tuple(asked)))
        for event in session.events():
            tell(Told(number, event))
    except MisstepError as error:
        # A record that a test does not go on with takes no word more; whoever asked is told all the same.
        with contextlib.suppress(MisstepError):
            session.fail(error)
        return Told(number, session.tally.finished, is_done=True, error=str(error))
    except KeyboardInterrupt:
        if session.tally.started is None:
            record.discard()
        return Told(number, session.tally.finished, is_done=True)
    finally:
        record.close()
    return Told(number, is_done=True)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
    raise KeyboardInterrupt
