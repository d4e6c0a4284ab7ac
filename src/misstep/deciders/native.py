"""The deciders that come with misstep, as parts; all of them are native and share what they prove."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from misstep._core import Decider, Game
from misstep.plugins import option


@dataclass(frozen=True)
class Native:
    """What all native deciders have in common."""

    name: ClassVar[str]
    max_expansions: int = option(
        1_000_000, "the most states that one decision may expand; after that it is unknown"
    )

    def bind(self, game: Game, /) -> Decider:
        """The decider at work on a game."""
        return Decider(game, self.name)


@dataclass(frozen=True)
class Level(Native):
    """Raises lower bounds on the deviations that a state needs, looking only where they can matter."""

    name = "level"
    order: Literal["shared", "last-first", "first-first"] = option(
        "shared", "which outcome of a move is looked at first"
    )

    def bind(self, game: Game, /) -> Decider:
        """The decider at work on a game."""
        return Decider(game, self.name, outcome_order=self.order)


@dataclass(frozen=True)
class Tarjan(Native):
    """Algorithm 2 of Jain et al., in a form that is right with shared caches, and polynomial."""

    name = "tarjan"


@dataclass(frozen=True)
class ValueIteration(Native):
    """Value iteration on the deviations that a state needs, from 0 upwards."""

    name = "value-iteration"


@dataclass(frozen=True)
class Lao(Native):
    """LAO* on the deviations that a state needs."""

    name = "lao"


@dataclass(frozen=True)
class Lrtdp(Native):
    """LRTDP on the deviations that a state needs."""

    name = "lrtdp"


@dataclass(frozen=True)
class PolicyIteration(Native):
    """iPI: the candidate policy is repaired where it is seen to fail (Schmalz and Jain)."""

    name = "policy-iteration"
