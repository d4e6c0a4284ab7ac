"""The judge: compares what the policy costs with what is achievable. No other place decides "bug"."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from misstep.bound import Bound, cost_text
from misstep.errors import PartError
from misstep.plugins import blaming, part_label
from misstep.support.numbers import as_number


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
    values = objective_values(objective, run, best)
    run = Bound(values[run.lo], values[run.hi])
    best = Bound(values[best.lo], values[best.hi])
    gap = Bound(max(0.0, _minus(run.lo, best.hi)), max(0.0, _minus(run.hi, best.lo)))
    if run.lo > best.hi:
        return Judgement(Verdict.BUG, gap)
    if run.hi <= best.lo:
        return Judgement(Verdict.CLEARED, Bound(0, 0))
    return Judgement(Verdict.UNKNOWN, gap)


def objective_values(objective: Objective, *bounds: Bound) -> dict[float, float]:
    """The objective's value at every end of intervals of costs, the least cost first.

    PartError where these values cannot be those of a monotone function that is never negative: whatever the
    judge concluded from them would be wrong.
    """
    values: dict[float, float] = {}
    before: tuple[float, float] | None = None
    for cost in sorted({end for bound in bounds for end in (bound.lo, bound.hi)}):
        with blaming("objective", objective, lambda cost=cost: f"it was asked about the cost {cost_text(cost)}"):
            given = objective.value(cost)
        value = as_number(given)
        if value is None or value < 0:
            raise PartError(
                f"{part_label('objective', objective)} gives the cost {cost_text(cost)} the value "
                f"{given!r:.60}; a value is a number of at least 0"
            )
        if before is not None and value < before[1]:
            raise PartError(
                f"{part_label('objective', objective)} is not monotone: it gives the cost "
                f"{cost_text(before[0])} the value {before[1]:g}, but the larger cost {cost_text(cost)} the "
                f"smaller value {value:g}"
            )
        before = (cost, value)
        values[cost] = value
    return values


def _minus(a: float, b: float) -> float:
    """Two courses that never reach the goal do equally badly."""
    return 0.0 if a == b else a - b
