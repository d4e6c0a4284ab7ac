"""A tiny JANI model with certificates made by hand, and the same game in a few lines of Python."""

from __future__ import annotations

import copy
from typing import Any

from misstep.reference.checked import Checked
from misstep.reference.digest import digest
from misstep.reference.evidence import Evidence
from misstep.reference.safety import check

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


QUESTION = {
    "radius": None,
    "horizon": None,
    "constants": {},
    "semantics": {},
    "unsafe": UNSAFE,
    "goal": None,
}
Proof = dict[str, Any]
"""A certificate and its evidence: `{"certificate": ..., "evidence": [header, block, ...]}`."""


def resigned(proof: Proof) -> Proof:
    """The same with digests that fit, as far as there is something to sign."""
    proof = copy.deepcopy(proof)
    before = None
    for line in proof["evidence"]:
        if isinstance(line, dict):
            line["before"] = before
            line["sha256"] = before = digest(line)
    if isinstance(proof["certificate"], dict):
        proof["certificate"]["evidence"] = before
        proof["certificate"]["sha256"] = digest(proof["certificate"])
    return proof


def proof(verdict: str, state: dict[str, Any], *, step: int = 0, **parts: Any) -> Proof:
    """A proof from what differs: fields of the question, of the block, and of the certificate."""
    question = {name: parts.pop(name, usual) for name, usual in QUESTION.items()}
    block = {name: parts.pop(name, []) for name in ("states", "decisions", "runs", "strategy", "refutation")}
    header = {"format": 3, "kind": "safety-evidence", "fields": ["x"], **question}
    certificate = {
        "format": 3,
        "kind": "safety",
        "verdict": verdict,
        "state": state,
        "step": step,
        "run": parts.pop("run", None),
        "fault": parts.pop("fault", None),
        **question,
        "oracle": "level",
    }
    assert not parts
    return resigned({"certificate": certificate, "evidence": [header, block]})


def check_proof(proof: Any, model: Any = MODEL) -> Checked:
    """The checker on a certificate and its evidence."""
    return check(proof["certificate"], Evidence(proof["evidence"], model))


def changed(old: Proof, **changes: Any) -> Proof:
    """Another proof: fields of the question are changed in both parts, others where they are."""
    new = copy.deepcopy(old)
    header, block = new["evidence"]
    certificate = new["certificate"]
    for name, value in changes.items():
        homes = [part for part in (header, block, certificate) if name in part]
        for home in homes or [certificate]:
            home[name] = value
    return resigned(new)


STATES = [[0], [1], [2], [3]]
BUG = proof(
    "bug",
    {"x": 0},
    run={"outcome": "unsafe", "steps": 2},
    fault={"action": "go", "outcome": {"x": 2}, "step": 0, "alternative": "stay"},
    states=STATES,
    decisions=[[0, "go"], [2, "go"]],
    runs=[[2, 3], [0, 2]],
    strategy=[[0, 0, "stay"]],
    refutation=[[2, 0, [["go", 3]]]],
)
CLEARED = proof("cleared", {"x": 2}, states=STATES, refutation=[[2, 0, [["go", 3]]]])
# From 1 one deviation is enough: back to 0, where the policy of this evidence stays.
NEAR = proof(
    "safe",
    {"x": 1},
    radius=1,
    states=STATES,
    decisions=[[0, "stay"], [1, "go"]],
    strategy=[[1, 1, "back"], [0, 0, "stay"]],
)
# Within one step nobody falls from 0, whatever he does: the horizon ends the play.
SOON = proof(
    "safe",
    {"x": 0},
    horizon=1,
    states=[[0, 0], [1, 1], [2, 1]],
    strategy=[[0, 0, "go"], [1, 0, None], [2, 0, None]],
)
