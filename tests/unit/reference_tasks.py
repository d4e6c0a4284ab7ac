"""Tiny things for the tests of the trusted checker: a task, certificates, a model, all made by hand."""

from __future__ import annotations

from typing import Any

from misstep.reference.digest import digest
from misstep.reference.fdr import Action, Task

# Places a, b, c and a pit that one leaves only while it is shut. The goal is c, at a cost of 2, 1, 0, 3.
A, B, C, PIT = (0, 0), (1, 0), (2, 0), (3, 0)
TASK = Task(
    facts=(("(at a)", "(at b)", "(at c)", "(at pit)"), ("(shut)", "(not (shut))")),
    initial=A,
    goal={0: 2},
    actions=(
        Action("(go a b)", {0: 0}, {0: 1}, 1),
        Action("(go b c)", {0: 1}, {0: 2}, 1),
        Action("(go b a)", {0: 1}, {0: 0}, 1),
        Action("(fly a c)", {0: 0}, {0: 2}, 5),
        Action("(fall b)", {0: 1}, {0: 3}, 1),
        Action("(home)", {0: 2}, {0: 0}, 1),  # split by the translator: from c, or while it is shut
        Action("(home)", {1: 0}, {0: 0}, 1),
        Action("(odd)", {0: 0}, {0: 1}, 1),  # one name for two different things
        Action("(odd)", {0: 1}, {0: 2}, 1),
        Action("(dear)", {0: 0}, {0: 1}, 1),  # one name at two costs
        Action("(dear)", {1: 0}, {0: 1}, 2),
    ),
)
CLEAR = Task(TASK.facts, TASK.initial, TASK.goal, TASK.actions[:7])
NAMES = sorted({action.name for action in TASK.actions})

LANDMARKS = {
    "kind": "landmarks",
    "value": 2,
    "landmarks": [
        {"share": 1, "actions": ["(go a b)", "(fly a c)"]},
        {"share": 1, "actions": ["(go b c)", "(fly a c)"]},
    ],
}
FAULT = {
    "step": 0,
    "until": 1,
    "action": "(fly a c)",
    "schema": "fly",
    "better": "(go a b)",
    "witness": ["(go a b)", "(go b c)"],
    "lower": None,
}


def interval(low: float | None, high: float | None) -> dict[str, float | None]:
    return {"lo": low, "hi": high}


def signed(certificate: dict[str, Any], **changes: Any) -> dict[str, Any]:
    changed = {**certificate, **changes}
    return {**changed, "sha256": digest(changed)}


BUG = signed(
    {
        "format": 3,
        "kind": "classical",
        "id": "3",
        "verdict": "bug",
        "objective": {"name": "quantitative", "values": [[2, 2], [5, 5]]},
        "pool": {"id": 3, "parent": None, "walk": []},
        "state": ["(at a)", "(shut)"],
        "run": {"outcome": "solved", "actions": ["(fly a c)"]},
        "cost": interval(5, 5),
        "witness": ["(go a b)", "(go b c)"],
        "witness_oracle": "lookahead",
        "lower": LANDMARKS,
        "best": interval(2, 2),
        "gap": interval(3, 3),
        "fault": FAULT,
        "task": "line",
        "policy": "python:mine",
        "oracle": "lookahead",
        "seed": 0,
        "replay": None,
    }
)
CLEARED = signed(
    BUG,
    verdict="cleared",
    objective={"name": "quantitative", "values": [[2, 2]]},
    run={"outcome": "solved", "actions": ["(go a b)", "(go b c)"]},
    cost=interval(2, 2),
    gap=interval(0, 0),
    fault=None,
)
LOOP = signed(
    BUG,
    objective={"name": "qualitative", "values": [[0, 0], [2, 0], [None, None]]},
    run={"outcome": "loop", "actions": ["(go a b)", "(go b a)"]},
    cost=interval(None, None),
    lower=None,
    best=interval(0, 2),
    gap=interval(None, None),
    fault={
        **FAULT,
        "step": 1,
        "until": 2,
        "action": "(go b a)",
        "schema": None,
        "better": "(go b c)",
        "witness": ["(go b c)"],
        "lower": {"kind": "applicable", "value": 1},
    },
)
