"""The judge: compares what the policy costs with what is achievable. No other place decides "bug"."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from misstep.bound import Bound


class Objective(Protocol):
    """A testing objective is a value function on costs; less is better.

    It must be monotone in the cost, so that an interval of costs becomes an interval of values, and never
    negative. Infinity stands for "the goal is never reached".
    """

    @property
    def name(self) -> str:
        """As users type it."""
        ...

    def value(self, cost: float, /) -> float:
        """The value of a run or plan of this cost."""
        ...


class Verdict(StrEnum):
    """What can be said of a state."""

    BUG = "bug"
    CLEARED = "cleared"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judge's word on a state: the verdict, and an interval that the testing-objective gap lies in."""

    verdict: Verdict
    gap: Bound

    @property
    def is_bug(self) -> bool:
        """Whether a better course is proven to exist."""
        return self.verdict is Verdict.BUG

    @property
    def is_open(self) -> bool:
        """Whether neither was proven so far."""
        return self.verdict is Verdict.UNKNOWN


def judge(run: Bound, best: Bound, *, objective: Objective) -> Judgement:
    """A bug iff the policy surely does worse than is surely possible; cleared iff it surely does not."""
    run = Bound(objective.value(run.lo), objective.value(run.hi))
    best = Bound(objective.value(best.lo), objective.value(best.hi))
    gap = Bound(max(0.0, _minus(run.lo, best.hi)), max(0.0, _minus(run.hi, best.lo)))
    if run.lo > best.hi:
        return Judgement(Verdict.BUG, gap)
    if run.hi <= best.lo:
        return Judgement(Verdict.CLEARED, Bound(0, 0))
    return Judgement(Verdict.UNKNOWN, gap)


def _minus(a: float, b: float) -> float:
    """Two courses that never reach the goal do equally badly."""
    return 0.0 if a == b else a - b
