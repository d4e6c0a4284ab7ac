"""Several problems at the same time: the same results, and no process is left behind."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from misstep.events import timeless
from misstep.record.store import read_lines
from tests.conftest import COURIER
from tests.integration.cli import command, misstep

SLOW = """
import time

def slow(state):
    time.sleep(0.05)
    return state.task.applicable(state)[0]
"""
CARELESS = """
def careless(state):
    return max(state.task.applicable(state), key=str, default=None)
"""
DEADLY = """
import os, signal

def deadly(state):
    if "mill.pddl" in str(state.task.source):
        os.kill(os.getpid(), signal.SIGKILL)
    return min(state.task.applicable(state), key=str)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    problem = COURIER[1].read_text()
    problems = tmp_path / "problems"
    problems.mkdir()
    for name, text in {
        "broken": problem[:-20],
        "market": problem.replace("(at red depot)", "(at red market)"),
        "mill": problem.replace("(at red depot)", "(at red mill)"),
        "trivial": re.sub(r"\(:goal .*\n", "(:goal (at red depot))\n", problem),
        "usual": problem,
    }.items():
        (problems / f"{name}.pddl").write_text(text)
    return tmp_path


def events(record: Path) -> list[str]:
    return [json.dumps(timeless(line)) for line in read_lines(record / "events.jsonl")]


def family_of(process: int) -> list[int]:
    """All processes below one."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
            if parent == process:
                found += [int(folder.name), *family_of(int(folder.name))]
    return found


def wait_until(holds: Callable[[], bool], seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


def test_the_same_whatever_the_number_of_jobs(folder: Path) -> None:
    ended = {}
    for jobs in ("1", "3"):
        options = ("--policy", "zoo:courier", "--pool", "8", "--out", folder / jobs, "--jobs", jobs)
        ended[jobs] = misstep("test", COURIER[0], folder / "problems", *options, timeout=600)
    one, three = ended["1"], ended["3"]
    assert one.code == three.code == 1
    assert one.out.replace(str(folder / "1"), "") == three.out.replace(str(folder / "3"), "")
    assert "broken.pddl:21:3: this parenthesis is never closed" in three.err
    for name in ("broken", "market", "mill", "trivial", "usual"):
        assert events(folder / "1" / name) == events(folder / "3" / name)


def files(record: Path) -> dict[str, str]:
    """Certificates and what they refer to, without the record's own name."""
    paths = [record / "cleared.jsonl", record / "evidence.jsonl", *sorted((record / "bugs").iterdir())]
    texts = {path.name: path.read_text() for path in paths if path.exists()}
    return {name: re.sub(r'"(replay|sha256)": "[^"]*"', "", text) for name, text in texts.items()}


@pytest.mark.parametrize("policy", ["zoo:courier", "python:careless.py:careless"])
def test_the_same_for_states_of_one_problem(
    folder: Path, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads work on coming states; a policy in a process of its own is still asked by one."""
    (folder / "careless.py").write_text(CARELESS)
    monkeypatch.chdir(folder)
    ended = {}
    for jobs in ("1", "3"):
        options = ("--policy", policy, "--pool", "12", "--out", folder / jobs, "--jobs", jobs)
        ended[jobs] = misstep("test", *COURIER, *options, timeout=600)
    one, three = ended["1"], ended["3"]
    assert one.code == three.code == 1
    assert one.out.replace(str(folder / "1"), "") == three.out.replace(str(folder / "3"), "")
    assert events(folder / "1") == events(folder / "3")
    assert files(folder / "1") == files(folder / "3")


def test_a_killed_worker_costs_one_problem(folder: Path) -> None:
    (folder / "deadly.py").write_text(DEADLY)
    # In a process of its own it would only kill that.
    policy = ("--policy", f"python:{folder / 'deadly.py'}:deadly", "--no-isolate", "--pool", "1")
    options = (*policy, "--jobs", "2", "--json", "--out", folder / "out")
    ended = misstep("test", COURIER[0], folder / "problems", *options, timeout=600)
    tasks = {task["task"]: task for task in ended.json["tasks"]}
    assert "was killed by signal 9" in tasks["mill.pddl"]["error"]
    assert [name for name, task in tasks.items() if "error" not in task] == [
        "market.pddl",
        "trivial.pddl",
        "usual.pddl",
    ]
    assert ended.json["total"]["errors"] == 2


@pytest.mark.parametrize("who", ["group", "parent"])
def test_interrupted(folder: Path, who: str) -> None:
    """Ctrl-C goes to all processes of a terminal, a termination request to the parent alone."""
    (folder / "slow.py").write_text(SLOW)
    (folder / "problems" / "broken.pddl").unlink()
    options = ("--policy", f"python:{folder / 'slow.py'}:slow", "--pool", "50", "--max-steps", "10")
    words = ["test", COURIER[0], folder / "problems", *options, "--jobs", "2", "--out", folder / "out"]
    process = subprocess.Popen(
        [*command(), *map(str, words)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    # Those with the longest files begin first.
    logs = [folder / "out" / name / "events.jsonl" for name in ("market", "usual")]
    wait_until(lambda: all(log.is_file() and b'"judged"' in log.read_bytes() for log in logs))
    workers = family_of(process.pid)
    assert len(workers) >= 2
    if who == "group":
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.terminate()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    assert out.count("interrupted; so far:") == 2
    for log in logs:
        last = read_lines(log)[-1]
        assert last["event"] == "finished" and "interrupted" in last["limits_hit"] and last["tested"]
    wait_until(lambda: not any(map(_is_alive, workers)))


def test_workers_do_not_outlive_a_killed_parent(folder: Path) -> None:
    (folder / "slow.py").write_text(SLOW)
    options = ("--policy", f"python:{folder / 'slow.py'}:slow", "--pool", "50", "--max-steps", "10")
    words = ["test", COURIER[0], folder / "problems", *options, "--jobs", "2", "--out", folder / "out"]
    process = subprocess.Popen([*command(), *map(str, words)], stdout=subprocess.DEVNULL)
    log = folder / "out" / "market" / "events.jsonl"
    wait_until(lambda: log.is_file() and b'"judged"' in log.read_bytes())
    workers = family_of(process.pid)
    process.kill()
    process.wait()
    wait_until(lambda: not any(map(_is_alive, workers)))


def _is_alive(process: int) -> bool:
    try:
        return (Path(f"/proc/{process}") / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
