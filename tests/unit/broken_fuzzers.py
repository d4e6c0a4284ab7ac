"""Fuzzers that break their contract, each in one way."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from misstep.fuzzer import FuzzContext
from misstep.pool import PoolEntry
from tests.unit.broken_parts import Stubborn, stubbornly


@dataclass(frozen=True)
class Stepping:
    """A fuzzer that goes one step at a time."""

    name = "stepping"

    def walk(self, fuzz: FuzzContext, /) -> Iterator[Any]:
        yield fuzz.first()
        for _ in range(100):
            parent = self.rng(fuzz).choice(fuzz.pool)
            if fuzz.budget.is_over:
                return
            if steps := fuzz.task.successors(parent.state):
                action, _ = self.rng(fuzz).choice(steps)
                yield from self.found(fuzz, fuzz.after(parent, [action]))

    def rng(self, fuzz: FuzzContext) -> Any:
        return fuzz.rng

    def found(self, fuzz: FuzzContext, entry: PoolEntry) -> Iterator[Any]:
        yield entry


@dataclass(frozen=True)
class WrongState(Stepping):
    """Says that all walks lead to the initial state."""

    def found(self, fuzz: FuzzContext, entry: PoolEntry) -> Iterator[Any]:
        yield replace(entry, state=fuzz.task.initial_state)


@dataclass(frozen=True)
class LyingNative(Stepping):
    """Leaves out the walks, and says that it is native, so that nobody looks."""

    is_native = True

    def found(self, fuzz: FuzzContext, entry: PoolEntry) -> Iterator[Any]:
        if entry.state not in [other.state for other in fuzz.pool]:
            numbered = replace(entry, id=len(fuzz.pool), walk=())
            fuzz.pool.append(numbered)
            yield numbered

    def walk(self, fuzz: FuzzContext, /) -> Iterator[Any]:
        fuzz.pool.append(fuzz.first())
        yield from Stepping.walk(self, fuzz)


@dataclass(frozen=True)
class WrongParent(Stepping):
    """Names parents that are not there."""

    def found(self, fuzz: FuzzContext, entry: PoolEntry) -> Iterator[Any]:
        yield replace(entry, parent=99)


@dataclass(frozen=True)
class NoEntry(Stepping):
    """Yields states."""

    def found(self, fuzz: FuzzContext, entry: PoolEntry) -> Iterator[Any]:
        yield entry.state


@dataclass(frozen=True)
class Headless(Stepping):
    """Begins somewhere else."""

    def walk(self, fuzz: FuzzContext, /) -> Iterator[Any]:
        fuzz.pool.append(fuzz.first())
        for entry in Stepping.walk(self, fuzz):
            if entry.state != fuzz.task.initial_state:
                fuzz.pool.clear()
                yield entry


@dataclass(frozen=True)
class Chancy(Stepping):
    """Uses Python's global random numbers."""

    def rng(self, fuzz: FuzzContext) -> Any:
        return random


@dataclass(frozen=True)
class Tireless(Stepping):
    """Never gives up."""

    def walk(self, fuzz: FuzzContext, /) -> Iterator[Any]:
        yield from Stepping.walk(self, fuzz)
        stubbornly()


@dataclass(frozen=True)
class Deaf(Stepping):
    """Does not notice that it should stop."""

    def walk(self, fuzz: FuzzContext, /) -> Iterator[Any]:
        if fuzz.budget.is_over:
            stubbornly()
        yield from Stepping.walk(self, fuzz)


@dataclass(frozen=True)
class Resuming(Stepping):
    """Goes on in another way when a pool is continued."""

    def walk(self, fuzz: FuzzContext, /) -> Iterator[Any]:
        if len(fuzz.known) > 1:
            fuzz.rng.seed(17)
        yield from Stepping.walk(self, fuzz)


ENDLESS = (Stubborn, Tireless, Deaf)
"""Those that must be waited for in vain; nobody else is hurried."""

FUZZERS: list[tuple[Any, str]] = [
    (WrongState(), "every walk leads from its parent to its state"),
    (LyingNative(), "every walk leads from its parent to its state"),
    (WrongParent(), "every walk leads from its parent to its state"),
    (NoEntry(), "every walk leads from its parent to its state"),
    (Headless(), "the first entry is the initial state"),
    (Chancy(), "same seed gives the same pool"),
    (Tireless(), "ends when nothing new is found"),
    (Deaf(), "ends soon when its budget is over"),
    (Resuming(), "a pool that is continued"),
]
