"""Fuzzers of safety tests: parts that draw runs of a policy, biased towards unsafe states (Algorithm 1)."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from misstep._core import Budget, Game, SafetyFuzzer
from misstep.errors import InputError
from misstep.plugins import option


class BoundFuzzer(Protocol):
    """A fuzzer at work on one game."""

    def run(self, start: int, /, *, budget: Budget | None = None) -> tuple[str, list[int]]:
        """How a run from a state ended, and its states.

        It ended `unsafe`, `exhausted` (there is nothing more to see), by `max_steps` or `max_lookahead`, or
        by the limit of the budget that was hit.
        """
        ...


class SafetyFuzzerPart(Protocol):
    """A fuzzer as users name it: `greedy:depth=2`."""

    @property
    def name(self) -> str:
        """As users type it."""
        ...

    def bind(self, game: Game, /, *, max_steps: int, seed: int) -> BoundFuzzer:
        """The fuzzer on this game."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Plain simulation: any outcome of the policy's action, all alike or as the outcome mode says."""

    name = "uniform"

    def bind(self, game: Game, /, *, max_steps: int, seed: int) -> BoundFuzzer:
        """The fuzzer on this game."""
        return SafetyFuzzer(game, self.name, max_steps=max_steps, seed=seed)


@dataclass(frozen=True)
class _LookingAhead:
    name: ClassVar[str]
    depth: str = option("1", "look-ahead in steps of the policy: a number from 1, or inf")
    max_lookahead: int = option(100_000, "the most states of one look-ahead; more ends the run")

    def __post_init__(self) -> None:
        if self.depth != "inf" and not (self.depth.isdecimal() and 0 < int(self.depth) < 2**31):
            raise InputError(
                f"fuzzer `{self.name}`, option `depth`: `{self.depth}` is neither a number from 1 nor inf"
            )

    def bind(self, game: Game, /, *, max_steps: int, seed: int) -> BoundFuzzer:
        """The fuzzer on this game."""
        depth = None if self.depth == "inf" else int(self.depth)
        return SafetyFuzzer(
            game,
            self.name,
            depth=depth,
            max_steps=max_steps,
            max_lookahead=self.max_lookahead,
            temperature=self._warmth,
            seed=seed,
        )

    @property
    def _warmth(self) -> float:
        return 1.0


@dataclass(frozen=True)
class Greedy(_LookingAhead):
    """Goes where the distance to an unsafe state is least among all that the look-ahead sees."""

    name = "greedy"


@dataclass(frozen=True)
class Sampling(_LookingAhead):
    """Draws among all that the look-ahead sees; the nearer to an unsafe state, the likelier."""

    name = "sampling"
    temperature: float = option(1.0, "above 0; the higher, the less the distance matters")

    @property
    def _warmth(self) -> float:
        return self.temperature
