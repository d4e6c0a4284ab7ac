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
    if warm.can_start(env or {}):
        return checked(begin(*arguments, env=env, cwd=cwd).end(timeout))
    return ended([*command(), *map(str, arguments)], timeout=timeout, env=env, cwd=cwd)


def python(code: str, *, cwd: Path | None = None) -> Ended:
    """Runs code in a process of its own."""
    return ended([sys.executable, "-c", code], cwd=cwd)


def ended(
    words: Sequence[str], *, timeout: float = 300, env: dict[str, str] | None = None, cwd: Path | None = None
) -> Ended:
    """Runs a program to its end; it must neither die of a signal nor show a traceback."""
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=os.environ | (env or {}),
        cwd=cwd,
        check=False,
    )
    return checked(Ended(done.returncode, done.stdout, done.stderr))


def checked(end: Ended) -> Ended:
    """The end of a program that neither showed a traceback nor died of a signal."""
    assert "Traceback" not in end.err, end.err
    assert end.code >= 0, f"died of {signal.Signals(-end.code).name}: {end.err}"
    return end


class Running:
    """A command that started warm, and the pipes that it writes to."""

    def __init__(self, process: warm.Warm, pipes: tuple[int, int]) -> None:
        self.process = process
        self.pid = process.pid
        self.pipes = pipes

    def end(self, timeout: float = 60) -> Ended:
        """Reads until no process holds the pipes any more, as `subprocess.run` does."""
        end = time.monotonic() + timeout
        text = dict.fromkeys(self.pipes, b"")
        reading = set(self.pipes)
        try:
            while reading:
                left = end - time.monotonic()
                if left <= 0:
                    raise subprocess.TimeoutExpired("misstep", timeout)
                for descriptor in select.select(reading, [], [], left)[0]:
                    piece = os.read(descriptor, 1 << 16)
                    text[descriptor] += piece
                    if not piece:
                        reading.discard(descriptor)
            code = self.process.wait(max(1.0, end - time.monotonic()))
        except BaseException:
            self.process.kill()
            raise
        finally:
            for descriptor in self.pipes:
                os.close(descriptor)
        out, err = (text[descriptor].decode() for descriptor in self.pipes)
        return Ended(code, out, err)


def begin(
    *arguments: str | Path,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    new_session: bool = False,
) -> Running:
    """Starts a command that the test does something to; `end` is to be called."""
    (out, to_out), (err, to_err) = os.pipe(), os.pipe()
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        streams = nothing.fileno(), to_out, to_err
        words = [str(argument) for argument in arguments]
        process = warm.start(words, streams, env=os.environ | (env or {}), cwd=cwd, new_session=new_session)
    for descriptor in streams[1:]:
        os.close(descriptor)
    return Running(process, (out, err))


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
