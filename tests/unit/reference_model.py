"""A tiny JANI model with certificates made by hand, and the same game in a few lines of Python."""

from __future__ import annotations

from typing import Any

from tests.unit.reference_tasks import signed

# x counts from 0 to TOP = 3, which is unsafe. From 2 the only way is up; `go` takes one step or two.
MODEL: dict[str, Any] = {
    "jani-version": 1,
    "name": "stairs",
    "type": "lts",
    "actions": [{"name": name} for name in ("stay", "go", "back")],
    "constants": [{"name": "TOP", "type": "int", "value": 3}],
    "variables": [
        {
            "name": "x",
            "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": "TOP"},
            "initial-value": 0,
        }
    ],
    "automata": [
        {
            "name": "stairs",
            "locations": [{"name": "here"}],
            "initial-locations": ["here"],
            "edges": [
                {
                    "location": "here",
                    "action": "stay",
                    "guard": {"exp": {"op": "<", "left": "x", "right": 2}},
                    "destinations": [{"location": "here"}],
                },
                {
                    "location": "here",
                    "action": "go",
                    "guard": {"exp": {"op": "<", "left": "x", "right": 2}},
                    "destinations": [
                        {
                            "location": "here",
                            "assignments": [{"ref": "x", "value": {"op": "+", "left": "x", "right": n}}],
                        }
                        for n in (1, 2)
                    ],
                },
                {
                    "location": "here",
                    "action": "go",
                    "guard": {"exp": {"op": "=", "left": "x", "right": 2}},
                    "destinations": [{"location": "here", "assignments": [{"ref": "x", "value": "TOP"}]}],
                },
                {
                    "location": "here",
                    "action": "back",
                    "guard": {"exp": {"op": "=", "left": "x", "right": 1}},
                    "destinations": [{"location": "here", "assignments": [{"ref": "x", "value": 0}]}],
                },
            ],
        }
    ],
    "system": {"elements": [{"automaton": "stairs"}]},
}
UNSAFE = {"op": "=", "left": "x", "right": 3}
LABELS = ["stay", "go", "back", "fly"]


def moves(x: int) -> dict[str, set[int]]:
    """The same model as a table."""
    return [
        {"stay": {0}, "go": {1, 2}},
        {"stay": {1}, "go": {2, 3}, "back": {0}},
        {"go": {3}},
        {},
    ][x]


def state(x: int, step: int = 0) -> dict[str, Any]:
    return {"values": {"x": x}, "step": step}


BUG = signed(
    {
        "format": 2,
        "kind": "safety",
        "verdict": "bug",
        "radius": None,
        "horizon": None,
        "constants": {},
        "semantics": {},
        "unsafe": UNSAFE,
        "goal": None,
        "safe": [0],
        "not_safe": [],
        "trace": [0, 2, 3],
        "faults": [{"state": 0, "action": "go", "outcome": 2, "alternative": "stay"}],
        "decisions": [[0, "go"], [2, "go"]],
        "strategy": [[0, 0, "stay"]],
        "refutation": [[2, 0, [["go", 3]]]],
        "states": [state(0), state(1), state(2), state(3)],
        "decider": "level",
    }
)
CLEARED = signed(
    BUG, verdict="cleared", safe=[], not_safe=[2], trace=[], faults=[], decisions=[], strategy=[]
)
# From 1 one deviation is enough: back to 0, where the policy of this certificate stays.
NEAR = signed(
    BUG,
    verdict="safe",
    radius=1,
    safe=[1],
    trace=[],
    faults=[],
    decisions=[[0, "stay"], [1, "go"]],
    strategy=[[1, 1, "back"], [0, 0, "stay"]],
    refutation=[],
)
# Within one step nobody falls from 0, whatever he does: the horizon ends the play.
SOON = signed(
    BUG,
    verdict="safe",
    horizon=1,
    safe=[0],
    trace=[],
    faults=[],
    decisions=[],
    strategy=[[0, 0, "go"], [1, 0, None], [2, 0, None]],
    refutation=[],
    states=[state(0), state(1, 1), state(2, 1)],
)
