"""Policies on models that name what does not apply, or nothing: such runs are neither unsafe nor good."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import misstep
from misstep.errors import PolicyError
from misstep.events import Ran, timeless
from misstep.formats.nnet import Interface, write_interface, write_nnet
from misstep.record.record import EVENTS, Record
from misstep.record.verify import verify_record
from misstep.safety.exam import examine
from misstep.safety.model import SafetyTask
from misstep.safety.policy import function_policy, network_policy
from misstep.safety.replay import ModelReplay
from misstep.session import Session
from tests.corridor import corridor_model


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "corridor.jani"
    path.write_text(corridor_model())
    return path


OPPOSED = np.array([[10.0, -10.0]] * 3)


def jumps_at_three(state: dict[str, Any], labels: tuple[str, ...]) -> str | None:
    return "jump" if state["place"] == 3 else "right"


def stops_at_three(state: dict[str, Any], labels: tuple[str, ...]) -> str | None:
    return None if state["place"] == 3 else "right"


def falls(state: dict[str, Any], labels: tuple[str, ...]) -> str | None:
    return "left"


def runs_of(report: misstep.Report) -> list[Ran]:
    return [event for event in report.record.events() if isinstance(event, Ran)]


def problems_of(record: Record) -> list[str]:
    found = verify_record(record)
    return [*found.problems, *map(str, found.invalid)]


@pytest.mark.parametrize("fuzzer", ["greedy", "uniform", "sampling:depth=2", "greedy:depth=inf"])
def test_a_label_that_does_not_apply_is_no_decision(model: Path, fuzzer: str) -> None:
    report = misstep.test(model, jumps_at_three, runs=40, fuzzer=fuzzer)
    runs = runs_of(report)
    # From the places 0 to 3 every run comes to 3, from 4 to the goal; nothing else can happen.
    assert {run.outcome for run in runs} <= {"failed", "goal", "safe"} and len(runs) == 40
    failed = [run for run in runs if run.outcome == "failed"]
    assert any(run.steps > 0 for run in failed) and all(run.state == {"place": 3} for run in failed)
    assert {run.reason for run in failed} == {"the policy chose jump, which does not apply"}
    assert report.failed == len(failed) == report.finished.extra["outcomes"]["failed"]
    assert report.counts() == (0, 40 - len(failed), len(failed))
    assert problems_of(report.record) == []


def test_stopping_on_purpose_is_a_decision_but_not_before_the_first(model: Path) -> None:
    report = misstep.test(model, stops_at_three, runs=40, fuzzer="uniform")
    runs = runs_of(report)
    stuck = [run for run in runs if run.outcome == "stuck"]
    assert report.failed == sum(run.steps == 0 for run in stuck) < len(stuck)
    assert {run.reason for run in stuck} == {"the policy gave no action where some apply"}


def test_a_log_of_an_earlier_version_is_read_and_verified(model: Path, tmp_path: Path) -> None:
    """Runs had no reason then, and were not counted as failed at the end."""
    policy = f"python:{Path(__file__)}:jumps_at_three"
    misstep.test(model, policy, out=tmp_path / "record", runs=8, isolate=False)
    log = tmp_path / "record" / EVENTS
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if line["event"] == "run":
            del line["reason"], line["state"]
            line["outcome"] = "goal" if line["outcome"] == "goal" else "failed"
    lines[-1]["failed"] = 0
    old = "".join(json.dumps(line) + "\n" for line in lines)
    log.write_text(old)
    assert problems_of(Record.open(tmp_path / "record")) == []
    report = misstep.Report.read(tmp_path / "record")
    assert report.failed == sum(run.outcome == "failed" for run in runs_of(report)) > 0
    assert report.failures[0].reason == "the record does not say why"
    forged = [{**line, "failed": 99} if line["event"] == "finished" else line for line in lines]
    log.write_text("".join(json.dumps(line) + "\n" for line in forged))
    (why,) = problems_of(Record.open(tmp_path / "record"))
    assert "failed, not 99" in why


def goes_right(state: dict[str, Any], labels: tuple[str, ...]) -> str | None:
    return "right"


def test_a_log_of_an_earlier_version_is_resumed(model: Path, tmp_path: Path) -> None:
    policy = f"python:{Path(__file__)}:goes_right"
    misstep.test(model, policy, out=tmp_path / "record", runs=8, isolate=False)
    log = tmp_path / "record" / EVENTS
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    old = [{name: line[name] for name in line if name not in ("reason", "state")} for line in lines]
    assert old[1]["event"] == "run" and old[1] != lines[1]
    log.write_text("".join(json.dumps(line) + "\n" for line in old[:5]))
    record = Record.open(tmp_path / "record")
    session = Session(record.config(), record=record, resume=True)
    assert [timeless(event.as_json()) for event in session.events()] == [timeless(line) for line in lines]


def silent(state: dict[str, Any], labels: tuple[str, ...]) -> str | None:
    return None


def jumps(state: dict[str, Any], labels: tuple[str, ...]) -> str | None:
    return "jump"


@pytest.mark.parametrize(
    ("policy", "status"),
    [("falls", "bug"), ("goes_right", "fixed"), ("silent", "failed"), ("jumps", "failed")],
)
def test_a_bug_is_not_fixed_by_a_policy_that_says_nothing(
    model: Path, tmp_path: Path, policy: str, status: str
) -> None:
    misstep.test(model, f"python:{Path(__file__)}:falls", out=tmp_path / "record", runs=5, isolate=False)
    record = Record.open(tmp_path / "record")
    again = ModelReplay.open(record, policy=f"python:{Path(__file__)}:{policy}")
    answers = again.ask(again.bugs())
    assert {answer.status for answer in answers} == {status}
    assert all((answer.reason is not None) == (status == "failed") for answer in answers)


@pytest.fixture
def broken_network(model: Path, tmp_path: Path) -> Path:
    """One whose weights training has spoilt: two infinities are subtracted."""
    write_nnet(tmp_path / "net.nnet", [(np.full((2, 1), 1e308), np.full(2, 1.7e308)), (OPPOSED, np.zeros(3))])
    interface = Interface(tmp_path / "net.nnet", ("place",), ("right", "left", "jump"), filter=True)
    write_interface(tmp_path / "net.jani2nnet", interface, [])
    return tmp_path / "net.jani2nnet"


def test_a_network_of_no_numbers_gives_no_decision(model: Path, broken_network: Path) -> None:
    report = misstep.test(model, f"nnet:{broken_network}", runs=20)
    assert report.failed == report.finished.runs == 10, "it is given up"
    assert "the network's output is not a number" in repr(report)
    task = SafetyTask.load(model)
    elsewhere = network_policy(broken_network, task, scores=lambda row: np.full((1, 3), np.nan))
    for policy in (network_policy(broken_network, task), elsewhere):
        game = task.game(policy)
        with pytest.raises(PolicyError, match="not a number"):
            game.chosen(game.initial()[0])
        assert examine(game, game.initial(), runs=3, max_steps=9, seed=0).ends == {"failed": 3}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (["right"], r"the policy answered \['right'\] \(list\); answer with a label, or None"),
        (3, r"answered 3 \(int\)"),
        ("fly", "chose 'fly', which is not an action of the model"),
    ],
)
def test_answers_that_are_no_labels(model: Path, answer: Any, said: str) -> None:
    task = SafetyTask.load(model)
    game = task.game(function_policy(lambda _state, _labels: answer, task))
    with pytest.raises(PolicyError, match=said):
        game.chosen(game.initial()[0])


def test_a_policy_that_leaves_fails(model: Path) -> None:
    def leaves(state: dict[str, Any], labels: tuple[str, ...]) -> str | None:
        raise SystemExit(3)

    report = misstep.test(model, leaves, runs=20)
    assert report.failed == 10 and "the policy raised SystemExit: 3" in repr(report)
