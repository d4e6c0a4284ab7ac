"""Runs other people's programs: bounded, without leftovers, with their output kept for the error message."""

import contextlib
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from misstep._core import Budget
from misstep.errors import InputError

# Between two looks at a budget.
_LOOK_SECONDS = 0.05
# How long what is left of a program may keep its output open after it ended.
_LAST_WORDS_SECONDS = 1.0
_KEPT_BYTES = 1 << 20
"""Of the output, its end: a program that floods it does not fill our memory."""
_MOST_BYTES = 1 << 26
"""Of a file that a program leaves, its beginning: no plan is longer."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended. `exit_code` is negative for a signal."""

    exit_code: int
    output: str
    limit: str | None
    """Why we killed it: `seconds` or `stopped`."""


def command_words(command: str, *, what: str, **values: object) -> list[str]:
    """The words of a command line, with `{NAME}` replaced by values. Other braces are the program's own.

    InputError, which begins with `what`, where quotes are never closed.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"{what} `{command}`: is no command line: {error}") from None
    for name, value in values.items():
        words = [word.replace(f"{{{name}}}", str(value)) for word in words]
    return words


def read_left(path: Path) -> str:
    """The text of a file that a program left, or the beginning of it where that is no file of reason."""
    with path.open("rb") as file:
        return file.read(_MOST_BYTES).decode(errors="replace")


def run_bounded(command: Sequence[str], *, cwd: Path | None = None, budget: Budget | None = None) -> Finished:
    """Runs a command in a session of its own; on time-out, stop or interrupt all of its processes die.

    So they do where this process is killed; then the directory `cwd`, which must be the command's alone, is
    removed as well. Standard output and error come back as one text, the end of it where it is long. Memory is
    limited for each process alone. OSError where there is no such program.
    """
    budget = budget or Budget()
    if budget.over in ("seconds", "stopped"):
        return Finished(-signal.SIGKILL, "", budget.over)
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(2, "no such program")
    memory = 0 if budget.memory_mb is None else int(budget.memory_mb * 1e6)
    folder = "" if cwd is None else str(cwd.absolute())
    launcher = str(Path(__file__).with_name("launcher.py"))
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", launcher, str(memory), folder, *command],
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    with process:
        try:
            reader = _Reader(process)
            limit = reader.read_until_end(budget)
            if limit is not None:
                return Finished(-signal.SIGKILL, reader.text, limit)
            return Finished(process.wait(), reader.text, None)
        finally:
            _end(process)


@dataclass(slots=True)
class _Reader:
    """Reads what a process writes, and keeps the end of it."""

    process: "subprocess.Popen[bytes]"
    _kept: bytearray = field(default_factory=bytearray)

    @property
    def text(self) -> str:
        """What was kept."""
        return self._kept[-_KEPT_BYTES:].decode(errors="replace")

    def read_until_end(self, budget: Budget) -> str | None:
        """Reads until the process ended; else why we do not wait any longer."""
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        ended: float | None = None
        while budget.over not in ("seconds", "stopped"):
            left = budget.seconds_left
            wait = _LOOK_SECONDS if left is None else min(_LOOK_SECONDS, left)
            ready, _, _ = select.select([descriptor], [], [], wait)
            if ready:
                data = os.read(descriptor, 1 << 16)
                if not data:
                    return self._wait(budget)
                self._kept += data
                if len(self._kept) > 2 * _KEPT_BYTES:
                    del self._kept[:-_KEPT_BYTES]
            elif self.process.poll() is not None:
                ended = time.monotonic() if ended is None else ended
                if time.monotonic() - ended > _LAST_WORDS_SECONDS:
                    return None
        return budget.over

    def _wait(self, budget: Budget) -> str | None:
        """It writes no more, but may still be at work."""
        while budget.over not in ("seconds", "stopped"):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_LOOK_SECONDS)
                return None
        return budget.over


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Lets the launcher end what it started."""
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(b"end")
        process.stdin.close()
    process.stdout.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
