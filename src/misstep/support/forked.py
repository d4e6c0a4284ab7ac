"""Work on many items in copies of this process, which know all that it knows; the results come in order."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

Result = TypeVar("Result")

# Items that a copy takes at a time: talking about each would take longer than many a check.
_AT_A_TIME = 16
_work: Callable[[int], Any] | None = None
"""What the copies do; they inherit it, since a closure cannot be sent to them."""


def in_order(
    work: Callable[[int], Result], size: int, *, jobs: int, at_a_time: int = _AT_A_TIME
) -> Iterator[Result]:
    """The results of `work` for the numbers below `size`, from so many processes.

    Each takes `at_a_time` numbers before it asks for more: few where one may take long. The work must not need
    threads of this process, nor change what others look at: copies keep to themselves what they learn.
    """
    if jobs <= 1 or size <= at_a_time:
        yield from map(work, range(size))
        return
    global _work
    _work = work
    chunk = max(1, min(at_a_time, size // jobs))
    try:
        # A copy that has just begun would take the end of the pool for our own signal, and may forget it.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        try:
            copies = multiprocessing.get_context("fork").Pool(jobs, _begin)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        with copies as pool:
            yield from pool.imap(_call, range(size), chunksize=chunk)
    finally:
        _work = None


def _begin() -> None:
    """The pool ends its copies with SIGTERM. Ctrl-C goes to all of them, but only the first process decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])


def _call(number: int) -> Any:
    if _work is None:
        raise RuntimeError("there is no work; it is set before the fork")
    return _work(number)
