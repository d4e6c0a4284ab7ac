"""Words for people: what a policy does whose run ends in a certain way, limits and counts."""

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


def counted(count: int, one: str, many: str | None = None) -> str:
    """`1 bug`, `3 bugs`."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def count_line(name: str, count: int, words: str) -> str:
    """A line of a summary: `bugs      3: what that means`; nothing needs no explanation."""
    return f"{name:<9} {count}: {words}" if count else f"{name:<9} 0"
