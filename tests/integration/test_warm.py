"""Commands that start warm do what commands do that start from nothing, and leave nothing for the next one."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import COURIER
from tests.integration import warm
from tests.integration.cli import Ended, begin, command, misstep

POLICY = """
import os, sys
print("NAME", os.environ.get("MISSTEP_SAID"), sys.path[0] == os.getcwd(), "tests" in sys.modules)
os.environ["MISSTEP_SAID"] = "leaked"
os.chdir("/")

def first(state):
    return state.task.applicable(state)[0]
"""


def cold(*words: str, cwd: Path) -> Ended:
    done = subprocess.run([*command(), *words], capture_output=True, text=True, cwd=cwd, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


def timeless(ended: Ended) -> Ended:
    return replace(ended, out=re.sub(r"\d+\.\d+ s\b", "N s", ended.out))


@pytest.mark.parametrize(
    "words",
    [
        ("--version",),
        ("--help",),
        ("parts", "--json"),
        ("plan", "nowhere.pddl", "nowhere.pddl"),
        ("fuzz", *map(str, COURIER), "--pool", "20", "--out", "pool.jsonl", "--quiet"),
    ],
    ids=lambda words: words[0],
)
def test_the_same_as_from_nothing(words: tuple[str, ...], tmp_path: Path) -> None:
    folders = tmp_path / "warm", tmp_path / "cold"
    for folder in folders:
        folder.mkdir()
    ended = misstep(*words, cwd=folders[0]), cold(*words, cwd=folders[1])
    assert timeless(ended[0]) == timeless(ended[1])
    left = [{file.name: file.read_bytes() for file in folder.iterdir()} for folder in folders]
    assert left[0] == left[1]


def test_nothing_is_left_for_the_next_command(tmp_path: Path) -> None:
    """Modules of one name, the environment, the working directory."""
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "mine.py").write_text(POLICY.replace("NAME", name))
        options = ("--policy", "python:mine.py:first", "--pool", "1", "--no-isolate", "--out", folder / "out")
        ended = misstep("test", *COURIER, *options, cwd=folder, env={"MISSTEP_SAID": name})
        assert ended.code in (0, 1) and f"{name} {name} True False" in ended.out
    assert "MISSTEP_SAID" not in os.environ and Path.cwd() != Path("/")


def test_streams_signals_and_the_end_are_those_of_a_process(tmp_path: Path) -> None:
    (tmp_path / "stays.py").write_text("import time\nprint('here', flush=True)\ntime.sleep(600)\n")
    policy = ("--policy", "python:stays.py:none", "--no-isolate", "--out", "out")
    running = begin("test", *COURIER, *policy, cwd=tmp_path)
    assert os.read(running.pipes[0], 5) == b"here\n"
    os.kill(running.pid, signal.SIGKILL)
    assert running.end().code == -signal.SIGKILL
    assert json.loads(misstep("parts", "--json").out)


def test_what_is_read_at_a_start_needs_one(tmp_path: Path) -> None:
    assert warm.can_start({"PYTHONPATH": str(tmp_path), "COLUMNS": "80"}) is (sys.platform == "linux")
    (tmp_path / "sitecustomize.py").touch()
    assert not warm.can_start({"PYTHONPATH": str(tmp_path)})
    assert not warm.can_start({"PYTHONHASHSEED": "1"}) and not warm.can_start({"LC_ALL": "C"})
