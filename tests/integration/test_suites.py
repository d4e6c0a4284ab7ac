"""Several problems in one go: what cannot be read or takes too long is an outcome of that problem alone."""

import re
from pathlib import Path

import pytest

from misstep import load
from tests.conftest import COURIER
from tests.integration.cli import misstep
from tests.integration.test_terminal import huge

POLICY = ("--policy", "heuristic:ff", "--pool", "2")
SLOW = """
import time

def slow(state):
    time.sleep(0.2)
    return state.task.applicable(state)[0]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a broken problem, one that is too large and a trivial one."""
    problem = COURIER[1].read_text()
    problems = tmp_path / "problems"
    problems.mkdir()
    (problems / "broken.pddl").write_text(problem[:-20])
    (problems / "trivial.pddl").write_text(re.sub(r"\(:goal .*\n", "(:goal (at red depot))\n", problem))
    huge(problems)
    return tmp_path


def test_one_problem_does_not_spoil_the_others(folder: Path) -> None:
    arguments = ("test", COURIER[0], folder / "problems", *POLICY, "--seconds", "20", "--out", folder / "out")
    ended = misstep(*arguments, "--json")
    broken, large, trivial = ended.json["tasks"]
    assert (broken["task"], broken["outcome"], broken["tested"]) == ("broken.pddl", "error", 0)
    assert "broken.pddl:21:3: this parenthesis is never closed" in broken["error"]
    assert (large["task"], large["outcome"], large["limits_hit"]) == (
        "huge.pddl",
        "limit",
        ["translate: seconds"],
    )
    assert (trivial["task"], trivial["tested"]) == ("trivial.pddl", 2)
    assert "outcome" not in trivial
    total = ended.json["total"]
    assert (total["tasks"], total["tested"], total["not_tested"], total["errors"]) == (3, 2, 2, 1)
    assert ended.code == (1 if trivial["bugs"]["quantitative"] + trivial["bugs"]["qualitative"] else 0)
    shown = misstep("show", folder / "out")
    assert "this parenthesis is never closed" in shown.out
    assert shown.code == 0


def test_the_table_at_the_end_says_why(folder: Path) -> None:
    arguments = ("test", COURIER[0], folder / "problems", *POLICY, "--seconds", "20", "--out", folder / "out")
    ended = misstep(*arguments, "--quiet")
    table = ended.out.rstrip().splitlines()[-5:]
    assert table[0].split() == ["task", "tested", "solved", "bugs", "cleared", "unknown", "remarks"]
    assert [line.split()[0] for line in table[1:]] == ["broken.pddl", "huge.pddl", "trivial.pddl", "total"]
    assert table[1].endswith("  error")
    assert table[2].endswith("  not tested: time is up")
    assert "error: " in ended.err and "never closed" in ended.err


def test_where_nothing_can_be_said_the_input_is_bad(folder: Path) -> None:
    (folder / "problems" / "huge.pddl").write_text("(define")
    (folder / "problems" / "trivial.pddl").unlink()
    ended = misstep("test", COURIER[0], folder / "problems", *POLICY, "--out", folder / "out", "--json")
    assert ended.code == 4
    assert [task["outcome"] for task in ended.json["tasks"]] == ["error", "error"]


def test_a_single_broken_problem_leaves_no_record(folder: Path) -> None:
    broken, out = folder / "problems" / "broken.pddl", folder / "out"
    ended = misstep("test", COURIER[0], broken, *POLICY, "--out", out, "--json")
    assert ended.code == 4
    assert ended.json["outcome"] == "error"
    assert "never closed" in ended.json["error"] and "never closed" in ended.err
    assert not out.exists()
    broken.write_text(COURIER[1].read_text())
    assert misstep("test", COURIER[0], broken, *POLICY, "--out", out).code in (0, 1)


def test_a_slow_policy_has_something_to_show_when_the_time_is_up(tmp_path: Path) -> None:
    """States are tested one after the other while the policy is slow, not all together at the end."""
    (tmp_path / "slow.py").write_text(SLOW)
    task = tmp_path / "task.sas"  # the translator would take its share of the time
    task.write_text(load(*COURIER).sas)
    policy = f"python:{tmp_path / 'slow.py'}:slow"
    arguments = ("test", task, "--policy", policy, "--pool", "300", "--seconds", "12")
    ended = misstep(*arguments, "--out", tmp_path / "out", "--json")
    assert 0 < ended.json["tested"] < 300
    assert ended.json["limits_hit"]
    assert ended.code in (0, 1)
