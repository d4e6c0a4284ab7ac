"""Fuzzing sessions: a fuzzer at work on a policy, with what it finds checked, numbered and compared."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

from misstep._core import Budget, PolicyGraph, State
from misstep.bias import Bias, NativeBias, bind_bias
from misstep.errors import InputError, MisstepError, PartError
from misstep.fuzzer import FuzzContext, Fuzzer
from misstep.plugins import blaming, part_label, require
from misstep.pool import PoolEntry
from misstep.task import Task

# How often progress is shown while a fuzzer yields entries one by one.
_SECONDS_BETWEEN_SHOWS = 0.1


@dataclass(frozen=True, slots=True)
class FuzzProgress:
    """Where fuzzing is; given to `on_progress` now and then."""

    pool: int
    size: int
    walks: int
    states_asked: int
    policy_seconds: float
    known: int
    """Pool states of which the policy's run is known, because the bias looked at it."""
    solved: int
    seconds: float


@dataclass(slots=True)
class Fuzz:
    """One fuzzing session on a policy graph; iterate over it to get pool entries as they are found,
    the known ones first.

    The same seed gives the same pool, whatever the budgets were and however often it was continued. After the
    iteration `stopped` says why it ended: `full`, `exhausted` (nothing new was found for long), or the limit
    that was hit; `bound_hit` whether an exact distance was replaced by a lower bound on the way.
    """

    graph: PolicyGraph
    fuzzer: Fuzzer
    bias: Bias | NativeBias
    seed: int = 0
    size: int = 100
    budget: Budget = field(default_factory=Budget)
    on_progress: Callable[[FuzzProgress], None] | None = None
    known: Sequence[PoolEntry] = ()
    """Entries of an earlier session with the same settings, to be continued."""
    stopped: str = "full"
    bound_hit: bool = False
    _found: int = 0
    _start: float = 0.0

    def __iter__(self) -> Iterator[PoolEntry]:
        self.stopped, self._found, self._start = "full", 0, time.perf_counter()
        task = cast(Task, self.graph.task)
        fuzz = FuzzContext(
            task=task,
            graph=self.graph,
            bias=bind_bias(self.bias, task),
            seed=self.seed,
            size=self.size,
            budget=self.budget,
            known=self.known,
        )
        fuzz.show = partial(self._show, fuzz)
        # What the native core made needs no check and is not kept here: pools may be very large.
        is_native = getattr(self.fuzzer, "is_native", False)
        entries = self.fuzzer.walk(fuzz) if is_native else self._checked(fuzz)
        for entry in entries:
            if self._found < len(self.known):
                self._compare(entry)
            self._found += 1
            self.bound_hit = fuzz.bound_hit
            yield entry
            if self._found >= self.size:
                fuzz.show()
                return
        self.bound_hit = fuzz.bound_hit
        self.stopped = fuzz.stopped or self.budget.over or "exhausted"

    def _checked(self, fuzz: FuzzContext) -> Iterator[PoolEntry]:
        """What somebody else's fuzzer says, replayed, numbered and without duplicates."""
        seen: set[State] = set()
        shown = time.perf_counter()
        for given in self._given(fuzz):
            entry = self._replayed(fuzz, given)
            if entry.state not in seen:
                seen.add(entry.state)
                fuzz.pool.append(entry)
                yield entry
            if (now := time.perf_counter()) > shown + _SECONDS_BETWEEN_SHOWS:
                shown = now
                fuzz.show()
            if (over := self.budget.over) is not None:
                fuzz.stopped = over
                return

    def _given(self, fuzz: FuzzContext) -> Iterator[object]:
        """The entries as they come; an error in between is the part's."""
        require("fuzzer", self.fuzzer, "name", "walk")
        with blaming("fuzzer", self.fuzzer, f"it made a pool with seed {self.seed}"):
            yield from self.fuzzer.walk(fuzz)

    def _replayed(self, fuzz: FuzzContext, given: object) -> PoolEntry:
        """The entry with its number; PartError where its walk does not lead to it."""
        at = len(fuzz.pool)
        if not isinstance(given, PoolEntry):
            raise PartError(
                f"{self._label} yielded {given!r:.80}, which is no PoolEntry; `fuzz.after` makes one"
            )
        if at == 0:
            if given.state != fuzz.task.initial_state:
                raise PartError(
                    f"{self._label} began with {given.state}; the first entry must be the initial state: "
                    "yield `fuzz.first()`"
                )
            return fuzz.first()
        if given.parent is None and given.state == fuzz.task.initial_state:
            return given  # a duplicate
        if given.parent is None or not 0 <= given.parent < at:
            raise PartError(
                f"{self._label} gave entry {at} the parent {given.parent}, but the pool has the entries 0 to "
                f"{at - 1}"
            )
        try:
            there = fuzz.after(fuzz.pool[given.parent], given.walk)
        except MisstepError as error:
            raise PartError(
                f"{self._label}: the walk of entry {at} cannot be walked from entry {given.parent}: {error}"
            ) from None
        if there.state != given.state:
            raise PartError(
                f"{self._label}: the walk of entry {at} leads from entry {given.parent} to {there.state}, "
                f"not to {given.state}"
            )
        return replace(given, id=at)

    def _compare(self, entry: PoolEntry) -> None:
        """A session that goes on with a pool must find what is in it."""
        if self.known[self._found].state != entry.state:
            raise InputError(
                f"{self._label}: entry {self._found} of the pool that is continued is "
                f"{self.known[self._found].state}, but now it is {entry.state}; the task, the policy or the "
                "options are others, or the fuzzer is not deterministic"
            )

    @property
    def _label(self) -> str:
        return part_label("fuzzer", self.fuzzer)

    def _show(self, fuzz: FuzzContext) -> None:
        if self.on_progress is None:
            return
        known, solved = fuzz.known_outcomes()
        self.on_progress(
            FuzzProgress(
                pool=self._found,
                size=self.size,
                walks=fuzz.walks,
                states_asked=self.graph.states_asked,
                policy_seconds=self.graph.policy_seconds,
                known=known,
                solved=solved,
                seconds=time.perf_counter() - self._start,
            )
        )
