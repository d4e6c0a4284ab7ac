"""Careful reading of JSON: every value has the type that its place asks for, and nothing is there unread."""

import math
from collections.abc import Collection
from typing import Any

from misstep.reference.checked import Refused, need

MAX_WORK = 10**8
"""Elementary steps that one check may need at most; certificates of real tests stay far below it."""


def record(
    value: object, what: str, fields: Collection[str], *, optional: Collection[str] = ()
) -> dict[str, Any]:
    """A JSON object with exactly these fields; the optional ones may be absent.

    A field that nobody reads would be a statement that nobody checks, so an unknown one is refused by name.
    """
    if not isinstance(value, dict):
        raise refusal(value, what, "an object")
    missing = [name for name in fields if name not in value]
    need(not missing, f"{what} has no field {missing[:1]}")
    unknown = [name for name in value if name not in fields and name not in optional]
    need(not unknown, f"{what} has a field that is not known here: {str(unknown[:1])[:100]}")
    return value


def items(value: object, what: str) -> list[Any]:
    """A JSON list."""
    if not isinstance(value, list):
        raise refusal(value, what, "a list")
    return value


def text(value: object, what: str) -> str:
    """A JSON string."""
    if not isinstance(value, str):
        raise refusal(value, what, "a text")
    return value


def texts(value: object, what: str) -> list[str]:
    """A list of JSON strings."""
    return [text(entry, f"an entry of {what}") for entry in items(value, what)]


def whole(value: object, what: str) -> int:
    """A number 0, 1, 2, ...; `true` and `1.0` are none."""
    if type(value) is not int or value < 0:
        raise refusal(value, what, "a whole number from 0")
    return value


def cost(value: object, what: str) -> float:
    """A number from 0 to infinity; JSON has no infinity, so null stands for it."""
    if value is None:
        return math.inf
    if type(value) is int and value >= 0:
        return value
    if type(value) is float and math.isfinite(value) and value >= 0:
        return value
    raise refusal(value, what, "a number from 0, or null for infinity")


def interval(value: object, what: str) -> tuple[float, float]:
    """The two ends of `{"lo": ..., "hi": ...}`, of which the first is not above the second."""
    ends = record(value, what, ("lo", "hi"))
    low, high = cost(ends["lo"], f"lo of {what}"), cost(ends["hi"], f"hi of {what}")
    need(low <= high, f"{what} is no interval: {low} is above {high}")
    return low, high


def affordable(work: int, what: str) -> None:
    """Refuse what would keep the checker busy for hours: a certificate must be cheap to check."""
    need(work <= MAX_WORK, f"{what} is too large to be checked: about {work} steps, {MAX_WORK} are allowed")


def refusal(value: object, what: str, expected: str) -> Refused:
    """The refusal of a value of the wrong type."""
    return Refused(f"{what} should be {expected}, not {repr(value)[:60]}")
