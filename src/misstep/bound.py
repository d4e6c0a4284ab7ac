"""Bound: an interval that a cost lies in. The only place with infinity arithmetic."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """`lo <= cost <= hi`, both proven. A cost of infinity means: the goal is never reached."""

    lo: float = 0.0
    hi: float = math.inf

    @property
    def is_possible(self) -> bool:
        """Whether any cost lies in it; claims of others are refused at the door."""
        return 0 <= self.lo <= self.hi  # also false for NaN

    def __and__(self, other: "Bound") -> "Bound":
        """What both say together. Two proofs that contradict each other are an error of whoever made them."""
        return Bound(max(self.lo, other.lo), min(self.hi, other.hi))

    @property
    def is_exact(self) -> bool:
        """Whether the cost is known."""
        return self.lo == self.hi

    def as_json(self) -> dict[str, int | float | None]:
        """JSON has no infinity: null stands for it."""
        return {"lo": cost_as_json(self.lo), "hi": cost_as_json(self.hi)}

    def __str__(self) -> str:
        if self.is_exact:
            return cost_text(self.lo)
        return f"{cost_text(self.lo)} to {cost_text(self.hi)}"


NEVER = Bound(math.inf, math.inf)
"""The goal is never reached."""


def cost_as_json(cost: float) -> int | float | None:
    """A cost as JSON; null is infinity, and costs are whole numbers as a rule."""
    if cost == math.inf:
        return None
    return int(cost) if cost == int(cost) else cost


def cost_text(cost: float) -> str:
    """A cost for people: whole numbers in full, since `1e+06` is no cost that anybody pays."""
    if cost == math.inf:
        return "infinity"
    return str(int(cost)) if cost == int(cost) else f"{cost:g}"
