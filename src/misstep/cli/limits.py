"""Limits of commands that are no tests: time and memory of all that is done, native work included."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

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

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Raises LimitReached once a limit is reached in what is done meanwhile, at any moment of it.

        It may be used several times in a command, but not inside of itself.
        """
        try:
            with _alarm(self.seconds_left), _looks(self._most):
                yield
        except _Ring as ring:
            limit = str(ring)
            raise LimitReached(_WORDS[limit], limit) from None


@contextlib.contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    if seconds is None:
        yield
        return
    before = signal.signal(signal.SIGALRM, _time_is_up)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _looks(most: int | None) -> Iterator[None]:
    """A thread looks at the size of all processes, and ends what the main thread does where one is too large."""
    if most is None:
        yield
        return
    is_over, main = threading.Event(), threading.main_thread().ident
    before = signal.signal(signal.SIGUSR2, _memory_is_full)

    def look() -> None:
        while not is_over.wait(_LOOK_SECONDS):
            family = [os.getpid(), *descendants(os.getpid())]
            if max(map(own_bytes, family)) > most and main is not None:
                signal.pthread_kill(main, signal.SIGUSR2)
                return

    looker = threading.Thread(target=look, daemon=True)
    looker.start()
    try:
        yield
    finally:
        is_over.set()
        looker.join()
        signal.signal(signal.SIGUSR2, before)


def _time_is_up(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise _Ring("seconds")


def _memory_is_full(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise _Ring("memory")
