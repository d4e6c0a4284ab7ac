"""Runs other people's programs: bounded, without leftovers, with their output kept for the error message."""

import contextlib
import math
import os
import resource
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from misstep._core import Budget

# The operating system's wait takes no more (and no infinity); three weeks are as good as for ever.
_LONGEST = 2e6
# Between two looks at a stop flag.
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended. `exit_code` is negative for a signal."""

    exit_code: int
    output: str
    limit: str | None
    """Why we killed it: `seconds` or `stopped`."""


def run_bounded(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    budget: Budget | None = None,
) -> Finished:
    """Runs a command in a session of its own; on time-out, stop or interrupt the whole process group dies.

    Standard output and error come back as one text. Memory is limited for each process of the group alone.
    """
    budget = budget or Budget()
    if budget.over is not None:
        return Finished(-signal.SIGKILL, "", budget.over)
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        if budget.memory_mb is not None:
            limit = int(budget.memory_mb * 1e6)
            resource.prlimit(process.pid, resource.RLIMIT_AS, (limit, limit))
        output = _wait(process, budget)
    except BaseException:
        _kill_group(process)
        raise
    if output is None:
        return Finished(process.returncode or -signal.SIGKILL, _kill_group(process), budget.over)
    return Finished(process.returncode, output, None)


def _wait(process: "subprocess.Popen[str]", budget: Budget) -> str | None:
    """What the process wrote until it ended; None where the budget was over before."""
    between_looks = math.inf if budget.stop is None else _LOOK_SECONDS
    while not budget.is_over:
        left = budget.seconds_left
        most = min(between_looks, math.inf if left is None else left)
        try:
            return process.communicate(timeout=None if most == math.inf else min(most, _LONGEST))[0]
        except subprocess.TimeoutExpired:
            continue
    return None


def _kill_group(process: "subprocess.Popen[str]") -> str:
    """Kills the group, returns what it wrote. Its leader was not waited for, so the id is still ours."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    try:
        return process.communicate(timeout=5)[0]
    except (subprocess.TimeoutExpired, ValueError):  # A child that left the group may still hold the pipe.
        return ""
