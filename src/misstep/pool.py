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

    def as_json(self) -> dict[str, object]:
        """A line of a pool file."""
        line: dict[str, object] = {
            "id": self.id,
            "facts": self.state.facts,
            "parent": self.parent,
            "walk": [action.name for action in self.walk],
        }
        if self.rng is not None:
            line["rng"] = f"{self.rng:016x}"
        return line
