"""Runs commands as a user does, each in a process of its own: warm (see warm.py), or one that starts from nothing."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep.budget import Budget
from misstep.support.process import Finished, Scratch
from tests.integration import warm


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object on standard output."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        assert self.out.count("\n") == 1
        return value


def command() -> list[str]:
    return [sys.executable, "-m", "misstep.cli"]


def misstep(
    *arguments: str | Path,
    timeout: float = 300,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> Ended:
    """Runs a command to its end. It starts from nothing where `env` has what an interpreter reads at its start."""
    words = [str(argument) for argument in arguments]
    environment = os.environ | (env or {})
    if warm.can_start(env or {}):
        ended = _ran_warm(words, environment, cwd, timeout)
    else:
        done = subprocess.run(
            [*command(), *words],
            capture_output=True,
            text=True,
            timeout=timeout,
            env=environment,
            cwd=cwd,
            check=False,
        )
        ended = Ended(done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in ended.err, ended.err
    assert ended.code >= 0, f"died of {signal.Signals(-ended.code).name}: {ended.err}"
    return ended


def _ran_warm(words: list[str], env: dict[str, str], cwd: Path | None, timeout: float) -> Ended:
    """What comes is read until no process holds the pipes any more, as `subprocess.run` does it."""
    pipes = [os.pipe(), os.pipe()]
    ours, theirs = zip(*pipes, strict=True)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        process = warm.start(words, (nothing.fileno(), *theirs), env=env, cwd=cwd)
    for descriptor in theirs:
        os.close(descriptor)
    end = time.monotonic() + timeout
    text = dict.fromkeys(ours, b"")
    reading = set(ours)
    try:
        while reading:
            left = end - time.monotonic()
            if left <= 0:
                raise subprocess.TimeoutExpired(words, timeout)
            for descriptor in select.select(reading, [], [], left)[0]:
                piece = os.read(descriptor, 1 << 16)
                text[descriptor] += piece
                if not piece:
                    reading.discard(descriptor)
        code = process.wait(max(1.0, end - time.monotonic()))
    except BaseException:
        process.kill()
        raise
    finally:
        for descriptor in ours:
            os.close(descriptor)
    out, err = (text[descriptor].decode() for descriptor in ours)
    return Ended(code, out, err)


def processes_with(word: str) -> Sequence[int]:
    """Ids of running processes whose command line holds a word."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                text = (folder / "cmdline").read_text(errors="replace")
            except OSError:
                continue
            if word in text:
                found.append(int(folder.name))
    return found


def processor_seconds(process: int) -> float:
    """What a process has had of the processors, which tells how far it is on a slow machine as on a fast one."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def ran(command: Sequence[str], *, budget: Budget | None = None) -> Finished:
    """How a program ends that misstep starts."""
    with Scratch() as scratch:
        return scratch.run(command, budget=budget)
