"""The judge: compares what the policy costs with what is achievable. No other place decides "bug"."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from misstep.bound import Bound


class Objective(Protocol):
    """A testing objective is a value function (Steinmetz et al. 2022, section 3.1); less is better.

    It must be monotone in the cost, so that an interval of costs becomes an interval of values.
    """

    @property
    def name(self) -> str:
        """As users type it."""
        ...

    def value(self, cost: float, /) -> float:
        """The value of a run or plan of this cost; infinity: the goal is never reached."""
        ...


@dataclass(frozen=True)
class Quantitative:
    """Reach the goal at the least cost (Definition 2)."""

    name = "quantitative"

    def value(self, cost: float, /) -> float:
        """The cost itself."""
        return cost


@dataclass(frozen=True)
class Qualitative:
    """Reach the goal wherever that is possible, at any cost (Definition 3)."""

    name = "qualitative"

    def value(self, cost: float, /) -> float:
        """0 where the goal is reached."""
        return math.inf if cost == math.inf else 0.0


class Kind(StrEnum):
    """What can be said of a state."""

    BUG = "bug"
    CLEARED = "cleared"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judge's word on a state. `gap` is the interval of the testing-objective gap (Definition 1)."""

    kind: Kind
    gap: Bound

    @property
    def is_bug(self) -> bool:
        """Whether a better course is proven to exist."""
        return self.kind is Kind.BUG


def judge(run: Bound, best: Bound, *, objective: Objective = Quantitative()) -> Verdict:
    """A bug iff the policy surely does worse than is surely possible; cleared iff it surely does not."""
    run = Bound(objective.value(run.lo), objective.value(run.hi))
    best = Bound(objective.value(best.lo), objective.value(best.hi))
    gap = Bound(max(0.0, _minus(run.lo, best.hi)), max(0.0, _minus(run.hi, best.lo)))
    if run.lo > best.hi:
        return Verdict(Kind.BUG, gap)
    if run.hi <= best.lo:
        return Verdict(Kind.CLEARED, Bound(0, 0))
    return Verdict(Kind.UNKNOWN, gap)


def _minus(a: float, b: float) -> float:
    """Two policies that never reach the goal do equally badly."""
    return 0.0 if a == b else a - b
