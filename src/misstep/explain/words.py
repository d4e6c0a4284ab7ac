"""Words for people: what a policy does whose run ends in a certain way."""

_DOES = {
    "solved": "reaches the goal, but pays too much",
    "loop": "runs in a loop",
    "stuck": "gives no action",
    "illegal": "answers with an action that does not apply",
    "dead-end": "runs into a dead end",
    "cut-off": "is still under way when the run is cut off",
    "unsafe": "can reach an unsafe state",
}


def does(outcome: str) -> str:
    """What a policy does whose run ends so."""
    return _DOES.get(outcome, f"fails ({outcome})")
