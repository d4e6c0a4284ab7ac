"""Runs the installed command as a user does, in a process of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep.budget import Budget
from misstep.support.process import Finished, Scratch


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
    return ended([*command(), *map(str, arguments)], timeout=timeout, env=env, cwd=cwd)


def python(code: str, *, cwd: Path | None = None) -> Ended:
    """Runs code in a process of its own."""
    return ended([sys.executable, "-c", code], cwd=cwd)


def ended(
    words: Sequence[str], *, timeout: float = 300, env: dict[str, str] | None = None, cwd: Path | None = None
) -> Ended:
    """How a program ended that must not die or show a traceback."""
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=os.environ | (env or {}),
        cwd=cwd,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode >= 0, f"died of {signal.Signals(-done.returncode).name}: {done.stderr}"
    return Ended(done.returncode, done.stdout, done.stderr)


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
