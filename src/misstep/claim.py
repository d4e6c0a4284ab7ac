"""Claims: bounds on the best achievable cost of a state, each with evidence that can be checked."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from misstep._core import Action, State
from misstep.bound import Bound
from misstep.proof import Surrounded


@dataclass(frozen=True, slots=True)
class Plan:
    """An upper bound: actions that lead from the state to the goal."""

    actions: tuple[Action, ...]

    @property
    def cost(self) -> int:
        """Of all actions together."""
        return sum(action.cost for action in self.actions)


@dataclass(frozen=True, slots=True)
class Landmarks:
    """A lower bound: every plan needs an action of each set; no action's shares exceed its cost."""

    cuts: tuple[tuple[tuple[Action, ...], int], ...]
    """The actions of a landmark and the share of their cost that is charged to it."""


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """The lower bound infinity: the goal is out of reach even where no action deletes anything."""


@dataclass(frozen=True, slots=True)
class Exhausted:
    """A lower bound by search: true if the search is, but nobody can re-check it without searching again."""

    search: str
    expanded: int


Evidence: TypeAlias = Plan | Landmarks | DeadEnd | Exhausted | Surrounded


@dataclass(frozen=True, slots=True)
class Claim:
    """`bound` holds for the best cost h* of `state`, because of `evidence`."""

    state: State
    bound: Bound
    evidence: Evidence
    oracle: str


def plan_claim(state: State, actions: list[Action] | tuple[Action, ...], oracle: str) -> Claim:
    """A plan bounds h* from above."""
    plan = Plan(tuple(actions))
    return Claim(state, Bound(0, plan.cost), plan, oracle)


def landmark_claim(state: State, cuts: list[tuple[list[Action], int]] | None, oracle: str) -> Claim:
    """What LM-cut's landmarks prove; None stands for a dead end."""
    if cuts is None:
        return Claim(state, Bound(math.inf, math.inf), DeadEnd(), oracle)
    lo = sum(share for _, share in cuts)
    return Claim(state, Bound(lo), Landmarks(tuple((tuple(a), share) for a, share in cuts)), oracle)


class Found(Protocol):
    """What claims need to know of a search's result."""

    @property
    def outcome(self) -> str:
        """`solved`, `unsolvable` or `limit`."""
        ...

    @property
    def limit(self) -> str | None:
        """What ended it early."""
        ...

    @property
    def lower_bound(self) -> float:
        """Proven for every plan."""
        ...

    @property
    def expanded(self) -> int:
        """Expanded states."""
        ...

    @property
    def plan(self) -> list[Action]:
        """Empty without one."""
        ...


def search_claims(state: State, found: Found, search: str, oracle: str) -> Iterator[Claim]:
    """The plan and the lower bound that a search found."""
    if found.outcome == "solved":
        yield plan_claim(state, found.plan, oracle)
    if found.lower_bound > 0:
        yield search_claim(state, found.lower_bound, search, found.expanded, oracle)


def search_claim(state: State, lower_bound: float, search: str, expanded: int, oracle: str) -> Claim:
    """What a search proved by looking at everything cheaper."""
    return Claim(state, Bound(lower_bound), Exhausted(search, expanded), oracle)
