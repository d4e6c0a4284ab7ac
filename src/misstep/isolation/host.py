"""The host: starts a keeper, has it run a service in a process of its own, and asks that."""

import contextlib
import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep import errors
from misstep._core import Budget
from misstep.answers.asking import Ended, Overdue, waits
from misstep.errors import LimitReached, PolicyError
from misstep.isolation.frames import Closed, Connection, ControlConnection
from misstep.isolation.keeper import AGAIN, BEGUN, ENDED, KILL, OPEN, WORDS
from misstep.isolation.service import Service
from misstep.isolation.worker import ASK, FAILED
from misstep.support.describe import plain_words

# Finds misstep where we found it, and hides nothing by that.
_PROGRAM = (
    f"import sys; sys.path.append({str(Path(__file__).parents[2])!r}); "
    "from misstep.isolation.keeper import main; main()"
)
# What the keeper takes to start on a busy machine, and to end what it keeps.
_START_SECONDS = 60.0
_END_SECONDS = 10.0


@dataclass(slots=True)
class _Worker:
    """The policy's process as the host knows it."""

    pid: int
    connection: Connection


class Host:
    """A service in a process of its own. The keeper starts at once, so that it is ready when it is needed.

    A process that ended is started again by the next question. `close` ends all of it; so does the end of
    this object, of the program, or of this process by whatever signal.
    """

    def __init__(self) -> None:
        self._keeper: subprocess.Popen[bytes] | None = None
        self._control: ControlConnection | None = None
        self._worker: _Worker | None = None
        self._opened = b""
        self._is_opened = False
        self._finalizer: weakref.finalize[Any, Any] = weakref.finalize(self, _nothing)
        self.starts = 0
        """How often the process was started."""
        self._start_keeper()

    def open(
        self, service: Service, *, memory_mb: float | None = None, budget: Budget | None = None
    ) -> dict[str, Any]:
        """Opens the service; what it says about itself. Raises what opening raises, and LimitReached."""
        self._opened = pickle.dumps((sys.path, memory_mb, pickle.dumps(service)))
        self._is_opened = False
        return self._start_worker(budget)

    def ask(self, question: bytes, *, seconds: float | None, budget: Budget | None) -> bytes:
        """The answer; Ended where the process ended, Overdue where it did not answer and was ended."""
        if self._worker is None:
            self._start_worker(budget)
        assert self._worker is not None
        connection = self._worker.connection
        try:
            # A process that does not read what it is asked is as silent as one that does not answer.
            if connection.send(ASK, question, seconds=seconds):
                for wait in waits(seconds, budget):
                    if (frame := connection.receive(seconds=wait, is_near=True)) is not None:
                        return frame[1]
                    if self._has_ended():
                        raise Closed
        except Closed:
            raise Ended(self._how_it_ended()) from None
        self._end_worker("it gave no answer")
        raise Overdue(is_lost=False)

    def words(self) -> str:
        """The last that the process printed."""
        if self._control is None or self._worker is None:
            return ""
        with contextlib.suppress(Closed):
            self._control.send(WORDS)
            frame = self._control.receive(seconds=_END_SECONDS)
            if frame is not None and frame[0] == WORDS:
                return str(json.loads(frame[1]))
            self._worker = None  # It ended just now.
        return ""

    def hang_up(self) -> None:
        """Lets the process end, and does not wait for it: nobody will ask any more, and `close` follows."""
        if self._control is not None:
            self._control.close()

    def close(self) -> None:
        """Ends the process, whatever it started, and its keeper."""
        self._finalizer()
        self._keeper = self._control = self._worker = None

    def _start_keeper(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            numbers = [str(theirs.fileno()), str(os.getpid())]
            self._keeper = subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, *numbers],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._control = ControlConnection(ours)
        self._is_opened = False
        self._finalizer.detach()
        self._finalizer = weakref.finalize(self, _close, self._control, self._keeper, os.getpid())

    def _start_worker(self, budget: Budget | None) -> dict[str, Any]:
        if self._keeper is None or self._keeper.poll() is not None:
            self._start_keeper()
        assert self._control is not None
        try:
            self._control.send(AGAIN if self._is_opened else OPEN, b"" if self._is_opened else self._opened)
            self._is_opened = True
            self._worker = self._begun(self._control)
            self.starts += 1
            return self._first_word(self._worker, budget)
        except Closed:
            raise PolicyError(
                f"the policy's process ended while the policy was loaded: {self._how_it_ended()}"
            ) from None

    def _begun(self, control: ControlConnection) -> _Worker:
        end = time.monotonic() + _START_SECONDS
        while (frame := control.receive(seconds=max(0.0, end - time.monotonic()))) is not None:
            if frame[0] == BEGUN:
                sock = socket.socket(fileno=control.take_descriptor())
                return _Worker(json.loads(frame[1]), Connection(sock))
        self.close()  # Or what it begins late would be taken for what the next question waits for.
        raise PolicyError(
            f"the policy's process could not be started within {_START_SECONDS:g} seconds; the machine is busy "
            "or ill: try again, or test the policy in misstep's own process (--no-isolate)"
        )

    def _first_word(self, worker: _Worker, budget: Budget | None) -> dict[str, Any]:
        for wait in waits(None, budget or Budget()):
            if (frame := worker.connection.receive(seconds=wait)) is not None:
                said: dict[str, Any] = json.loads(frame[1])
                if frame[0] != FAILED:
                    return said
                self._end_worker("it could not be loaded")
                kind = getattr(errors, said["kind"], PolicyError)
                raise kind(said["text"]) if kind is not LimitReached else PolicyError(said["text"])
            if self._has_ended():
                raise Closed
        self._end_worker("it was not loaded in time")
        limit = "seconds" if budget is None else budget.over or "seconds"
        raise LimitReached("the time was up while the policy was loaded; allow more --seconds", limit)

    def _has_ended(self) -> bool:
        """Whether the keeper says so: the process's children may keep its socket open."""
        assert self._keeper is not None
        return self._keeper.poll() is not None or not _is_alive(self._worker)

    def _how_it_ended(self) -> str:
        told: dict[str, Any] | None = None
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.connection.close()
        if self._control is not None:
            with contextlib.suppress(Closed):
                told = _ended(self._control, _END_SECONDS)
        if told is None:
            self._lose_keeper(worker)
            return "the policy's process is gone, and so is its keeper"
        return _in_words(told)

    def _end_worker(self, why: str) -> None:
        assert self._control is not None
        with contextlib.suppress(Closed):
            self._control.send(KILL, json.dumps(why).encode())
        self._how_it_ended()

    def _lose_keeper(self, worker: _Worker | None) -> None:
        """Somebody killed the keeper: what it kept is ended as far as we know of it."""
        if worker is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(worker.pid, signal.SIGKILL)
        self.close()


def _nothing() -> None:
    """There is nothing to end yet."""


def _is_alive(worker: _Worker | None) -> bool:
    if worker is None:
        return False
    try:
        os.kill(worker.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _ended(control: ControlConnection, seconds: float) -> dict[str, Any] | None:
    """What the keeper says about the end of the process; None where it says nothing."""
    end = time.monotonic() + seconds
    while (frame := control.receive(seconds=max(0.0, end - time.monotonic()))) is not None:
        if frame[0] == ENDED:
            told: dict[str, Any] = json.loads(frame[1])
            return told
    return None


def _in_words(told: dict[str, Any]) -> str:
    code = told["exit_code"]
    if told["reason"] is not None:
        how = f"the policy's process was ended because {told['reason']}"
    elif code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        how = f"the policy's process was killed by {name}"
    else:
        how = f"the policy's process ended with exit code {code}"
    words = plain_words(told["words"])
    return f"{how}; the last that it printed: {words}" if words else how


def _close(control: ControlConnection, keeper: "subprocess.Popen[bytes]", owner: int) -> None:
    """Lets the keeper end all that it keeps: it notices that we hung up."""
    control.close()
    if os.getpid() != owner:  # A fork of ours ends; the keeper is not its child.
        return
    if not _ends_within(keeper, _END_SECONDS):
        keeper.kill()
    keeper.wait()


def _ends_within(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Like waiting with a timeout, but told by the system: Python's way looks again after 8 and after 16 ms."""
    if process.poll() is not None:
        return True
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # Not every system has these.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        return process.poll() is not None
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)
