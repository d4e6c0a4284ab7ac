"""Runs other people's programs: bounded, without leftovers, with their output kept for the error message."""

import contextlib
import os
import resource
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# The operating system's wait takes no more (and no infinity); three weeks are as good as for ever.
_LONGEST = 2e6


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended. `exit_code` is negative for a signal; `timed_out` means that we killed it."""

    exit_code: int
    output: str
    timed_out: bool


def run_bounded(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    max_seconds: float | None = None,
    max_memory_mb: int | None = None,
) -> Finished:
    """Runs a command in a session of its own; on time-out or interrupt the whole process group dies.

    Standard output and error come back as one text. Memory is limited for each process of the group alone.
    """
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
        if max_memory_mb is not None:
            limit = max_memory_mb * 2**20
            resource.prlimit(process.pid, resource.RLIMIT_AS, (limit, limit))
        output, _ = process.communicate(timeout=None if max_seconds is None else min(max_seconds, _LONGEST))
    except subprocess.TimeoutExpired:
        return Finished(process.returncode or -signal.SIGKILL, _kill_group(process), timed_out=True)
    except BaseException:
        _kill_group(process)
        raise
    return Finished(process.returncode, output, timed_out=False)


def _kill_group(process: "subprocess.Popen[str]") -> str:
    """Kills the group, returns what it wrote. Its leader was not waited for, so the id is still ours."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    try:
        return process.communicate(timeout=5)[0]
    except (subprocess.TimeoutExpired, ValueError):  # A child that left the group may still hold the pipe.
        return ""
