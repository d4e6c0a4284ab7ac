"""Fast Downward's search component as a peer: the same SAS text in, its own numbers out."""

from __future__ import annotations

import math
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.downward import binary

_SOLVED, _UNSOLVABLE = 0, (11, 12)


needs_downward = pytest.mark.skipif(binary() is None, reason="up-fast-downward is not installed")


@dataclass(frozen=True)
class Answer:
    """`cost` is infinite where the task was proven unsolvable."""

    cost: float
    plan: list[str]


def _run(sas: str, search: str, folder: str) -> subprocess.CompletedProcess[str]:
    command = [str(binary()), "--search", search, "--internal-plan-file", "plan"]
    return subprocess.run(
        command, input=sas, capture_output=True, text=True, cwd=folder, timeout=120, check=False
    )


def solve(sas: str, search: str) -> Answer:
    """The plan of a complete search."""
    with tempfile.TemporaryDirectory() as folder:
        done = _run(sas, search, folder)
        if done.returncode in _UNSOLVABLE:
            return Answer(math.inf, [])
        assert done.returncode == _SOLVED, done.stdout[-2000:] + done.stderr
        *steps, cost = (Path(folder) / "plan").read_text().splitlines()
        found = re.search(r"cost = (\d+)", cost)
        assert found is not None
        return Answer(int(found[1]), [step.replace(" )", ")") for step in steps])


def initial_value(sas: str, heuristic: str) -> float:
    """The heuristic's value of the initial state."""
    with tempfile.TemporaryDirectory() as folder:
        done = _run(sas, f"astar({heuristic}(), bound=0)", folder)
    found = re.search(r"Initial heuristic value for \w+: (\w+)", done.stdout)
    assert found is not None, done.stdout[-2000:] + done.stderr
    return math.inf if found[1] == "infinity" else int(found[1])


def with_initial_state(sas: str, values: tuple[int, ...]) -> str:
    """The same task from another state."""
    state = "\n".join(["begin_state", *map(str, values), "end_state"])
    return re.sub(r"begin_state\n.*?end_state", state, sas, flags=re.DOTALL)
