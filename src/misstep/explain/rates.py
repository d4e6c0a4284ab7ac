"""Rates for people: the share that was found, between which bounds the rate lies, and why these are wide.

Every rate that a command, a report or a page shows is worded here.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from misstep.statistics import Interval

# Of percents: smaller shares than a millionth are as good as none.
_MOST_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Rate:
    """The share of bugs among tested states (of unsafe runs, on models), with its bounds.

    As text it is a sentence: `18 to 25 % (7 of 40, 3 unknown); 95 %: 0.04 to 80 %, because ...`. An unknown state
    may be a bug or none, so it makes the share an interval, as it makes the bounds wider.
    """

    bad: int
    good: int
    unknown: int
    bounds: Interval
    confidence: float
    effective: float | None = None
    """How many independent states say as much, where the tested ones are not independent."""
    of_runs: bool = False
    """Whether runs are counted, and not states."""

    @property
    def tested(self) -> int:
        """How many were looked at."""
        return self.bad + self.good + self.unknown

    @property
    def shares(self) -> Interval:
        """The share that was found: with what is unknown as good, and as bad."""
        if not self.tested:
            return Interval(0.0, 1.0)
        return Interval(self.bad / self.tested, (self.bad + self.unknown) / self.tested)

    def __str__(self) -> str:
        things = "runs" if self.of_runs else "states"
        if not self.tested:
            return f"nothing can be said: no {things} were tested"
        counts = f"{self.bad} of {self.tested}{' runs' if self.of_runs else ''}"
        unknown = (
            f", {self.unknown} {'without an answer' if self.of_runs else 'unknown'}" if self.unknown else ""
        )
        found = f"{self.share} ({counts}{unknown})"
        if self.bounds == (0.0, 1.0) and not self.bad + self.good:
            return f"{found}: nothing can be said yet"
        return (
            f"{found}; {percent(self.confidence, math.floor)}: {bounds_words(self.bounds)}{self._why_wide()}"
        )

    @property
    def share(self) -> str:
        """What was found: `18 %`, or `18 to 25 %` where verdicts are unknown."""
        least, most = (percent(share, _nearest) for share in self.shares)
        return least if least == most else f"{least.removesuffix(' %')} to {most}"

    @property
    def brief(self) -> str:
        """For a cell of a table: `18 % (7.3 to 33 %)`."""
        return f"{self.share} ({bounds_words(self.bounds)})" if self.tested else "?"

    def _why_wide(self) -> str:
        """Why the bounds are wider than the numbers suggest; nothing where each state counts as one."""
        size = self.tested if self.effective is None else max(1, _nearest(self.effective))
        if size >= self.tested:
            return ""
        return f", because these states say as much as {size} independent one{'s' if size > 1 else ''}"


def bounds_words(bounds: tuple[float, float]) -> str:
    """Between which numbers a rate lies, rounded outwards so that it is never said to be known better than it is.

    An end at 0 % or 100 % says nothing and is left out.
    """
    least, most = percent(bounds[0], math.floor), percent(bounds[1], math.ceil)
    if least == "0 %" and most != "100 %":
        return f"at most {most}"
    if most == "100 %" and least != "0 %":
        return f"at least {least}"
    return f"{least.removesuffix(' %')} to {most}"


def share_words(hits: int, all_: int) -> str:
    """A share, as `5 %`; a small one is no 0 and a large one no 100."""
    return percent(hits / all_, _nearest) if all_ else "?"


def percent(share: float, rounded: Callable[[float], int]) -> str:
    """Whole percents, with a digit more below 10 and above 99, and as many as the distance to 0 or 1 takes.

    So a small share is not rounded to none, nor a large one to all; below a millionth it is.
    """
    digits = 0 if 0.1 <= share <= 0.99 else 1
    edge = 100 * min(share, 1 - share)
    if 0 < edge < 0.1:
        digits = min(_MOST_DIGITS, math.ceil(-math.log10(edge)))
    scale = 10**digits
    # What binary numbers cannot hold is no reason to round up.
    found = rounded(round(share * 100 * scale, 6)) / scale
    text = f"{found:.{digits}f}"
    return (text.rstrip("0").removesuffix(".") if digits else text) + " %"


def _nearest(value: float) -> int:
    """Halves go up; Python's `round` takes the even number, so that 17.5 % and 18.5 % would be the same."""
    return math.floor(value + 0.5)
