"""`misstep fuzz` and `misstep run` from outside, and what is left of a pool when they are interrupted."""

import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.integration.cli import misstep

Courier = tuple[Path, Path]


def test_run_json(courier: Courier) -> None:
    result = misstep("run", *courier, "--policy", "heuristic:ff", "--json").json
    assert result["outcome"] in {"solved", "loop", "stuck", "illegal", "dead-end", "cut-off"}
    assert len(result["plan"]) == result["steps"]
    assert (result["cost"] is not None) == (result["outcome"] == "solved")


def test_run_shows_the_trace(courier: Courier, tmp_path: Path) -> None:
    done = misstep("run", *courier, "--policy", "heuristic:lmcut", "--states", "--out", tmp_path / "plan")
    assert done.code == 0
    assert "(drive " in done.out


def test_unknown_policy(courier: Courier) -> None:
    done = misstep("run", *courier, "--policy", "asnett:x")
    assert done.code == 4 and "asnet" in done.err


def test_fuzz_writes_a_pool_and_continues_it(courier: Courier, tmp_path: Path) -> None:
    common = ("--bias", "surface", "--seed", "5", "--json")
    first = misstep("fuzz", *courier, *common, "--pool", "20", "--out", tmp_path / "a.jsonl")
    assert first.json["pool"] == 20
    again = misstep("fuzz", *courier, *common, "--pool", "20", "--out", tmp_path / "a.jsonl")
    assert again.code == 4 and "--resume" in again.err
    misstep("fuzz", *courier, *common, "--pool", "45", "--out", tmp_path / "a.jsonl", "--resume")
    misstep("fuzz", *courier, *common, "--pool", "45", "--out", tmp_path / "b.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    other = misstep(
        "fuzz", *courier, "--bias", "detour", "--seed", "5", "--out", tmp_path / "a.jsonl", "--resume"
    )
    assert other.code == 4 and "was made with bias" in other.err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name)
def test_interrupted(courier: Courier, tmp_path: Path, how: signal.Signals) -> None:
    """All states that were reported are in the file, and the pool can be continued to the same result."""
    out = tmp_path / "pool.jsonl"
    command = [sys.executable, "-m", "misstep.cli", "fuzz", *map(str, courier), "--seed", "7", "--pool"]
    process = subprocess.Popen([*command, "100000000", "--out", str(out)], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not out.exists() or out.stat().st_size < 5000):
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        time.sleep(0.02)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    if how is not signal.SIGKILL:
        assert process.returncode == 2
        told = re.search(r"this goes on:\n  (misstep fuzz .*)\n", errors)
        assert told and shlex.split(told[1])[-1] == "--resume"
    kept = out.read_bytes().split(b"\n")[:-1]
    assert len(kept) >= 10
    size = str(len(kept) + 5)
    subprocess.run([*command, size, "--out", str(out), "--resume"], check=True, capture_output=True)
    whole = tmp_path / "whole.jsonl"
    subprocess.run([*command, size, "--out", str(whole)], check=True, capture_output=True)
    assert out.read_bytes() == whole.read_bytes()
    assert out.read_bytes().split(b"\n")[: len(kept)] == kept
