"""Fuzzers: parts that make pools of test states by walks from states that are in the pool already."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from misstep._core import Action, Budget, PolicyGraph, State
from misstep.bias import BoundBias, NativeBias, score_run
from misstep.pool import PoolEntry
from misstep.task import Task


@dataclass(slots=True, kw_only=True)
class FuzzContext:
    """What a fuzzer works with, and where it says how things are going."""

    task: Task
    graph: PolicyGraph
    """The policy's runs; each state is asked once."""
    bias: NativeBias | BoundBias
    seed: int
    size: int
    """How many states are wanted; what comes after them is not looked at."""
    budget: Budget
    known: Sequence[PoolEntry] = ()
    """Entries of an earlier session with the same settings, which must be the first ones again.

    A fuzzer may use them to go on where that session stopped, or ignore them and walk again from the seed.
    """
    pool: list[PoolEntry] = field(default_factory=list)
    """The entries that were yielded so far and are in the pool, without duplicates; `id` is the position."""
    stopped: str | None = None
    """Why the fuzzer ends before the pool is full; `exhausted` where it does not say."""
    bound_hit: bool = False
    """Whether the bias had to make do with lower bounds of exact distances."""
    walks: int = 0
    """Walks so far, for whoever shows progress."""
    known_outcomes: Callable[[], tuple[int, int]] = lambda: (0, 0)
    """How many pool states have a run that is known, and how many of these are solved; for progress, too."""
    show: Callable[[], None] = lambda: None
    """Shows progress; called by misstep after every state, and by fuzzers that find none for a while."""
    rng: random.Random = field(init=False)
    """The only source of randomness that a fuzzer may use, seeded with `seed`."""

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def first(self) -> PoolEntry:
        """The initial state as an entry: what every pool starts with."""
        return PoolEntry(id=0, state=self.task.initial_state)

    def after(self, parent: PoolEntry, walk: Iterable[Action]) -> PoolEntry:
        """The entry that a walk from an entry leads to; InputError where an action does not apply."""
        actions, state = tuple(walk), parent.state
        for action in actions:
            state = self.task.apply(state, action)
        return PoolEntry(id=len(self.pool), state=state, parent=parent.id, walk=actions)

    def score(self, states: Sequence[State], *, max_steps: int = 50) -> list[float]:
        """How promising states are by the bias: infinitely where the policy surely never reaches the goal.

        Where the policy makes no step, in a goal state for instance, there is nothing to weigh: 0. Fewer
        numbers than states mean that the budget is used up.
        """
        runs = self.graph.run(self.task.batch(list(states)), max_steps=max_steps, budget=self.budget)
        scores = []
        for run in runs:
            if run.outcome not in ("solved", "cut-off", "failed"):
                scores.append(float("inf"))
            else:
                scores.append(0.0 if run.steps == 0 else score_run(self.bias, run))
        return scores


class Fuzzer(Protocol):
    """A part that makes pools. The same context must always give the same entries.

    It ends when the budget is over, and also when nothing new can be found any more, so it has to count walks
    in vain. A fuzzer whose entries need no check, because the native core made them, has `is_native` True.
    `usual_pool` and `usual_bias` say how many states and which bias it takes where nothing is asked for.
    """

    @property
    def name(self) -> str:
        """As users type it."""
        ...

    def walk(self, fuzz: FuzzContext, /) -> Iterable[PoolEntry]:
        """Entries one by one, the initial state first, the others by walks from entries of `fuzz.pool`.

        misstep numbers them, replays each walk and leaves states out that are in the pool already.
        """
        ...
