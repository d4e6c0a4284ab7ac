"""Words for people: what a policy does whose run ends in a certain way, limits, counts and rates."""

import math
from collections.abc import Callable

_DOES = {
    "solved": "reaches the goal, but pays too much",
    "loop": "runs in a loop",
    "stuck": "gives no action",
    "illegal": "answers with an action that does not apply",
    "dead-end": "runs into a dead end",
    "cut-off": "is still under way when the run is cut off",
    "unsafe": "can reach an unsafe state",
}
_LIMITS = {
    "seconds": "time is up",
    "memory": "memory is full",
    "stopped": "stopped",
    "interrupted": "interrupted",
    "expansions": "too many states",
    "effort": "effort is spent",
    "exhausted": "walks lead to no other states any more",
    "policy": "the policy failed too often",
    "until-width": "the rate is known closely enough",
}
# Of percents: smaller shares than a millionth are as good as none.
_MOST_DIGITS = 4


def does(outcome: str) -> str:
    """What a policy does whose run ends so."""
    return _DOES.get(outcome, f"fails ({outcome})")


def limit_words(limit: str) -> str:
    """A limit that was hit: `fuzz: seconds` becomes `fuzzing: time is up`."""
    where, _, what = limit.rpartition(": ")
    said = _LIMITS.get(what, what)
    return {"": said, "fuzz": f"fuzzing: {said}", "translate": f"loading: {said}"}.get(
        where, f"{where}: {said}"
    )


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


def counted(count: int, one: str, many: str | None = None) -> str:
    """`1 bug`, `3 bugs`."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def count_line(name: str, count: int, words: str) -> str:
    """A line of a summary: `bugs      3: what that means`; nothing needs no explanation."""
    return f"{name:<9} {count}: {words}" if count else f"{name:<9} 0"
