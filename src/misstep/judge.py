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
    value = objective.value
    try:
        run_lo, run_hi, best_lo, best_hi = value(run.lo), value(run.hi), value(best.lo), value(best.hi)
        is_sound = 0 <= run_lo <= run_hi and 0 <= best_lo <= best_hi
    except Exception:
        is_sound = False
    if not is_sound:
        raise _defect(objective, run, best)
    if run_lo > best_hi:
        return Judgement(Verdict.BUG, Bound(run_lo - best_hi, run_hi - best_lo))
    if run_hi <= best_lo:
        return Judgement(Verdict.CLEARED, Bound(0.0, 0.0))
    return Judgement(Verdict.UNKNOWN, Bound(0.0, run_hi - best_lo))


def objective_values(objective: Objective, *bounds: Bound) -> dict[float, float]:
    """The objective's value at every end of intervals of costs, the least cost first.

    PartError where these values cannot be those of a monotone function that is never negative: whatever the
    judge concluded from them would be wrong.
    """
    values: dict[float, float] = {}
    before: tuple[float, float] | None = None
    for cost in sorted({end for bound in bounds for end in (bound.lo, bound.hi)}):
        value = _value(objective, cost)
        if before is not None and value < before[1]:
            raise PartError(
                f"{part_label('objective', objective)} is not monotone: it gives the cost "
                f"{cost_text(before[0])} the value {before[1]:g}, but the larger cost {cost_text(cost)} the "
                f"smaller value {value:g}"
            )
        before = (cost, value)
        values[cost] = value
    return values


def _value(objective: Objective, cost: float) -> float:
    try:
        given: object = objective.value(cost)
    except Exception:
        with blaming("objective", objective, f"it was asked about the cost {cost_text(cost)}"):
            raise
    value = given if isinstance(given, float) else as_number(given)
    if value is None or not value >= 0:  # also true for NaN
        raise PartError(
            f"{part_label('objective', objective)} gives the cost {cost_text(cost)} the value "
            f"{given!r:.60}; a value is a number of at least 0"
        )
    return value


def _defect(objective: Objective, *bounds: Bound) -> Exception:
    """What is wrong with the values of an objective, found out by asking once more."""
    try:
        objective_values(objective, *bounds)
    except Exception as error:
        return error
    return PartError(f"{part_label('objective', objective)} does not give the same value again for a cost")
