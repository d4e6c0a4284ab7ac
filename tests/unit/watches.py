"""Watches that ring at a chosen moment, as limits on time and memory do."""

from collections.abc import Iterator
from contextlib import contextmanager

from misstep.budget import Watch
from misstep.errors import LimitReached


def rings_at(turn: int, *, inside: bool = False) -> Watch:
    """Rings at the end of the work of a turn, counted from 0, or `inside` before any of it; then always."""
    turns = iter(range(10**9))

    @contextmanager
    def watch() -> Iterator[None]:
        now = next(turns)
        if inside and now >= turn:
            raise LimitReached("the memory is full", "memory")
        yield
        if now >= turn:
            raise LimitReached("the memory is full", "memory")

    return watch
