"""Pools of test states: entries with their origin."""

from dataclasses import dataclass

from misstep._core import Action, State


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """A test state and where it comes from: a walk from an earlier entry of the pool."""

    id: int
    state: State
    parent: int | None = None
    walk: tuple[Action, ...] = ()
    rng: int | None = None
    """The state of the random numbers after the walk; absent in pools that others made."""
