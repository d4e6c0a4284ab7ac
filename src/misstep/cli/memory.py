"""A memory limit for commands that are no test: a thread looks at the size of all processes."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

from misstep.errors import LimitReached
from misstep.support.census import descendants, own_bytes

_LOOK_SECONDS = 0.05


@contextlib.contextmanager
def memory_limit(memory_mb: int | None) -> Iterator[None]:
    """Raises LimitReached in whatever is done meanwhile once this process has grown by so much.

    The same holds for each process that it started, compared with what this one had at the beginning.
    """
    if memory_mb is None:
        yield
        return
    most = own_bytes(os.getpid()) + memory_mb * 1_000_000
    is_over, main = threading.Event(), threading.main_thread().ident
    before = signal.signal(signal.SIGUSR2, _complain)

    def watch() -> None:
        while not is_over.wait(_LOOK_SECONDS):
            family = [os.getpid(), *descendants(os.getpid())]
            if max(map(own_bytes, family)) > most and main is not None:
                signal.pthread_kill(main, signal.SIGUSR2)
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()
        signal.signal(signal.SIGUSR2, before)


def _complain(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise LimitReached("the memory was used up before there was a result; allow more --memory-mb", "memory")
