"""Why an alternative is safe, on a model small enough to see it."""

import json
from pathlib import Path

import misstep
from misstep.bundled.models.build import Builder
from misstep.record.record import Record
from misstep.reports.show_safety import model_bug_json, show_model_bug, show_run
from misstep.safety.recorded import Step


def record_of(tmp_path: Path) -> Record:
    """From 0 the policy goes to 1 or 2, and 2 is unsafe; waiting leads to 3 and from there to the goal, 4."""
    b = Builder("fork")
    x = b.integer("x", 0, 4, 0)
    b.edge("go", x == 0, {"x": 1}, {"x": 2})
    b.edge("wait", x == 0, {"x": 3})
    b.edge("on", x == 3, {"x": 4}, {"x": 3})
    model = tmp_path / "fork.jani"
    model.write_text(json.dumps(b.document(unsafe=x == 2, goal=x == 4)), encoding="utf-8")
    report = misstep.test(
        model, lambda state, labels: "go" if "go" in labels else labels[0], runs=5, out=tmp_path / "r"
    )
    return report.record


def test_show_says_where_the_alternative_leads(tmp_path: Path) -> None:
    record = record_of(tmp_path)
    (certificate,) = record.bugs().values()
    text = " ".join(" ".join(show_model_bug(record, certificate)).split())
    assert "step 1, go instead of wait; after it (x 0 -> 2) nobody can avoid unsafe states" in text
    assert (
        "Safe: wait (x 0 -> 3): going on by the strategy, 2 states can be reached, and none of them is unsafe, "
        "and the goal is among them" in text
    )


def test_the_same_as_data(tmp_path: Path) -> None:
    record = record_of(tmp_path)
    (certificate,) = record.bugs().values()
    course = model_bug_json(record, certificate)["safe_course"]
    assert course == {"action": "wait", "outcomes": [{"x": 3}], "states": 2, "is_whole": True, "goals": 1}


def test_long_actions_are_whole_and_what_changes_is_below_them(tmp_path: Path) -> None:
    def step(action: str | None, x: int) -> Step:
        return Step({"x": x}, action, is_safe=True, is_lost=False, alternative=None)

    names = [f"move-the-{which}-truck-from-the-depot-to-the-harbour" for which in ("red", "blue")]
    steps = [step(names[0], 0), step(names[1], 1), step(None, 2)]
    lines = show_run(steps, width=60)
    assert lines[3:8] == [
        "step   action, and below it what changes",
        f"   1   {names[0]}",
        "         x 0 -> 1",
        f"   2   {names[1]}",
        "         x 1 -> 2",
    ]
    beside = show_run(steps, width=120)
    assert beside[4] == f"   1   {names[0]}   x 0 -> 1"
