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
    values: tuple[tuple[float, float], ...] = ()
    """All that the judge looked at: the ends of both intervals of costs, each with its value."""

    @property
    def is_bug(self) -> bool:
        """Whether a better course is proven to exist."""
        return self.verdict is Verdict.BUG


def judge(run: Bound, best: Bound, *, objective: Objective) -> Judgement:
    """A bug iff the policy surely does worse than is surely possible; cleared iff it surely does not."""
    ends = (run.lo, run.hi, best.lo, best.hi)
    run_lo, run_hi, best_lo, best_hi = map(objective.value, ends)
    values = tuple(zip(ends, (run_lo, run_hi, best_lo, best_hi), strict=True))
    if run_lo > best_hi:
        return Judgement(Verdict.BUG, Bound(run_lo - best_hi, run_hi - best_lo), values)
    if run_hi <= best_lo:
        return Judgement(Verdict.CLEARED, Bound(0.0, 0.0), values)
    return Judgement(Verdict.UNKNOWN, Bound(0.0, run_hi - best_lo), values)
