"""Commands in a pseudo-terminal: nothing stale before results, the summary at Ctrl-C, harmless names."""

import json
import re
from pathlib import Path

import pytest

from tests.conftest import COURIER
from tests.integration.screens import Seen, drawn, interrupt_when, look

# The status line comes after a third of a second: loading, and each of the first answers, take longer than that.
SLOW = """
import time
from misstep import search

time.sleep(0.7)
asked = 0

def slow(state):
    global asked
    asked += 1
    time.sleep(0.12 if asked <= 20 else 0.03)
    return next(iter(search(state.task, "gbfs:blind", state=state).plan), None)
"""
NASTY = "va\x1b[31mse\x07"
# What misstep itself writes to erase the status line.
ERASE = "\r\x1b[2K"


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(SLOW)
    return tmp_path


def statuses(seen: Seen) -> list[str]:
    """The texts of the status line, one after the other."""
    return [text for text in re.findall(r"\r\x1b\[2K([^\r\n\x1b]*)", seen.raw) if text]


@pytest.mark.parametrize(("columns", "option"), [(40, "--live"), (80, "--live"), (80, "--no-live")])
def test_the_status_is_gone_when_results_are_printed(slow: Path, columns: int, option: str) -> None:
    arguments = ("test", *COURIER, "--policy", "python:slow.py:slow", "--pool", "3", "--out", "record")
    seen = look(*arguments, option, cwd=slow, columns=columns)
    shown = statuses(seen)
    assert any(text.startswith("loading problem.pddl") for text in shown)
    is_view = columns == 80 and option == "--live"
    assert is_view or any("tested" in text for text in shown)
    assert any(text.startswith("pool 3 · policy asked about ") for text in shown) is is_view
    assert max(map(len, shown)) < columns  # a line that wraps could not be erased
    assert "·" not in seen.screen
    assert seen.is_cursor_clean
    assert seen.code in (0, 1)
    lines = seen.screen.splitlines()
    assert max(map(len, lines)) <= columns
    assert any(line.startswith("3 states tested") for line in lines)


def test_ctrl_c_ends_with_the_summary_so_far(slow: Path) -> None:
    arguments = ("test", *COURIER, "--policy", "python:slow.py:slow", "--pool", "100", "--interleave")
    seen = look(*arguments, "--no-live", "--out", "record", cwd=slow, on_output=interrupt_when("tested 2"))
    assert seen.code == 2, seen.screen
    assert "interrupted; so far:\n" in seen.screen
    counts = re.search(r"^(\d+) states tested", seen.screen, re.MULTILINE)
    assert counts is not None and 2 <= int(counts[1]) < 100
    assert "limits    interrupted" in seen.screen
    assert seen.is_cursor_clean
    shown = look("show", "record", cwd=slow)
    assert counts[0] in shown.screen


def test_ctrl_c_while_loading_leaves_no_record(tmp_path: Path) -> None:
    problem = huge(tmp_path)
    arguments = ("test", COURIER[0], problem, "--policy", "heuristic:ff", "--out", tmp_path / "record")
    seen = look(*arguments, on_output=interrupt_when("loading huge.pddl"))
    assert seen.code == 2, seen.screen
    assert seen.screen.startswith("interrupted; so far:\n0 states tested")
    assert not (tmp_path / "record").exists()


@pytest.mark.translator
def test_a_long_search_shows_what_it_does(tmp_path: Path) -> None:
    """The time is enough for a busy machine to come to the search, which is stopped once it is seen."""
    problem = huge(tmp_path, places=40, vans=12)
    arguments = ("plan", COURIER[0], problem, "--search", "astar:blind", "--seconds", "590")
    seen = look(*arguments, on_output=interrupt_when("searching with astar:blind"))
    shown = statuses(seen)
    assert any(text.startswith("translating ") for text in shown)
    assert any(re.fullmatch(r"searching with astar:blind · \d:\d\d left", text) for text in shown)
    assert seen.code == 2
    assert "interrupted" in seen.screen and "·" not in seen.screen


def test_quiet_is_the_result_alone(tmp_path: Path) -> None:
    arguments = ("test", *COURIER, "--policy", "zoo:courier", "--pool", "5", "--quiet", "--out", "record")
    seen = look(*arguments, cwd=tmp_path)
    assert "\x1b" not in seen.raw
    lines = [
        line for line in seen.screen.splitlines() if not line.startswith(" " * 10)
    ]  # the rest of a long line
    assert [line.split()[0] for line in lines] == ["5", "bugs", "cleared", "unknown", "rate"]


def test_json_is_one_line_whatever_is_shown_meanwhile(slow: Path) -> None:
    arguments = (
        "test",
        *COURIER,
        "--policy",
        "python:slow.py:slow",
        "--pool",
        "2",
        "--json",
        "--out",
        "record",
    )
    seen = look(*arguments, cwd=slow, columns=1000)
    assert statuses(seen)
    assert json.loads(seen.screen)["tested"] == 2


def test_names_from_files_do_nothing_to_the_terminal(tmp_path: Path) -> None:
    problem = tmp_path / "problem.pddl"
    problem.write_text(COURIER[1].read_text().replace("vase", NASTY))
    arguments = ("test", COURIER[0], problem, "--policy", "heuristic:ff", "--pool", "5", "--out", "record")
    tested = look(*arguments, cwd=tmp_path)
    assert tested.code == 1, tested.screen
    bug = re.findall(r"misstep show record (\d+)", tested.screen)[0]
    for command in (
        ("show", "record", bug),
        ("show", "record"),
        ("replay", "record", bug),
        ("shrink", "record", bug),
    ):
        seen = look(*command, cwd=tmp_path)
        assert "\x07" not in seen.raw
        assert not set(re.findall(r"\x1b.{0,3}", seen.raw)) - {"\x1b[2K"}
    planned = look("plan", COURIER[0], problem)
    assert "va\\x1b[31mse\\x07" in planned.screen
    assert "\x1b[31m" not in planned.raw
    broken = tmp_path / "broken.pddl"
    broken.write_text(f"(define (problem p) (:domain courier) (:init (at {NASTY} x)) (:goal (and)))")
    refused = look("plan", COURIER[0], broken)
    assert refused.code == 4
    assert "\x1b[31m" not in refused.raw and "\\x1b[31m" in refused.screen


def test_names_in_models_do_nothing_to_the_terminal(tmp_path: Path) -> None:
    assert look("safety", "generate", "two_way_line", "--out", "line.jani", cwd=tmp_path).code == 0
    text = (tmp_path / "line.jani").read_text()
    (tmp_path / "line.jani").write_text(text.replace('"accelerate"', '"accel\\u001b[2J\\nerate"'))
    policy = "def go(state, applicable):\n    return applicable[0]\n"
    (tmp_path / "go.py").write_text(policy)
    arguments = ("safety", "test", "line.jani", "--policy", "python:go:go", "--runs", "20", "--out", "record")
    tested = look(*arguments, cwd=tmp_path)
    assert tested.code == 1, tested.screen
    bug = re.findall(r"misstep show record (\d+)", tested.screen)[0]
    seen = look("show", "record", bug, cwd=tmp_path)
    assert seen.code == 0, seen.screen
    assert "\x1b[2J" not in tested.raw + seen.raw
    assert "accel\\x1b[2J\\nerate" in tested.screen + seen.screen


def test_the_terminal_itself() -> None:
    """The little terminal of these tests understands what it has to, and nothing else."""
    assert drawn(f"working · 0:01{ERASE}done\r\n", 20) == ("done\n", True)
    assert drawn("abcdef\r\n", 4) == ("abcd\nef\n", True)
    assert drawn("half a line", 20)[1] is False
    assert drawn("kept\r\none\r\ntwo\x1b[1A\r\x1b[Jdone\r\n", 20) == ("kept\ndone\n", True)
    assert drawn("\x1b[?25lhidden\r\n", 20)[1] is False
    with pytest.raises(AssertionError, match="unknown escape"):
        drawn("\x1b[2J", 20)


def huge(folder: Path, *, places: int = 150, vans: int = 60) -> Path:
    """A courier problem whose ground actions are too many to be translated, or searched, in a few seconds."""
    names = [f"p{number}" for number in range(places)]
    roads = [f"(road {a} {b}) (= (distance {a} {b}) 1)" for a in names for b in names if a != b]
    who = [f"v{number}" for number in range(vans)]
    at = [f"(at {van} p0) (empty {van})" for van in who]
    parcels = [f"b{number}" for number in range(vans)]
    waiting = [f"(waiting {parcel} p1)" for parcel in parcels]
    goal = " ".join(f"(waiting {parcel} p2)" for parcel in parcels)
    path = folder / "huge.pddl"
    path.write_text(
        f"(define (problem huge) (:domain courier) (:objects {' '.join(names)} - place {' '.join(who)} - van "
        f"{' '.join(parcels)} - parcel) (:init (= (total-cost) 0) {' '.join(roads + at + waiting)}) "
        f"(:goal (and {goal})) (:metric minimize (total-cost)))"
    )
    return path
