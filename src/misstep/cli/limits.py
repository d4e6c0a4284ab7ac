"""Limits of commands that are no tests: time and memory of all that is done, native work included."""

import os
import signal
import threading
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any

from misstep.cli.timing import left_of
from misstep.errors import LimitReached
from misstep.support.census import descendants, own_bytes

_LOOK_SECONDS = 0.05
_WORDS = {
    "seconds": "the time was up before there was a result; allow more --seconds",
    "memory": "the memory was used up before there was a result; allow more --memory-mb",
}


class _Ring(KeyboardInterrupt):
    """Ends what is done as Ctrl-C does, so that nobody takes it for a failure of a policy, a teacher or a part."""


class Limits:
    """What a command may take. Time counts from the start of the program, memory from when this is made.

    Memory is that of this process beyond what it has now; each process that it starts may take as much as that
    and what this one had at the beginning.
    """

    def __init__(self, *, seconds: float | None, memory_mb: int | None) -> None:
        self.seconds = seconds
        self._most = None if memory_mb is None else own_bytes(os.getpid()) + memory_mb * 1_000_000

    @property
    def seconds_left(self) -> float | None:
        """None without a limit."""
        return left_of(self.seconds)

    def watch(self) -> AbstractContextManager[None]:
        """Raises LimitReached once a limit is reached in what is done meanwhile, at any moment of it.

        It may be used several times in a command, but not inside of itself.
        """
        return _Watch(self.seconds_left, self._most)


class _Watch(AbstractContextManager[None]):
    """Signals end what is done inside; those that come while it begins or ends have nothing to end.

    A context manager made of a generator would not do: a signal between its frames would pass it by.
    """

    def __init__(self, seconds: float | None, most: int | None) -> None:
        self._seconds, self._most = seconds, most
        self._is_inside = False
        self._due: str | None = None
        """A limit that was reached before anything began."""
        self._before: dict[signal.Signals, Any] = {}
        self._is_over = threading.Event()
        self._looker: threading.Thread | None = None

    def __enter__(self) -> None:
        if self._seconds is not None:
            self._before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._ring)
            signal.setitimer(signal.ITIMER_REAL, max(self._seconds, 1e-3))
        if self._most is not None:
            self._before[signal.SIGUSR2] = signal.signal(signal.SIGUSR2, self._ring)
            self._looker = threading.Thread(target=self._look, args=(self._most,), daemon=True)
            self._looker.start()
        self._is_inside = True
        if self._due is not None:
            self._disarm()
            raise LimitReached(_WORDS[self._due], self._due)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: Any) -> None:
        self._disarm()
        if isinstance(error, _Ring):
            limit = str(error)
            raise LimitReached(_WORDS[limit], limit) from None

    def _disarm(self) -> None:
        self._is_inside = False
        if self._seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if self._looker is not None:
            self._is_over.set()
            self._looker.join()
        for name, before in self._before.items():
            signal.signal(name, before)

    def _ring(self, name: int, frame: FrameType | None) -> None:
        limit = "seconds" if name == signal.SIGALRM else "memory"
        ours = (_Watch.__enter__.__code__, _Watch.__exit__.__code__, _Watch._disarm.__code__)
        if self._is_inside and (frame is None or frame.f_code not in ours):
            raise _Ring(limit)
        self._due = limit

    def _look(self, most: int) -> None:
        """Looks at the size of all processes, and ends what the main thread does where one is too large."""
        main = threading.main_thread().ident
        while not self._is_over.wait(_LOOK_SECONDS):
            family = [os.getpid(), *descendants(os.getpid())]
            if max(map(own_bytes, family)) > most and main is not None:
                signal.pthread_kill(main, signal.SIGUSR2)
                return
