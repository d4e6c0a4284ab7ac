"""Fuzzing: pools of test states from biased random walks that start in the initial state."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from misstep._core import Budget, NativeFuzzer, PolicyGraph
from misstep.errors import InputError
from misstep.plugins import option
from misstep.pool import PoolEntry

# Native work is done in slices, between which what was found is reported and saved.
_SLICE_SECONDS = 0.1
_SLICE_STATES = 10_000


@dataclass(frozen=True)
class Refined:
    """Algorithm 1 of Eisenhut et al. (2024): successors weighted by a bias over partial policy runs."""

    name = "refined"
    max_walk: int = option(5, "L: the longest walk")
    state_budget: int = option(50, "B_state: policy steps of one partial run")
    expansion_budget: int = option(200, "B_expansion: policy steps for all successors of one state")
    novelty: int = option(0, "D: only states with a new fact (1) or pair of facts (2); 0 takes all")
    max_star_expansions: int = option(100_000, "of one exact search of a bias with h=star")
    max_idle_walks: int = option(20_000, "walks in a row without a new state that end the fuzzing")


@dataclass(frozen=True)
class Classic:
    """Algorithm 1 of Steinmetz et al. (2022): weights by whole runs, failing states to the pool, novelty."""

    name = "classic"
    max_walk: int = option(5, "L: the longest walk")
    max_steps: int = option(1000, "policy steps of one run")
    novelty: int = option(2, "D: only states with a new fact (1) or pair of facts (2); 0 takes all")
    max_idle_walks: int = option(20_000, "walks in a row without a new state that end the fuzzing")


FuzzerPart: TypeAlias = Refined | Classic


class BiasPart(Protocol):
    """What the fuzzer wants to know of a bias: its native name and its distances."""

    @property
    def name(self) -> str:
        """How the native fuzzer calls it."""
        ...

    @property
    def h(self) -> str:
        """`ff` or `star`."""
        ...


@dataclass(frozen=True, slots=True)
class FuzzProgress:
    """Where fuzzing is; given to `on_progress` after each slice of work."""

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
    fuzzer: FuzzerPart
    bias: BiasPart
    seed: int = 0
    size: int = 100
    budget: Budget = field(default_factory=Budget)
    on_progress: Callable[[FuzzProgress], None] | None = None
    known: Sequence[PoolEntry] = ()
    """Entries of an earlier session with the same settings, to be continued."""
    stopped: str = "full"
    bound_hit: bool = False

    def __iter__(self) -> Iterator[PoolEntry]:
        native = self._native()
        restored = self._restore(native)
        yield from self.known[:restored]
        reported = restored
        start = time.perf_counter()
        slice_seconds = _SLICE_SECONDS
        self.stopped = "full"
        while True:
            # The initial state is an entry like the others.
            while reported < min(len(native), self.size):
                yield _entry(native, reported)
                reported += 1
            self.bound_hit = native.bound_hit
            if self.on_progress is not None:
                self.on_progress(self._progress(native, time.perf_counter() - start))
            if reported >= self.size:
                return
            if (over := self.budget.over) is not None:
                self.stopped = over
                return
            goal, walks = min(self.size, len(native) + _SLICE_STATES), native.walks
            reason = native.extend(goal, budget=self.budget.part(seconds=slice_seconds))
            # A walk that does not end within a slice is taken back, so the next slice must be longer.
            slice_seconds = _SLICE_SECONDS if native.walks > walks else 2 * slice_seconds
            if reason not in ("full", "seconds"):
                self.stopped = reason
                for at in range(reported, min(len(native), self.size)):
                    yield _entry(native, at)
                return

    def _native(self) -> NativeFuzzer:
        part = self.fuzzer
        return NativeFuzzer(
            self.graph,
            kind=part.name,
            bias=self.bias.name,
            distance=self.bias.h,
            max_walk=part.max_walk,
            state_budget=50 if isinstance(part, Classic) else part.state_budget,
            expansion_budget=200 if isinstance(part, Classic) else part.expansion_budget,
            max_steps=part.max_steps if isinstance(part, Classic) else 1000,
            novelty=part.novelty,
            max_star_expansions=0 if isinstance(part, Classic) else part.max_star_expansions,
            max_idle_walks=part.max_idle_walks,
            seed=self.seed,
        )

    def _restore(self, native: NativeFuzzer) -> int:
        """Adds the known entries but those of the last walk, which may be incomplete: it is walked again."""
        if not self.known:
            return 0
        last = self.known[-1].rng
        complete = [entry for entry in self.known if entry.rng != last]
        for entry in complete[1:]:
            if entry.parent is None or entry.rng is None:
                raise InputError(f"pool entry {entry.id} has no origin, so the pool cannot be continued")
            if not native.restore(entry.parent, list(entry.walk), entry.rng):
                raise InputError(
                    f"pool entry {entry.id} is not what its walk leads to: wrong task or damaged"
                )
        return max(len(complete), 1)

    def _progress(self, native: NativeFuzzer, seconds: float) -> FuzzProgress:
        known, solved = native.known_outcomes
        return FuzzProgress(
            pool=min(len(native), self.size),
            size=self.size,
            walks=native.walks,
            states_asked=self.graph.states_asked,
            policy_seconds=self.graph.policy_seconds,
            known=known,
            solved=solved,
            seconds=seconds,
        )


def _entry(native: NativeFuzzer, index: int) -> PoolEntry:
    state, parent, walk, rng = native.entry(index)
    return PoolEntry(id=index, state=state, parent=parent, walk=tuple(walk), rng=rng)
