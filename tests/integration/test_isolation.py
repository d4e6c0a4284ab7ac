"""Policies that crash, hang, print or fork: the test goes on, JSON stays clean, nothing is left behind."""

import atexit
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from misstep import load
from misstep.support.census import descendants
from tests.integration.cli import begin

ROOT = Path(__file__).parents[2]
FERRY = ROOT / "tests" / "tasks" / "ferry"
POOL = 12


@cache
def task_file() -> str:
    """The task as SAS: nothing has to be translated."""
    path = Path(tempfile.mkdtemp(prefix="hostile-")) / "ferry.sas"
    path.write_text(load(FERRY / "domain.pddl", FERRY / "p02.pddl").sas)
    atexit.register(shutil.rmtree, path.parent)
    return str(path)


def run_policy(name: str, out: Path, *options: str) -> tuple[int, dict[str, Any], str]:
    """The exit code, the JSON and what went to standard error."""
    running = begin(
        *("test", task_file(), "--json", "--policy", f"python:{ROOT / 'tests' / 'hostile.py'}:{name}"),
        *("--pool", str(POOL), "--out", out, *options),
        new_session=True,
    )
    left: set[int] = set()
    while running.process.poll() is None:
        left.update(descendants(running.pid))
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.process.wait(0.2)
    ended = running.end()
    deadline = time.monotonic() + 60
    while still := [pid for pid in left if is_running(pid)]:
        assert time.monotonic() < deadline, f"left behind: {still}"
        time.sleep(0.05)
    return ended.code, json.loads(ended.out), ended.err


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def reasons(out: Path) -> set[str]:
    events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    return {event["reason"] for event in events if event.get("reason") is not None}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a policy gets that answers the same and behaves."""
    code, found, _ = run_policy("good", tmp_path_factory.mktemp("good") / "out")
    assert (code, found["tested"], found["failed"]) == (1, POOL, 0)
    return found


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("exits", (), "the policy's process ended with exit code 3"),
        ("crashes", (), "the policy's process was killed by SIGSEGV"),
        ("closes_files", (), "the policy's process ended with exit code"),
        ("writes_nonsense", (), "the policy's process ended with exit code"),
        ("leaves_children", (), "the policy's process ended with exit code 7"),
        ("bombs", (), "it started more than 200 processes"),
        ("out_of_memory", (), "raised RuntimeError: CUDA out of memory"),
        ("sleeps", ("--call-seconds", "1"), "within 1 seconds"),
        ("spins", ("--call-seconds", "1"), "within 1 seconds"),
    ],
)
def test_a_failure_of_the_process_ends_a_state_and_not_the_test(
    name: str, options: tuple[str, ...], reason: str, tmp_path: Path, expected: dict[str, Any]
) -> None:
    code, found, _ = run_policy(name, tmp_path / "out", *options)
    assert code == 1
    assert found["tested"] == POOL
    assert 0 < found["failed"] == found["unknown"] < POOL
    assert found["bugs"]["qualitative"] < expected["bugs"]["qualitative"]
    assert all(reason in told for told in reasons(tmp_path / "out")), reasons(tmp_path / "out")


@pytest.mark.parametrize("name", ["prints", "changes_directory"])
def test_what_harms_nobody_changes_nothing(name: str, tmp_path: Path, expected: dict[str, Any]) -> None:
    _, found, _ = run_policy(name, tmp_path / "out")
    for key in ("tested", "solved", "bugs", "cleared", "unknown", "failed"):
        assert found[key] == expected[key]
    if name == "prints":
        (warning,) = found["warnings"]
        assert "the policy printed something" in warning and "hello from the policy" in warning


def test_prints_do_not_reach_the_result_without_a_process_of_its_own(
    tmp_path: Path, expected: dict[str, Any]
) -> None:
    _, found, errors = run_policy("prints", tmp_path / "out", "--no-isolate")
    assert found["bugs"] == expected["bugs"] and "hello from the policy" in errors


def test_a_leak_is_ended_at_the_limit(tmp_path: Path, expected: dict[str, Any]) -> None:
    _, found, _ = run_policy("leaks", tmp_path / "out", "--memory-mb", "250")
    assert found["tested"] == POOL
    assert all("took more than 250 MB of memory" in reason for reason in reasons(tmp_path / "out"))


def test_a_policy_that_always_ends_is_given_up(tmp_path: Path) -> None:
    code, found, _ = run_policy("always_exits", tmp_path / "out")
    assert code == 5
    assert found["failed"] == found["tested"] > 0
    assert found["limits_hit"] == ["policy"]
    assert "10 times in a row" in found["warnings"][0]


def test_a_policy_that_hangs_ends_with_the_time(tmp_path: Path) -> None:
    code, found, errors = run_policy("always_sleeps", tmp_path / "out", "--seconds", "4")
    assert (code, found["outcome"], errors) == (5, "limit", "")
    assert found["limits_hit"][0].endswith("seconds")  # on a busy machine before the policy was loaded


def test_without_a_process_of_its_own_a_hang_ends_with_the_time_too(tmp_path: Path) -> None:
    code, found, _ = run_policy("always_sleeps", tmp_path / "out", "--seconds", "4", "--no-isolate")
    assert (code, found["outcome"]) == (5, "limit")
    assert found["limits_hit"][0].endswith("seconds")


def test_a_slow_policy_is_asked_for_fewer_states(tmp_path: Path) -> None:
    """A batch of 12 would take 2.4 seconds, which is more than a call may take."""
    _, found, _ = run_policy("slow", tmp_path / "out", "--call-seconds", "2", "--seconds", "12")
    assert found["failed"] == 0
    assert found["tested"] > 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_all_processes_go_with_misstep(number: signal.Signals, tmp_path: Path) -> None:
    policy = ("--policy", f"python:{ROOT / 'tests' / 'hostile.py'}:stays_with_children")
    running = begin("test", task_file(), "--json", "--out", tmp_path / "out", *policy, new_session=True)
    seen: set[int] = set()
    deadline = time.monotonic() + 300
    while len(seen) < 4:  # the keeper, the policy's process, its two children
        assert running.process.poll() is None and time.monotonic() < deadline
        seen.update(descendants(running.pid))
        time.sleep(0.02)
    os.kill(running.pid, number)
    assert running.end().code != 0
    while still := [pid for pid in seen if is_running(pid)]:
        assert time.monotonic() < deadline + 20, f"left behind: {still}"
        time.sleep(0.05)
