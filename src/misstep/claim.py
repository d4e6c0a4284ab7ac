"""Claims: bounds on the best achievable value of a state, each with evidence that can be checked."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from misstep._core import Action, State
from misstep.bound import NEVER, Bound, cost_as_json
from misstep.task import Task

StateT = TypeVar("StateT", bound=Hashable)


class Evidence(Protocol):
    """Why a claim holds. The trusted checker must know the kind; others cannot be certified."""

    @property
    def kind(self) -> str:
        """As it stands in certificates."""
        ...

    def as_json(self, bound: Bound, /) -> dict[str, Any]:
        """As it stands in certificates; `bound` is what it is evidence for."""
        ...


@dataclass(frozen=True, slots=True)
class Claim(Generic[StateT]):
    """`bound` holds for the best achievable value of `state`, because of `evidence`; `oracle` says so."""

    state: StateT
    bound: Bound
    evidence: Evidence
    oracle: str


@dataclass(frozen=True, slots=True)
class Plan:
    """An upper bound: actions that lead from the state to the goal."""

    actions: tuple[Action, ...]

    @property
    def kind(self) -> str:
        """`plan`."""
        return "plan"

    @property
    def cost(self) -> int:
        """Of all actions together."""
        return sum(action.cost for action in self.actions)

    def as_json(self, bound: Bound, /) -> dict[str, Any]:
        """The names of the actions."""
        return {"kind": self.kind, "actions": names(self.actions)}


@dataclass(frozen=True, slots=True)
class Landmarks:
    """A lower bound: every plan needs an action of each set; no action's shares exceed its cost."""

    cuts: tuple[tuple[tuple[Action, ...], int], ...]
    """The actions of a landmark and the share of their cost that is charged to it."""

    @property
    def kind(self) -> str:
        """`landmarks`."""
        return "landmarks"

    def as_json(self, bound: Bound, /) -> dict[str, Any]:
        """Each landmark with its share; they prove their sum, even where less is claimed."""
        cuts = [{"share": share, "actions": clear_names(actions)} for actions, share in self.cuts]
        return {"kind": "landmarks", "value": sum(share for _, share in self.cuts), "landmarks": cuts}


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """The lower bound infinity: the goal is out of reach even where no action deletes anything."""

    @property
    def kind(self) -> str:
        """`dead-end`."""
        return "dead-end"

    def as_json(self, bound: Bound, /) -> dict[str, Any]:
        """There is nothing more to say: the checker explores the relaxed task itself."""
        return {"kind": self.kind}


@dataclass(frozen=True, slots=True)
class Exhausted:
    """A lower bound by search: true if the search is, but nobody can re-check it without searching again."""

    search: str
    expanded: int

    @property
    def kind(self) -> str:
        """`search`."""
        return "search"

    def as_json(self, bound: Bound, /) -> dict[str, Any]:
        """The search and what it says."""
        return {
            "kind": self.kind,
            "value": cost_as_json(bound.lo),
            "search": self.search,
            "expanded": self.expanded,
        }


def rests_on_search(claim: "Claim[Any] | None") -> bool:
    """Whether a claim is the word of a search, which cannot be re-checked without searching again."""
    return claim is not None and isinstance(claim.evidence, Exhausted)


def plan_claim(state: State, actions: Sequence[Action], oracle: str) -> Claim[State]:
    """A plan bounds h* from above."""
    plan = Plan(tuple(actions))
    return Claim(state, Bound(0, plan.cost), plan, oracle)


def landmark_claim(state: State, cuts: list[tuple[list[Action], int]] | None, oracle: str) -> Claim[State]:
    """What LM-cut's landmarks prove; None stands for a dead end."""
    if cuts is None:
        return Claim(state, NEVER, DeadEnd(), oracle)
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


def search_claim(state: State, lower_bound: float, search: str, expanded: int, oracle: str) -> Claim[State]:
    """What a search proved by looking at everything cheaper."""
    return Claim(state, Bound(lower_bound, math.inf), Exhausted(search, expanded), oracle)


def names(actions: Sequence[Action]) -> list[str]:
    """Actions as certificates write them."""
    return [action.name for action in actions]


def clear_names(actions: Sequence[Action]) -> list[str]:
    """Actions by names that stand for one of them only."""
    task = actions[0].task if actions else None
    split = task.split_names if isinstance(task, Task) else {}
    return [split.get(action.index, action.name) for action in actions]
