"""The keeper: a small process between misstep and a policy's process, so that nothing is left behind.

It forks the policy's process, and forks it again where that ended; it reads what the process prints, counts
its children and its memory, and ends all of them when misstep says so or is gone, however it went.
"""

import contextlib
import json
import os
import pickle
import select
import signal
import socket
import sys
from dataclasses import dataclass, field

from misstep.isolation.frames import Closed, Connection
from misstep.isolation.service import Service
from misstep.isolation.worker import live
from misstep.support.census import adopt_orphans, descendants, end_descendants, own_bytes, running_total

OPEN, AGAIN, KILL, WORDS, BEGUN, ENDED = b"o", b"n", b"k", b"w", b"b", b"e"
_LOOK_SECONDS, _LOOK_CLOSELY_SECONDS = 0.1, 0.01
"""Between two looks at the processes; closely where they have taken half of the memory that they may."""
_MOST_PROCESSES = 200
_KEPT_WORDS = 2000


@dataclass(slots=True)
class _Child:
    """The policy's process, its output, and how many processes the machine had when it began."""

    pid: int
    output: int
    others: int | None
    reason: str | None = None
    """Why we end it."""
    words: bytes = b""
    """The last that it printed."""


@dataclass(slots=True)
class Keeper:
    """The loop of the keeper."""

    control: Connection
    parent: int
    service: Service | None = None
    memory_mb: float | None = None
    child: _Child | None = None
    _is_large: bool = False
    """Whether more than half of the memory was taken at the last look."""
    _wake: tuple[int, int] = field(default_factory=os.pipe)

    def run(self) -> None:
        """Keeps until misstep is gone."""
        for end in self._wake:
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._wake[1], warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        try:
            while os.getppid() == self.parent:
                self._turn()
        except Closed:
            pass
        finally:
            end_descendants(os.getpid(), group=None if self.child is None else self.child.pid)

    def _turn(self) -> None:
        watched = [self.control.fileno(), self._wake[0]]
        if self.child is not None:
            watched.append(self.child.output)
        pause = _LOOK_CLOSELY_SECONDS if self._is_large else _LOOK_SECONDS
        ready, _, _ = select.select(watched, [], [], pause)
        if self._wake[0] in ready:
            os.read(self._wake[0], 512)
        if self.control.fileno() in ready:
            # All that came: `select` does not know of a second frame that one look at the socket took in.
            while (frame := self.control.receive(seconds=0)) is not None:
                self._obey(*frame)
        if self.child is not None:
            self._listen(self.child)
            self._look(self.child)
            self._reap(self.child)

    def _obey(self, kind: bytes, data: bytes) -> None:
        if kind == OPEN:
            sys.path[:], self.memory_mb, service = pickle.loads(data)
            self.service = pickle.loads(service)
        if kind in (OPEN, AGAIN):
            self._fork()
        elif kind == KILL and self.child is not None:
            self.child.reason = json.loads(data)
            end_descendants(os.getpid(), group=self.child.pid)
        elif kind == WORDS:
            if self.child is not None:
                self._listen(self.child)
            words = b"" if self.child is None else self.child.words
            self.control.send(WORDS, json.dumps(words.decode(errors="replace")).encode())

    def _fork(self) -> None:
        assert self.service is not None, "nothing was opened"
        ours, theirs = socket.socketpair()
        output, words = os.pipe()
        others = running_total()
        pid = os.fork()
        if pid == 0:
            self.control.close()
            ours.close()
            os.close(output)
            live(self.service, theirs, words)
        os.close(words)
        theirs.close()
        os.set_blocking(output, False)
        self.child = _Child(pid, output, others)
        self.control.send_with(BEGUN, json.dumps(pid).encode(), ours.fileno())
        ours.close()

    def _listen(self, child: _Child) -> None:
        """Reads what was printed; the last of it is kept for the message where the process ends."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(child.output, 1 << 16):
                child.words = (child.words + data)[-_KEPT_WORDS:]

    def _look(self, child: _Child) -> None:
        if child.reason is not None:
            return
        now = running_total()
        crowded = now is None or child.others is None or now > child.others + _MOST_PROCESSES // 2
        if crowded and len(descendants(os.getpid())) > _MOST_PROCESSES:
            child.reason = f"it started more than {_MOST_PROCESSES} processes"
        elif self.memory_mb is not None:
            taken = self._memory()
            self._is_large = taken > self.memory_mb * 5e5
            if taken > self.memory_mb * 1e6:
                child.reason = f"it took more than {self.memory_mb:g} MB of memory"
        if child.reason is not None:
            end_descendants(os.getpid(), group=child.pid)

    def _memory(self) -> int:
        """Of all descendants; what they share with the keeper is not theirs."""
        return max(0, sum(map(own_bytes, descendants(os.getpid()))) - own_bytes(os.getpid()))

    def _reap(self, child: _Child) -> None:
        """Waits for whoever ended; where it is the policy's process, all that it started is ended."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == child.pid:
                self._say_ended(child, os.waitstatus_to_exitcode(status))
                return

    def _say_ended(self, child: _Child, exit_code: int) -> None:
        end_descendants(os.getpid(), group=child.pid)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        self._listen(child)
        os.close(child.output)
        self.child = None
        words = child.words.decode(errors="replace")
        about = {"exit_code": exit_code, "reason": child.reason, "words": words}
        self.control.send(ENDED, json.dumps(about).encode())


def main() -> None:
    """The program; its arguments are a socket's descriptor and the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    sock = socket.socket(fileno=int(sys.argv[1]))
    Keeper(Connection(sock), int(sys.argv[2])).run()
    # Misstep may be waiting for our end; taking the interpreter apart would take longer than all that we did.
    sys.stderr.flush()
    os._exit(0)
