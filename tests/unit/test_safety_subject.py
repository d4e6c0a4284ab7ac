"""Sessions on JANI models: cases, events, records, resumed tests, policies that fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep.bundled.models import generate
from misstep.config import Config
from misstep.errors import InputError
from misstep.events import Finished, Judged, Ran, Started, timeless
from misstep.judge import Verdict
from misstep.record.record import EVENTS, EVIDENCE, Record
from misstep.record.verify import verify_record
from misstep.safety.decision import decide
from misstep.safety.policy import zoo_file
from misstep.session import Session


@pytest.fixture
def line(tmp_path: Path) -> Path:
    path = tmp_path / "line.jani"
    path.write_text(json.dumps(generate("two_way_line")), encoding="utf-8")
    return path


def config(line: Path, **options: Any) -> Config:
    return Config.from_table(
        {"model": line, "policy": "zoo:two_way_line", "runs": 30, **options}, where="test"
    )


def test_events_tell_the_whole_story(line: Path) -> None:
    session = Session(config(line))
    events = list(session.events())
    assert isinstance(events[0], Started)
    assert events[0].oracles == ("level",)
    runs = [event for event in events if isinstance(event, Ran)]
    judged = [event for event in events if isinstance(event, Judged)]
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert [event.run for event in runs] == list(range(30))
    assert [event.id for event in judged] == list(range(len(judged)))
    assert {event.verdict for event in judged} == {Verdict.BUG, Verdict.CLEARED}
    assert finished.unsafe_runs == sum(event.outcome == "unsafe" for event in runs) > 0
    assert sum(finished.extra["outcomes"].values()) == 30
    assert finished.bugs == sum(event.verdict is Verdict.BUG for event in judged)
    assert 0 < finished.faults <= finished.bugs
    assert sum(len(family.members) for family in finished.families) == finished.bugs
    assert all(event.oracle == "level" and event.outcome == "unsafe" for event in judged)
    assert list(session.record.events()) == events


@pytest.mark.parametrize(
    "options",
    [
        {"radius": 1},
        {"horizon": 8},
        {"decider": "tarjan"},
        {"decider": "lrtdp", "radius": 2},
        {"fuzzer": "sampling:depth=2"},
        {"fuzzer": "uniform"},
        {"keep_impossible": True, "outcome_mode": "edge"},
    ],
)
def test_every_judged_state_has_a_valid_certificate(line: Path, options: dict[str, Any]) -> None:
    session = Session(config(line, **options))
    judged = [event for event in session.events() if isinstance(event, Judged)]
    found = verify_record(session.record)
    assert found.invalid == []
    assert found.valid == sum(event.verdict is not Verdict.UNKNOWN for event in judged) > 0


def test_states_that_differ_in_verdict_are_the_same_for_all_deciders(line: Path) -> None:
    verdicts = []
    for decider in ("level", "tarjan", "value-iteration", "lao", "lrtdp", "policy-iteration"):
        events = Session(config(line, decider=decider)).events()
        verdicts.append([(e.id, e.verdict) for e in events if isinstance(e, Judged)])
    assert all(one == verdicts[0] for one in verdicts)


def test_resumed_tests_end_like_undisturbed_ones(line: Path, tmp_path: Path) -> None:
    """The logs are cut at every line, as kill -9 may do; the last line may be half written."""
    whole = Record.create(tmp_path / "whole")
    list(Session(config(line, runs=8), record=whole).events())
    whole.close()
    lines = (tmp_path / "whole" / EVENTS).read_bytes().splitlines(keepends=True)
    evidence = (tmp_path / "whole" / EVIDENCE).read_bytes().splitlines(keepends=True)
    files = {p.relative_to(tmp_path / "whole"): p.read_bytes() for p in (tmp_path / "whole").rglob("*.json*")}
    for number, keep in enumerate(range(1, len(lines), max(1, len(lines) // 12))):
        folder = tmp_path / f"cut-{number}"
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        for name in ("config.toml", "model.jani"):
            (folder / name).write_bytes((tmp_path / "whole" / name).read_bytes())
        (folder / EVENTS).write_bytes(b"".join(lines[:keep]) + lines[keep][:20])
        ahead = max(1, min(len(evidence), keep // 2))
        (folder / EVIDENCE).write_bytes(b"".join(evidence[:ahead]) + b'{"states": [')
        record = Record.open(folder)
        list(Session(record.config(), record=record, resume=True).events())
        record.close()
        again = [timeless(line) for line in Record.open(folder).store.lines(EVENTS)]
        assert again == [timeless(json.loads(line)) for line in lines]
        assert (folder / EVIDENCE).read_bytes() == b"".join(evidence)
        assert verify_record(Record.open(folder)).invalid == []


def test_a_policy_that_changed_is_noticed(line: Path, tmp_path: Path) -> None:
    policy = tmp_path / "two_way_line.jani2nnet"
    for file in (zoo_file("two_way_line"), zoo_file("two_way_line").with_suffix(".nnet")):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    record = Record.create(tmp_path / "r")
    list(Session(config(line, runs=3, policy=f"nnet:{policy}"), record=record).events())
    network = policy.with_suffix(".nnet")
    network.write_text("// trained a little longer\n" + network.read_text())
    with pytest.raises(InputError, match="has changed"):
        list(Session(record.config(), record=record, resume=True).events())


def full_speed(state: dict[str, Any], applicable: tuple[str, ...]) -> str:
    return "accelerate" if "accelerate" in applicable else "coast"


def test_functions_are_policies(line: Path) -> None:
    report = misstep.test(line, full_speed, runs=5)
    bug = report.bugs[0]
    assert bug.run[-1] in ("accelerate", "coast")
    assert bug.plan is None
    assert "unsafe" in bug.show()
    assert bug.state.keys() >= {"position", "speed"}
    assert report.as_json()["bugs"] == len(report.bugs)


def test_policies_that_fail_end_the_test_early(line: Path) -> None:
    def broken(state: dict[str, Any], applicable: tuple[str, ...]) -> str:
        raise KeyError("oops")

    report = misstep.test(line, broken, runs=50)
    assert report.tested == 0
    assert report.limits_hit == ("policy",)
    assert report.finished.extra["outcomes"] == {"failed": 10}
    assert "KeyError" in report.tally.warnings[0]


def test_limits_leave_states_unknown(line: Path) -> None:
    session = Session(config(line, decider="level:max_expansions=1"))
    judged = [event for event in session.events() if isinstance(event, Judged)]
    assert any(event.verdict is Verdict.UNKNOWN for event in judged)
    assert session.tally.finished is not None
    assert session.tally.finished.limits_hit == ("expansions",)
    assert verify_record(session.record).invalid == []


def test_a_model_needs_a_policy(line: Path) -> None:
    with pytest.raises(InputError, match="no policy"):
        list(Session(config(line, policy="")).events())


@pytest.mark.parametrize(("radius", "verdict"), [(None, "safe"), (0, "unsafe")])
def test_records_of_decisions_are_trusted(
    line: Path, tmp_path: Path, radius: int | None, verdict: str
) -> None:
    decision = decide(config(line, radius=radius), "initial")
    assert decision.verdict == verdict
    decision.save(tmp_path / "record")
    found = verify_record(Record.open(tmp_path / "record"))
    assert (found.valid, found.invalid, found.problems) == (1, [], [])


def test_the_shield_is_measured(line: Path) -> None:
    report = misstep.test(line, "zoo:two_way_line", runs=20, shield=True)
    shield = report.as_json()["shield"]
    assert shield["unsafe_with"] <= shield["unsafe_without"]
    assert shield["runs"] == 20
