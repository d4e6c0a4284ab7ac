"""Records as a whole: foreign code is not run, and parts that contradict each other are not believed."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import pytest

import misstep
from misstep.cli.verify import verify
from misstep.formats.sas import with_unit_cost
from misstep.record.replay import open_replay
from misstep.record.verify import verify_all
from tests.unit.test_valid_input import SAS

DOMAIN = """(define (domain d) (:predicates (a) (b) (c))
 (:action one :parameters () :precondition (a) :effect (and (not (a)) (b)))
 (:action two :parameters () :precondition (b) :effect (and (not (b)) (c)))
 (:action back :parameters () :precondition (b) :effect (and (not (b)) (a))))"""
PROBLEM = "(define (problem p) (:domain d) (:init (a)) (:goal (c)))"
POLICY = """
import misstep
@misstep.per_state
def policy(state):
    return {"(a)": "(one)", "(b)": "(back)"}[state.facts[0]]
"""


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Two bugs, found by a policy that is a Python file."""
    (tmp_path / "policy.py").write_text(POLICY)
    (tmp_path / "d.pddl").write_text(DOMAIN)
    (tmp_path / "p.pddl").write_text(PROBLEM)
    task = (tmp_path / "d.pddl", tmp_path / "p.pddl")
    report = misstep.test(task, f"python:{tmp_path}/policy.py:policy", pool=5, out=tmp_path / "r")
    assert len(report.bugs) == 2 and verify_all(tmp_path / "r").is_sound
    return tmp_path / "r"


def test_many_records_are_verified_side_by_side(record: Path, tmp_path: Path) -> None:
    for number in range(5):
        shutil.copytree(record, tmp_path / "many" / str(number))
    (tmp_path / "many" / "3" / "bugs").rename(tmp_path / "gone")
    told: list[tuple[int, int]] = []
    alone = verify_all(tmp_path / "many", tell=lambda done, records: told.append((done, records)))
    both = verify_all(tmp_path / "many", jobs=2)
    assert told == [(done, 5) for done in range(1, 6)]
    assert both.as_json() == alone.as_json()
    assert alone.valid == 8 and all(text.startswith("3/") for text in alone.problems)
    (tmp_path / "many" / "4" / "task.sas").write_text("no task")
    for jobs in (1, 2):
        with pytest.raises(misstep.InputError, match="the task cannot be read"):
            verify_all(tmp_path / "many", jobs=jobs)


def test_notes_of_many_records_do_not_hide_the_result(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(12):
        shutil.copytree(record, tmp_path / "many" / f"{number:02d}")
    assert verify(tmp_path / "many") == 0
    shown = capsys.readouterr().out
    assert "24 of 24 certificates valid" in shown
    assert "SHA-256" in shown and "09/SHA-256" not in shown
    for events in (tmp_path / "many").glob("*/events.jsonl"):
        events.write_text("".join(events.read_text().splitlines(keepends=True)[:-1]))
    assert verify(tmp_path / "many") == 0
    shown = capsys.readouterr().out
    assert "09/the log has no end" in shown and "10/the log has no end" not in shown
    assert "(2 more notes of other records; --json shows all)" in shown


def test_limits_are_told_by_other_processes() -> None:
    told = pickle.loads(pickle.dumps(misstep.LimitReached("the time was up", "seconds")))
    assert (str(told), told.limit) == ("the time was up", "seconds")


def test_code_of_a_foreign_record_needs_trust(record: Path) -> None:
    open_replay(record)  # our own
    environment = json.loads((record / "env.json").read_text())
    (record / "env.json").write_text(json.dumps({**environment, "origin": "elsewhere"}))
    with pytest.raises(misstep.InputError, match="--trust"):
        open_replay(record)
    open_replay(record, trust=True)
    open_replay(record, policy="heuristic:ff")


def test_a_policy_file_that_changed_is_told(record: Path) -> None:
    (record.parent / "policy.py").write_text(POLICY + "# trained longer")
    found = verify_all(record)
    assert found.is_sound and "has changed since the test" in found.notes[-1]


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("events.jsonl", '"bugs": 2', '"bugs": 3', "sums up"),
        ("events.jsonl", '"verdict": "bug"', '"verdict": "cleared"', "no valid certificate"),
        ("pool.jsonl", '["(b)"]', '["(a)"]', "another state"),
        ("task.sas", "(a)", "(z)", "digest"),
        ("problem.pddl", "(:goal (c))", "(:goal (b))", "translator"),
        ("config.toml", "pool = 5", "pool = 6", "config.toml"),
    ],
)
def test_edits_are_noticed(record: Path, file: str, old: str, new: str, reason: str) -> None:
    text = (record / file).read_text()
    if file == "task.sas":
        old, new = "begin_state\n0", "begin_state\n1"
    assert old in text
    (record / file).write_text(text.replace(old, new, 1))
    found = verify_all(record)
    assert any(reason in text for text in [*found.problems, *(e["reason"] for e in found.invalid)]), found


def test_a_certificate_that_is_gone_is_missed(record: Path) -> None:
    next((record / "bugs").iterdir()).unlink()
    assert any("no valid certificate" in text for text in verify_all(record).problems)


def test_unit_costs_whatever_blanks_there_are() -> None:
    sas = SAS.format("Atom a()", "Atom b()", "Atom c()", "Atom d()", "Atom e()")
    sas = sas.replace("begin_metric\n0", "begin_metric  \r\n 1 ").replace("0 0 0 2\n1\n", "0 0 0 2\n7\n")
    assert misstep.Task(sas).actions[0].cost == 7
    assert misstep.Task(with_unit_cost(sas)).actions[0].cost == 1
