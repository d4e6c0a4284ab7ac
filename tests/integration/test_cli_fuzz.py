"""`misstep fuzz` and `misstep run` from outside, and what is left of a pool when they are interrupted."""

import os
import re
import shlex
import signal
import time
from pathlib import Path

import pytest

from tests.integration.cli import begin, misstep

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
    command = ("fuzz", *courier, "--seed", "7", "--pool")
    running = begin(*command, "100000000", "--out", out)
    while not out.exists() or out.stat().st_size < 5000:
        assert running.process.poll() is None, running.end().err
        time.sleep(0.02)
    os.kill(running.pid, how)
    ended = running.end()
    assert "Traceback" not in ended.err
    if how is not signal.SIGKILL:
        assert ended.code == 2
        told = re.search(r"this goes on:\n  (misstep fuzz .*)\n", ended.err)
        assert told and shlex.split(told[1])[-1] == "--resume"
    kept = out.read_bytes().split(b"\n")[:-1]
    assert len(kept) >= 10
    size = str(len(kept) + 5)
    assert misstep(*command, size, "--out", out, "--resume").code == 0
    whole = tmp_path / "whole.jsonl"
    assert misstep(*command, size, "--out", whole).code == 0
    assert out.read_bytes() == whole.read_bytes()
    assert out.read_bytes().split(b"\n")[: len(kept)] == kept
