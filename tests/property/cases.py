"""Numbered random tasks, each with the native task beside the reference one and exact answers."""

from __future__ import annotations

import functools
import os
import random
from dataclasses import dataclass, replace

from misstep import _core as core
from misstep.reference import fdr
from misstep.task import Task
from misstep.testing import exhaustive
from misstep.testing.random_tasks import random_task, to_sas

# `make fuzz` sets a fresh first seed and a larger number of tasks.
FUZZING = "MISSTEP_RANDOM_SEED" in os.environ
FIRST_SEED = int(os.environ.get("MISSTEP_RANDOM_SEED", "0"))
NUM_TASKS = int(os.environ.get("MISSTEP_RANDOM_TASKS", "2000"))
CHUNK = 100
CHUNKS = [
    range(s, min(s + CHUNK, FIRST_SEED + NUM_TASKS)) for s in range(FIRST_SEED, FIRST_SEED + NUM_TASKS, CHUNK)
]


@dataclass(frozen=True)
class Case:
    """A task in both representations with a few of its reachable states; the initial one comes first."""

    reference: fdr.Task
    native: Task
    depths: dict[fdr.State, int]
    sample: list[fdr.State]
    seed: int

    @functools.cached_property
    def exact(self) -> dict[fdr.State, float]:
        return exhaustive.exact_costs(self.reference, self.depths)

    @functools.cached_property
    def rng(self) -> random.Random:
        return random.Random(f"checks {self.seed}")

    def retargeted(self, goal: fdr.Facts) -> Task:
        """The native task with another goal."""
        task = self.reference
        return Task(to_sas(fdr.Task(task.facts, task.initial, goal, task.actions)))

    def state(self, values: fdr.State) -> core.State:
        return self.native.state_from_values(values)

    def heuristic(self, name: str) -> core.Heuristic:
        return core.Heuristic(self.native, name)

    def batch(self, states: list[fdr.State]) -> core.StateBatch:
        return self.native.batch([self.state(s) for s in states])


def case_of(task: fdr.Task, *, seed: int = 0, size: int = 6) -> Case:
    reached = exhaustive.depths(task, task.initial)
    rest = list(reached)[1:]
    sample = [task.initial, *random.Random(seed).sample(rest, min(size - 1, len(rest)))]
    native = Task(to_sas(task))
    # Different actions of one name are told apart when a task is loaded.
    clear = tuple(
        replace(action, name=known.name) for action, known in zip(task.actions, native.actions, strict=True)
    )
    return Case(replace(task, actions=clear), native, reached, sample, seed)


@functools.lru_cache(maxsize=2 * CHUNK)
def numbered(seed: int) -> Case:
    return case_of(random_task(random.Random(seed)), seed=seed)
