"""The judge: compares what the policy costs with what is achievable. No other place decides "bug"."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Protocol, cast

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
    values: tuple[tuple[float, float], ...] = ()
    """All that the judge looked at: the ends of both intervals of costs, each with its value."""

    @property
    def is_bug(self) -> bool:
        """Whether a better course is proven to exist."""
        return self.verdict is Verdict.BUG


def judge(run: Bound, best: Bound, *, objective: Objective) -> Judgement:
    """A bug iff the policy surely does worse than is surely possible; cleared iff it surely does not."""
    ends = (run.lo, run.hi, best.lo, best.hi)
    values = objective_values(objective, ends)
    (_, run_lo), (_, run_hi), (_, best_lo), (_, best_hi) = values
    if run_lo > best_hi:
        return Judgement(Verdict.BUG, Bound(run_lo - best_hi, run_hi - best_lo), values)
    if run_hi <= best_lo:
        return Judgement(Verdict.CLEARED, Bound(0.0, 0.0), values)
    return Judgement(Verdict.UNKNOWN, Bound(0.0, run_hi - best_lo), values)


def objective_values(objective: Objective, costs: Iterable[float]) -> tuple[tuple[float, float], ...]:
    """Each cost with its value.

    PartError where these cannot be values of a monotone function that is never negative: whatever the judge
    concluded from them would be wrong.
    """
    costs = tuple(costs)
    try:
        given: list[object] = [objective.value(cost) for cost in costs]
    except Exception:
        with blaming("objective", objective, f"it was asked about {', '.join(map(cost_text, costs))}"):
            raise
    numbers = []
    for cost, value in zip(costs, given, strict=True):
        is_plain = type(value) in (int, float) and cast(float, value) >= 0  # not true for NaN
        numbers.append(cast(float, value) if is_plain else _number(objective, cost, value))
    values = tuple(zip(costs, numbers, strict=True))
    for (less, low), (more, high) in pairwise(sorted(set(values))):
        if high < low or less == more:
            raise PartError(
                f"{part_label('objective', objective)} is not monotone: it gives the cost {cost_text(less)} "
                f"the value {low:g}, but the cost {cost_text(more)} the value {high:g}"
            )
    return values


def _number(objective: Objective, cost: float, value: object) -> float:
    """What is not a plain number may be one of NumPy's; all else is an error of the objective."""
    number = as_number(value)
    if number is None or number < 0:
        raise PartError(
            f"{part_label('objective', objective)} gives the cost {cost_text(cost)} the value {value!r:.60}; "
            "a value is a number of at least 0"
        )
    return number
