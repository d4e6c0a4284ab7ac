"""A corridor of six places, as a task and as a model, and policies for it, most of which are broken.

The goal is at the right end; the model has a pit at the left end. Functions of a state are policies of the task,
those that are given the labels that apply, too, of the model.
"""

import json
import os
import sys
import time
from typing import Any

PLACES = 6


def corridor_task() -> str:
    """As SAS: `right` and `left` between neighbours; `jump` never applies."""
    lines = ["begin_version", "3", "end_version", "begin_metric", "0", "end_metric", "2"]
    lines += [
        "begin_variable",
        "var0",
        "-1",
        str(PLACES),
        *(f"Atom at(p{i})" for i in range(PLACES)),
        "end_variable",
    ]
    lines += ["begin_variable", "var1", "-1", "2", "Atom flying()", "NegatedAtom flying()", "end_variable"]
    lines += ["0", "begin_state", "0", "1", "end_state", "begin_goal", "1", f"0 {PLACES - 1}", "end_goal"]
    moves = [(f"right p{i}", i, i + 1) for i in range(PLACES - 1)]
    moves += [(f"left p{i}", i, i - 1) for i in range(1, PLACES)]
    lines.append(str(len(moves) + 1))
    for name, before, after in moves:
        lines += ["begin_operator", name, "0", "1", f"0 0 {before} {after}", "1", "end_operator"]
    lines += ["begin_operator", "jump", "1", "1 0", "1", f"0 0 -1 {PLACES - 1}", "1", "end_operator"]
    return "\n".join([*lines, "0"]) + "\n"


def corridor_model() -> str:
    """As JANI: runs start in any place but the last, and the place -1 is the pit."""

    def compare(operator: str, value: int) -> dict[str, Any]:
        return {"op": operator, "left": "place", "right": value}

    def edge(label: str, guard: Any, after: Any) -> dict[str, Any]:
        destination = {"location": "here", "assignments": [{"ref": "place", "value": after}]}
        return {"location": "here", "action": label, "guard": {"exp": guard}, "destinations": [destination]}

    def step(by: int) -> dict[str, Any]:
        return {"op": "+", "left": "place", "right": by}

    inside = {"op": "∧", "left": compare("≥", 0), "right": compare("<", PLACES - 1)}
    model = {
        "jani-version": 1,
        "name": "corridor",
        "type": "lts",
        "actions": [{"name": name} for name in ("right", "left", "jump")],
        "variables": [
            {
                "name": "place",
                "type": {"kind": "bounded", "base": "int", "lower-bound": -1, "upper-bound": PLACES - 1},
            }
        ],
        "restrict-initial": {"exp": inside},
        "properties": [],
        "automata": [
            {
                "name": "corridor",
                "locations": [{"name": "here"}],
                "initial-locations": ["here"],
                "edges": [
                    edge("right", inside, step(1)),
                    edge("left", inside, step(-1)),
                    edge("jump", compare("=", PLACES + 10), PLACES - 1),
                ],
            }
        ],
        "system": {
            "elements": [{"automaton": "corridor"}],
            "syncs": [{"synchronise": [name], "result": name} for name in ("right", "left", "jump")],
        },
    }
    model["properties"] = [
        {
            "name": "test",
            "expression": {
                "op": "PA",
                "reach": {"op": "state-condition", "exp": compare("<", 0)},
                "objective": {
                    "op": "objective",
                    "goal": {"op": "state-condition", "exp": compare("=", PLACES - 1)},
                },
            },
        }
    ]
    return json.dumps(model)


_calls = {"task": 0, "model": 0}


def _place(state: Any) -> int:
    return int(state["place"]) if isinstance(state, dict) else int(state.values[0])


def _right(state: Any) -> str:
    return "right" if isinstance(state, dict) else f"(right p{_place(state)})"


def optimal(state: Any, labels: Any = None) -> Any:
    return _right(state)


def none(state: Any, labels: Any = None) -> Any:
    return None


def illegal(state: Any, labels: Any = None) -> Any:
    """There is such an action, but it never applies."""
    return "jump" if isinstance(state, dict) else "(jump)"


def unknown(state: Any, labels: Any = None) -> Any:
    return "fly" if isinstance(state, dict) else "(fly)"


def wrong_type(state: Any, labels: Any = None) -> Any:
    return 3.5


def raises(state: Any, labels: Any = None) -> Any:
    raise ValueError("the weights are gone")


def exits(state: Any, labels: Any = None) -> Any:
    os._exit(3)


def leaves(state: Any, labels: Any = None) -> Any:
    sys.exit("good bye")


def hangs(state: Any, labels: Any = None) -> Any:
    time.sleep(600)


def fails_late(state: Any, labels: Any = None) -> Any:
    """From the fourth call on."""
    kind = "model" if isinstance(state, dict) else "task"
    _calls[kind] += 1
    if _calls[kind] > 3:
        raise ValueError("the fourth call")
    return _right(state)


def errs_and_raises(state: Any, labels: Any = None) -> Any:
    """Steps back at once from the second place, and from the first one into the pit, but mostly raises."""
    if _place(state) > 1:
        raise ValueError("too far")
    return "left" if isinstance(state, dict) else None
