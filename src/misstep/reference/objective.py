"""Testing objectives and the judge's rule: from two intervals of costs to a verdict."""

import math
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from misstep.reference.checked import need
from misstep.reference.reading import cost, items, record, text

Interval = tuple[float, float]

KNOWN: Mapping[str, Callable[[float], float]] = {
    "quantitative": lambda cost: cost,
    "qualitative": lambda cost: math.inf if cost == math.inf else 0,
}
"""The objectives that the checker computes by itself: the cost, and whether the goal is reached at all."""


class Objective(NamedTuple):
    """The values of an objective at the ends of the intervals, and whose word they are."""

    values: Mapping[float, float]
    word: str | None


def read_objective(written: object, ends: Collection[float]) -> Objective:
    """The value that the objective gives to each end of the two intervals of costs.

    An objective is a function from costs to values; less is better, and a larger cost never has a smaller
    value. Of the two objectives that are known here the values are computed and compared. Of any other one
    the table is taken on the objective's word, after a check that it can be a part of such a function: it
    has one value for every end and for nothing else, none is negative, and they never fall as the cost
    grows.
    """
    parts = record(written, "the objective", ("name", "values"))
    name = text(parts["name"], "the name of the objective")
    values = _table(parts["values"])
    need(values.keys() == set(ends), "the objective has values for other costs than the ends of the bounds")
    if name in KNOWN:
        right = all(value == KNOWN[name](end) for end, value in values.items())
        need(right, f"these are not the values of the {name} objective")
        return Objective(values, None)
    ordered = [values[end] for end in sorted(values)]
    need(ordered == sorted(ordered), "the objective gives a larger cost a smaller value")
    return Objective(
        values, f"objective {name[:80]}: its values, and that no larger cost has a smaller value"
    )


def check_verdict(
    verdict: str, run: Interval, best: Interval, gap: Interval, values: Mapping[float, float]
) -> None:
    """Refuse unless the verdict and the gap follow from what is proven about the policy and about the best.

    Let V be the objective, c the policy's cost and h the best cost, with run[0] <= c <= run[1] and
    best[0] <= h <= best[1]. V never falls, so V(run[0]) <= V(c) and V(h) <= V(best[1]).

    A bug is claimed where V(run[0]) > V(best[1]): then V(c) > V(h), the policy does worse than is possible.
    Its gap V(c) - V(h) lies between V(run[0]) - V(best[1]) and V(run[1]) - V(best[0]).

    A state is cleared where V(run[1]) <= V(best[0]): then V(c) <= V(h), nobody does better than the policy,
    and the gap is 0.
    """
    need(verdict in ("bug", "cleared"), f"this is no verdict that can be proven: {verdict[:60]}")
    if verdict == "bug":
        need(
            values[run[0]] > values[best[1]],
            "the bounds do not prove that the policy does worse than possible",
        )
        expected = (values[run[0]] - values[best[1]], values[run[1]] - values[best[0]])
    else:
        need(values[run[1]] <= values[best[0]], "the bounds do not prove that nobody does better")
        expected = (0, 0)
    need(gap == expected, f"the gap of these bounds is {expected}, not {gap}")


def _table(written: object) -> dict[float, float]:
    """The values by their costs; the same cost may occur again, but only with the same value."""
    values: dict[float, float] = {}
    for pair in items(written, "the values of the objective"):
        need(
            isinstance(pair, list) and len(pair) == 2,
            "an entry of the objective is no pair of cost and value",
        )
        end, value = cost(pair[0], "a cost of the objective"), cost(pair[1], "a value of the objective")
        need(values.setdefault(end, value) == value, "the objective gives one cost two values")
    return values
