"""The screens of all commands in a terminal of 80 columns, as golden files that somebody has looked at.

`make golden` writes them again; look at what changed before you commit it.
"""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import COURIER
from tests.integration.screens import look

GOLDEN = Path(__file__).parents[1] / "golden" / "screens"
UPDATE = os.environ.get("MISSTEP_UPDATE_GOLDEN") == "1"
COLUMNS = 80
TEST = ("test", "domain.pddl", "problem.pddl", "--policy", "zoo:courier", "--pool", "40")
SAFETY = ("safety", "test", "line.jani", "--policy", "zoo:two_way_line", "--runs", "30")
TASK = ("domain.pddl", "problem.pddl")
SCREENS: dict[str, tuple[str, ...]] = {
    "demo": ("demo", "--out", "demo"),
    "test": (*TEST, "--out", "again"),
    "test-quiet": (*TEST, "--quiet", "--out", "quiet"),
    "test-nothing-found": (
        "test",
        "domain.pddl",
        "done.pddl",
        "--policy",
        "heuristic:ff",
        "--pool",
        "1",
        "--out",
        "none",
    ),
    "test-directory": (
        "test",
        "domain.pddl",
        "problems",
        "--policy",
        "zoo:courier",
        "--pool",
        "5",
        "--out",
        "many",
    ),
    "test-no-answers": (*TEST[:3], "--policy", "python:broken.py:best", "--pool", "5", "--out", "broken"),
    "safety-test-no-answers": (
        *SAFETY[:3],
        "--policy",
        "python:broken.py:jam",
        "--runs",
        "5",
        "--out",
        "jammed",
    ),
    "test-error": ("test", "domain.pddl", "problems/broken.pddl", "--policy", "zoo:courier"),
    "show": ("show", "record"),
    "show-loop": ("show", "record", "9"),
    "show-cost": ("show", "record", "25"),
    "show-first-step": ("show", "record", "0"),
    "report": ("report", "record", "--out", "page.html"),
    "replay": ("replay", "record"),
    "replay-bug": ("replay", "record", "9"),
    "replay-changed": ("replay", "record", "9", "--policy", "heuristic:ff"),
    "replay-fixed": ("replay", "record", "17", "--policy", "python:perfect.py:best"),
    "shrink": ("shrink", "record", "14"),
    "verify": ("verify", "untouched"),
    "run": ("run", *TASK, "--policy", "zoo:courier"),
    "run-loop": ("run", *TASK, "--policy", "heuristic:ff"),
    "fuzz": ("fuzz", *TASK, "--pool", "20", "--out", "pool.jsonl"),
    "plan": ("plan", *TASK),
    "dominance": ("dominance", *TASK),
    "parts": ("parts",),
    "parts-oracle": ("parts", "oracle"),
    "doctor": ("doctor",),
    "diff": ("diff", "record", "other"),
    "safety-diff": ("diff", "safety-untouched", "safety-other"),
    "safety-generate": ("safety", "generate", "two_way_line", "--out", "written.jani"),
    "safety-decide": ("safety", "decide", "line.jani"),
    "safety-test": (*SAFETY, "--out", "safety-again"),
    "safety-show": ("show", "safety"),
    "safety-show-bug": ("show", "safety", "9"),
    "safety-replay": ("replay", "safety", "9"),
    "safety-shrink": ("shrink", "safety", "4"),
    "safety-verify": ("verify", "safety-untouched"),
    "campaign": ("campaign", "nightly.toml", "--jobs", "2", "--out", "nightly-again"),
    "campaign-dry-run": ("campaign", "nightly.toml", "--dry-run", "--jobs", "2", "--out", "nightly-new"),
    "campaign-status": ("campaign", "status", "nightly.toml"),
    "campaign-table": ("campaign", "table", "nightly.toml", "--by", "policy"),
    "campaign-error": ("campaign", "wrong.toml"),
    "unknown-option": ("plan", *TASK, "--serch", "astar:lmcut"),
    "help": ("--help",),
}
PERFECT = """
from misstep import search

def best(state):
    return next(iter(search(state.task, "astar:lmcut", state=state).plan), None)
"""
BROKEN = """
def best(state):
    raise RuntimeError("CUDA out of memory")

def jam(state, labels):
    return next(label for label in ("load", "unload") if label not in labels)
"""
CAMPAIGN = """
domain = "domain.pddl"
problems = ["problem.pddl", "problems/broken.pddl"]
policies = ["zoo:courier", "heuristic:ff"]
pool = 5
seconds = 600
"""
COMMANDS = [
    "reproduce",
    *"demo test run fuzz plan show report verify replay shrink diff dominance train serve doctor parts safety".split(),
    *("safety test", "safety decide", "safety generate", "safety experiments", "train mlp"),
    *("safety shield", "safety retrain", "safety serve"),
    *("train asnet", "train gnn", "select", "retrain", "scale"),
    *("campaign", "campaign status", "campaign table", "campaign plot", "campaign export"),
]
SCREENS |= {f"help-{name.replace(' ', '-')}": (*name.split(), "--help") for name in COMMANDS}
ENDS_WITH_ONE = ("campaign", "test", "test-quiet", "test-directory", "replay", "replay-bug", "replay-changed",
                 "diff", "safety-diff",
                 "safety-test", "safety-replay")  # fmt: skip
ENDS_WITH_FIVE = ("test-no-answers", "safety-test-no-answers")
ENDS_WITH_FOUR = ("test-error", "campaign-error", "unknown-option")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a task, a folder of problems and a record."""
    here = tmp_path_factory.mktemp("screens")
    for file in COURIER:
        shutil.copy(file, here)
    problem = COURIER[1].read_text()
    done = re.sub(r"\(:goal .*\n", "(:goal (at red depot))\n", problem)
    (here / "done.pddl").write_text(done)
    (here / "perfect.py").write_text(PERFECT)
    (here / "broken.py").write_text(BROKEN)
    (here / "problems").mkdir()
    (here / "problems" / "good.pddl").write_text(problem)
    (here / "problems" / "done.pddl").write_text(done)
    (here / "problems" / "broken.pddl").write_text(problem[:-20])
    seen = look(*TEST, "--out", "record", cwd=here)
    assert seen.code == 1, seen.screen
    assert look("safety", "generate", "two_way_line", "--out", "line.jani", cwd=here).code == 0
    assert look(*SAFETY, "--out", "safety", cwd=here).code == 1
    assert look(*SAFETY, "--seed", "5", "--out", "safety-other", cwd=here).code == 1
    other = ("--policy", "heuristic:hadd", "--pool-file", "record/pool.jsonl", "--out", "other")
    assert look("test", *TASK, *other, cwd=here).code == 1
    (here / "nightly.toml").write_text(CAMPAIGN)
    (here / "wrong.toml").write_text(CAMPAIGN + "bais = 3\n")
    assert look("campaign", "nightly.toml", cwd=here, timeout=300).code == 1
    # `shrink` adds certificates to a record, and `verify` counts them.
    shutil.copytree(here / "record", here / "untouched")
    shutil.copytree(here / "safety", here / "safety-untouched")
    return here


@pytest.mark.parametrize("name", SCREENS)
def test_screen(name: str, folder: Path) -> None:
    seen = look(*SCREENS[name], cwd=folder, columns=COLUMNS)
    ends = {1: ENDS_WITH_ONE, 4: ENDS_WITH_FOUR, 5: ENDS_WITH_FIVE}
    assert seen.code == next((code for code, names in ends.items() if name in names), 0), seen.screen
    assert seen.is_cursor_clean, seen.screen
    text = timeless(seen.screen, folder)
    golden = GOLDEN / f"{name}.txt"
    if UPDATE:
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8"), "look at it; `make golden` takes it over"


def test_there_is_no_other_golden_file() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(SCREENS)


def timeless(text: str, folder: Path) -> str:
    """The screen without what differs from machine to machine and from run to run."""
    text = text.replace(str(folder), "HERE").replace(sys.executable, "PYTHON")
    text = re.sub(r"\d+\.\d+ s\b", "N s", text)
    text = re.sub(r"\d+ kB\b", "N kB", text)
    lines = []
    for line in text.splitlines():
        # What is installed differs; that every line is there does not.
        line = re.sub(r"^(ok|missing|failed)( +)([a-z -]+): .*", r"STATUS  \3: DETAIL", line)
        line = line.removesuffix(" (extras are optional)")
        if not (line.startswith(" " * 9) and lines and lines[-1].startswith("STATUS")):
            lines.append(line)
    return "\n".join(lines) + "\n"
