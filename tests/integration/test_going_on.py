"""Whoever interrupts a command is told how it goes on, and it does: by the very words that were printed."""

import json
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from misstep.events import timeless
from tests.conftest import COURIER
from tests.integration.cli import command, misstep
from tests.integration.kills import record

SLOW = """
import time
def f(state):
    time.sleep(0.02)
    return min(map(str, state.task.applicable(state)), default=None)
"""
TASK = [str(file) for file in COURIER]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory whose name has to be quoted, with a slow policy and two problems."""
    here = tmp_path / "my dir"
    here.mkdir()
    (here / "slow.py").write_text(SLOW)
    (here / "domain.pddl").write_text(COURIER[0].read_text())
    for name in ("one", "two"):
        (here / f"{name}.pddl").write_text(COURIER[1].read_text())
    return here


def interrupted(folder: Path, *arguments: str, when: str) -> tuple[str, str]:
    """Standard output and error of a command that gets Ctrl-C when a file that fits has lines."""
    process = subprocess.Popen(
        [*command(), *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while not any(path.read_bytes().count(b"\n") >= 4 for path in folder.glob(when)):
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 2, errors
    return out, errors


def told(errors: str) -> list[list[str]]:
    """The words of every command that goes on."""
    found = re.findall(
        r"^interrupted: what is done is kept in .*; this goes on:\n  (.*)$", errors, re.MULTILINE
    )
    commands = [shlex.split(line) for line in found]
    assert commands and all(words[0] == "misstep" for words in commands), errors
    return [words[1:] for words in commands]


def log_without_end(path: Path) -> list[dict[str, object]]:
    lines = (path / "events.jsonl").read_text().splitlines()
    return [timeless(json.loads(line)) for line in lines[:-1]]


SLOWLY = ("--policy", "python:slow.py:f", "--no-isolate", "--oracle", "landmarks", "--pool", "30")


@pytest.mark.parametrize("more", [(), ("--json",), ("--quiet",)])
def test_a_test_goes_on_by_its_record(folder: Path, more: tuple[str, ...]) -> None:
    task = ("domain.pddl", "one.pddl", *SLOWLY)
    _, errors = interrupted(folder, "test", *task, "--out", "a 'b/r", *more, when="a 'b/r/events.jsonl")
    assert told(errors) == [["test", "--resume", "--out", "a 'b/r"]]
    assert misstep(*told(errors)[0], cwd=folder).code in (0, 1)
    assert misstep("test", *task, "--out", "whole", cwd=folder).code in (0, 1)
    # How often a slow policy is asked twice depends on the time that it takes, and is said at the end.
    found, expected = (log_without_end(path) for path in (folder / "a 'b" / "r", folder / "whole"))
    assert found == expected


def test_a_record_whose_name_looks_like_an_option(folder: Path) -> None:
    _, errors = interrupted(
        folder, "test", "domain.pddl", "one.pddl", *SLOWLY, "--out=-r", when="-r/events.jsonl"
    )
    assert told(errors) == [["test", "--resume", "--out", "./-r"]]
    assert misstep(*told(errors)[0], cwd=folder).code in (0, 1)


def test_a_test_without_a_name_goes_on(folder: Path) -> None:
    _, errors = interrupted(folder, "test", "domain.pddl", "one.pddl", *SLOWLY, when="runs/*/events.jsonl")
    assert told(errors) == [["test", "--resume", "--out", "runs/one-001"]]
    assert misstep(*told(errors)[0], cwd=folder).code in (0, 1)


def test_what_is_done_around_a_test_is_done_again(folder: Path) -> None:
    task = ("domain.pddl", "one.pddl", *SLOWLY, "--junit", "j.xml", "--fail-on", "max_bug_rate=1.0")
    _, errors = interrupted(folder, "test", *task, when="runs/*/events.jsonl")
    (words,) = told(errors)
    assert words == ["test", *task, "--resume", "--out", "runs/one-001"]
    assert misstep(*words, cwd=folder).code == 0
    assert "max_bug_rate" in (folder / "j.xml").read_text()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_several_problems_go_on_together(folder: Path, jobs: str) -> None:
    suite = ("test", "domain.pddl", "one.pddl", "two.pddl", *SLOWLY, "--jobs", jobs, "--out", "all of it")
    _, errors = interrupted(folder, *suite, when="all of it/*/events.jsonl")
    assert told(errors) == [[*suite, "--resume"]]
    assert misstep(*told(errors)[0], cwd=folder).code in (0, 1)
    for name in ("one", "two"):
        last = (folder / "all of it" / name / "events.jsonl").read_text().splitlines()[-1]
        assert json.loads(last)["event"] == "finished" and "interrupted" not in json.loads(last)["limits_hit"]


def test_problems_without_a_common_place_go_on_one_by_one(folder: Path) -> None:
    suite = ("test", "domain.pddl", "one.pddl", "two.pddl", *SLOWLY, "--jobs", "2")
    _, errors = interrupted(folder, *suite, when="runs/two-*/events.jsonl")
    commands = told(errors)
    names = [words.pop() for words in commands]
    assert all(words == ["test", "--resume", "--out"] for words in commands)
    assert set(names) <= {"runs/one-001", "runs/two-001"} and "runs/two-001" in names


def test_nothing_is_said_where_nothing_is_kept(folder: Path) -> None:
    process = subprocess.Popen(
        [*command(), "test", "domain.pddl", "one.pddl", *SLOWLY, "--out", "r"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (folder / "r").exists():  # the task is loaded next
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert ("goes on" in errors) == (folder / "r" / "config.toml").exists()


def test_the_demo_goes_on(folder: Path) -> None:
    _, errors = interrupted(folder, "demo", "--out", "d", when="d/events.jsonl")
    assert told(errors) == [["test", "--resume", "--out", "d"]]
    assert misstep(*told(errors)[0], cwd=folder).code == 1


def test_scale_goes_on(folder: Path) -> None:
    scale = ("scale", "--generator", "ferry", "--policy", "zoo:ferry", "--out", "s d", "--width", "0.05")
    _, errors = interrupted(folder, *scale, when="s d/*.jsonl")
    assert "what is done is kept in s d; the same command goes on" in errors


# ---- from the record alone


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((*TASK, "--policy", "zoo:courier-asnet", "--pool", "4"), 0),
        ((*TASK, "--policy", "zoo:courier-asnet", "--pool", "4", "--unit-cost", "--jobs", "2"), 0),
        ((*TASK, "--policy", "heuristic:ff", "--pool", "4", "--unit-cost", "--seconds", "500"), 1),
        ((*TASK, "--policy", "python:slow.py:f", "--pool", "3"), None),
        (("line.jani", "--policy", "zoo:two_way_line", "--runs", "10"), None),
        (("line.jani", "--policy", "shield:zoo:two_way_line", "--runs", "5"), None),
    ],
)
def test_a_finished_test_is_repeated_from_its_record(
    folder: Path, arguments: tuple[str, ...], code: int | None
) -> None:
    assert misstep("safety", "generate", "two_way_line", "--out", "line.jani", cwd=folder).code == 0
    first = misstep("test", *arguments, "--out", "r", cwd=folder)
    assert first.code == code if code is not None else first.code in (0, 1)
    before = (folder / "r" / "events.jsonl").read_bytes()
    for words in (("test", "--resume"), ("test", *arguments, "--resume")):
        again = misstep(*words, "--out", "r", cwd=folder)
        assert again.code == first.code, again.err
        assert re.sub(r"\d+\.\d+ s.*", "", again.out) == re.sub(r"\d+\.\d+ s.*", "", first.out)
    kept = (folder / "r" / "events.jsonl").read_bytes()
    assert kept.splitlines()[:-1] == before.splitlines()[:-1]


def test_records_of_before_say_by_their_warning_whether_unit_costs_were_asked_for(folder: Path) -> None:
    """Older versions did not write it down."""
    for more, is_warned in (((), True), (("--unit-cost",), False)):
        out = folder / f"r{len(more)}"
        arguments = (*TASK, "--policy", "zoo:courier-asnet", "--pool", "3", *more)
        assert misstep("test", *arguments, "--out", out).code == 0
        about = json.loads((out / "env.json").read_text())
        assert about.pop("unit_cost_asked") is not is_warned
        (out / "env.json").write_text(json.dumps(about))
        again = misstep("test", "--resume", "--out", out)
        assert again.code == 0 and ("made for unit costs" in again.err) == is_warned


def test_a_test_that_could_not_load_its_task_in_time_goes_on(folder: Path) -> None:
    arguments = (*TASK, "--policy", "zoo:courier-asnet", "--pool", "3")
    assert misstep("test", *arguments, "--seconds", "0.001", "--out", "r", cwd=folder).code == 5
    again = misstep("test", *arguments, "--seconds", "500", "--resume", "--out", "r", cwd=folder)
    assert again.code == 0, again.err
    assert misstep("test", *arguments, "--seconds", "500", "--out", "whole", cwd=folder).code == 0
    assert record(folder / "r") == record(folder / "whole")
