"""A log beside its certificates, both made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from misstep.reference.checked import Checked
from misstep.reference.log import Entry, checked_log

NEVER = {"lo": None, "hi": None}
ABOUT = {"task": "t", "policy": "p", "seed": 0}
STARTED = {"event": "started", **ABOUT}


def bounds(lo: float, hi: float) -> dict[str, float]:
    return {"lo": lo, "hi": hi}


def judged(number: int, verdict: str, outcome: str, **more: Any) -> dict[str, Any]:
    usual = {"oracle": "o", "cost": bounds(3, 3), "best": bounds(3, 3), "gap": bounds(0, 0), "steps": 1}
    said = {
        "event": "judged",
        "id": number,
        "verdict": verdict,
        "outcome": outcome,
        "by_search": False,
        "fault": None,
    }
    return {**usual, **said, **more}


def entry(event: dict[str, Any]) -> Entry:
    """The certificate of an event, which says the same."""
    number, verdict = str(event["id"]), event["verdict"]
    fault = event["fault"] and {**event["fault"], "schema": "go"}
    fields = {"kind": "classical", "id": number, "oracle": "o", "fault": fault, **ABOUT}
    fields |= {name: event[name] for name in ("cost", "best", "gap")}
    run = {"outcome": event["outcome"], "actions": ["(go)"]}
    name = f"cleared {number}" if verdict == "cleared" else number
    return Entry(name, {**fields, "run": run}, Checked(verdict, event["by_search"], ()))


FAULT = {"step": 0, "until": 1, "action": "(go)", "better": "(fly)"}
EVENTS = [
    judged(0, "bug", "loop", cost=NEVER, gap=NEVER, fault=FAULT),
    judged(1, "bug", "loop", cost=NEVER, gap=NEVER, fault=FAULT),
    judged(2, "bug", "solved", gap=bounds(1, 2)),
    judged(3, "cleared", "solved"),
    judged(4, "cleared", "solved", by_search=True),
    judged(5, "unknown", "failed"),
    judged(6, "unknown", "cut-off"),
]
ENTRIES = [entry(event) for event in EVENTS if event["verdict"] != "unknown"]
FAMILIES: list[dict[str, Any]] = [
    {"outcome": "loop", "schema": "go", "region": 0, "members": [0, 1], "representative": 1},
    {"outcome": "solved", "schema": None, "region": 0, "members": [2], "representative": 2},
]
COUNTS = {
    "tested": 7,
    "bugs": 3,
    "cleared": 2,
    "unknown": 2,
    "qualitative": 2,  # a cost that is never paid off
    "quantitative": 1,
    "cleared_by_search": 1,
    "failed": 1,
    "solved": 3,
    "faults": 2,
    "runs": 0,
    "unsafe_runs": 0,
}
FINISHED: dict[str, Any] = {"event": "finished", **COUNTS, "families": FAMILIES}


def complaints(
    finished: dict[str, Any], *, events: list[Any] = EVENTS, entries: list[Entry] = ENTRIES
) -> list[str]:
    return checked_log([STARTED, *events, finished], entries)


def test_a_log_that_fits() -> None:
    assert complaints(FINISHED) == []


@pytest.mark.parametrize("name", list(COUNTS))
@pytest.mark.parametrize("by", [-1, 1])
def test_every_sum_is_checked(name: str, by: int) -> None:
    wrong = COUNTS[name] + by
    assert complaints({**FINISHED, name: wrong}) == [f"the log sums up to {COUNTS[name]} {name}, not {wrong}"]


@pytest.mark.parametrize(
    ("number", "change", "reason"),
    [
        (0, {"members": [0]}, "in no family"),
        (1, {"members": [2, 1]}, "ended otherwise"),
        (1, {"members": [2, 3]}, "no bugs"),
        (1, {"members": []}, "no member"),
        (0, {"representative": 2}, "no member"),
        (0, {"outcome": "stuck"}, "ended otherwise"),
        (0, {"schema": "fly"}, "another schema"),
        (1, {"schema": "go"}, "another schema"),
    ],
)
def test_families_are_those_of_the_bugs(number: int, change: dict[str, Any], reason: str) -> None:
    families = [{**family, **(change if at == number else {})} for at, family in enumerate(FAMILIES)]
    assert any(reason in said for said in complaints({**FINISHED, "families": families}))


def test_a_bug_in_two_families_is_noticed() -> None:
    more = {"outcome": "loop", "schema": "go", "region": 1, "members": [1], "representative": 1}
    assert complaints({**FINISHED, "families": [*FAMILIES, more]}) == [
        "there are bugs in no family, or in several"
    ]


@pytest.mark.parametrize("name", ["cost", "best", "gap"])
def test_bounds_are_those_of_the_certificate(name: str) -> None:
    events = [{**EVENTS[2], name: bounds(9, 9)} if event["id"] == 2 else event for event in EVENTS]
    assert complaints(FINISHED, events=events) == [f"2: the log has another {name}"]


@pytest.mark.parametrize(
    ("at", "change", "reason"),
    [
        (2, {"oracle": "x"}, "2: the log names another oracle"),
        (2, {"by_search": True}, "2: the log differs about whether a search is to be believed"),
        (2, {"steps": 2}, "2: the log counts other steps"),
        (0, {"fault": {**FAULT, "step": 1}}, "0: the log has another decision at fault"),
        (2, {"fault": FAULT}, "2: the log has another decision at fault"),
    ],
)
def test_an_event_says_what_its_certificate_says(at: int, change: dict[str, Any], reason: str) -> None:
    events = [{**event, **change} if event["id"] == at else event for event in EVENTS]
    assert reason in complaints(FINISHED, events=events)


def decided(verdict: str) -> dict[str, Any]:
    empty = {**dict.fromkeys(COUNTS, 0), "event": "finished", "families": []}
    return {**empty, "extra": {"decision": {"verdict": verdict}}}


@pytest.mark.parametrize(
    ("said", "proven", "is_fine"),
    [
        ("safe", "safe", True),
        ("unsafe", "cleared", True),
        ("unknown", None, True),
        ("safe", None, False),
        ("unsafe", None, False),
        ("safe", "cleared", False),
        ("unsafe", "safe", False),
    ],
)
def test_a_decision_has_its_certificate(said: str, proven: str | None, is_fine: bool) -> None:
    """Of `misstep safety decide`: a refutation, whose verdict is `cleared`, shows that a state is unsafe."""
    entries = [] if proven is None else [Entry("decision", {"id": "0", **ABOUT}, Checked(proven, False, ()))]
    expected = [] if is_fine else [f"the log says {said}, but no valid certificate does"]
    assert complaints(decided(said), events=[], entries=entries) == expected
