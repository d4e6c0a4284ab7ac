"""Samples: small random tasks with exact answers, and policies on them."""

import functools
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from misstep._core import Action, State, StateBatch
from misstep.reference import fdr
from misstep.task import Task
from misstep.testing import exhaustive
from misstep.testing.random_tasks import random_task, to_sas

_STATES_OF_A_SAMPLE = 5
_MOST_STATES = 20_000


@dataclass(frozen=True)
class Sample:
    """A task in both representations, with a few of its reachable states; the initial one comes first."""

    seed: int
    reference: fdr.Task
    reachable: dict[fdr.State, int]

    @functools.cached_property
    def sas(self) -> str:
        """The text of the task."""
        return to_sas(self.reference)

    @functools.cached_property
    def task(self) -> Task:
        """The task as parts see it."""
        return Task(self.sas, source=f"random task {self.seed}")

    @functools.cached_property
    def states(self) -> list[State]:
        """A few reachable states."""
        rest = list(self.reachable)[1:]
        chosen = random.Random(self.seed).sample(rest, min(_STATES_OF_A_SAMPLE - 1, len(rest)))
        return [self.task.state_from_values(values) for values in [self.reference.initial, *chosen]]

    def best_cost(self, state: State) -> float | None:
        """The exact cost of a cheapest plan; None where too many states can be reached to look at all."""
        values = tuple(state.values)
        if values in self._exact:
            return self._exact[values]
        try:  # not reachable from the initial state
            there = exhaustive.depths(self.reference, values, limit=_MOST_STATES)
        except OverflowError:
            return None
        return exhaustive.exact_costs(self.reference, there)[values]

    @functools.cached_property
    def _exact(self) -> dict[fdr.State, float]:
        return exhaustive.exact_costs(self.reference, self.reachable)


def samples(count: int, seed: int) -> Iterator[Sample]:
    """Random tasks with numbers from `seed` on."""
    for number in range(seed, seed + count):
        task = _with_clear_names(random_task(random.Random(number)))
        yield Sample(number, task, exhaustive.depths(task, task.initial))


@dataclass(frozen=True)
class SamplePolicy:
    """A policy that goes anywhere: a choice among the applicable actions that depends on the state alone."""

    task: Task
    seed: int

    def __call__(self, states: StateBatch, /) -> list[Action | None]:
        """One answer for each state."""
        return [self._choose(state) for state in states]

    def _choose(self, state: State) -> Action | None:
        actions = self.task.applicable(state)
        rng = random.Random(f"{self.seed} {list(state.values)}")
        return rng.choice(actions) if actions and rng.random() < 0.95 else None


def _with_clear_names(task: fdr.Task) -> fdr.Task:
    """Random tasks have different actions of one name, which certificates cannot tell apart."""
    actions = tuple(
        replace(action, name=f"{action.name[:-1]} {number})") for number, action in enumerate(task.actions)
    )
    return replace(task, actions=actions)
