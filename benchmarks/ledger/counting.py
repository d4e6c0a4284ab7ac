"""Counts the instructions of one command with valgrind, its own processes included."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ABSENT = (
    "make ledger needs valgrind, which counts instructions; it is a package of the system, "
    "for example: apt-get install valgrind"
)
_TOTAL = re.compile(r"^==\d+== I\s+refs:\s+([\d,]+)$", re.MULTILINE)
# Cachegrind without caches takes half as long as callgrind and counts the same; what it would write is not needed.
_VALGRIND = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
# misstep starts other people's programs through this one: the translator's cost is not ours.
_OTHERS = "--trace-children-skip-by-arg=*/launcher.py"


class Broken(Exception):
    """A command of the ledger cannot be counted, or does not do what it is meant to do."""


@dataclass(frozen=True)
class Machine:
    """What decides which kernels run and how they were compiled: only rows that agree in it are compared."""

    python: str
    compiler: str
    arch: str


def machine(root: Path) -> Machine:
    """Of this interpreter and of the core that it loads."""
    from misstep import _core

    info = str(getattr(_core, "build_info", ""))
    caches = sorted(root.glob("build/cp*/CMakeCache.txt"))
    is_plain = any("MISSTEP_LTO:BOOL=OFF" in cache.read_text(encoding="utf-8") for cache in caches[:1])
    compiler = f"{info or 'unknown'}{', no LTO' if is_plain else ''}"
    return Machine(platform.python_version(), compiler, platform.machine())


def environment() -> dict[str, str]:
    """The same for everyone, since even its size moves a few instructions: fixed hashes, one thread, no colours."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    fixed = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return kept | fixed | {"COLUMNS": "80", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TERM": "dumb"}


def run(line: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command in its folder, without a terminal."""
    return subprocess.run(
        line,
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def count(line: Sequence[str], folder: Path, logs: Path) -> tuple[int, subprocess.CompletedProcess[str]]:
    """The instructions of a command and of the processes that it starts, and how it ended."""
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    ended = run([*_VALGRIND, "--trace-children=yes", _OTHERS, f"--log-file={logs}/%p", *line], folder)
    totals = [total(log.read_text(encoding="utf-8", errors="replace")) for log in sorted(logs.iterdir())]
    known = [number for number in totals if number is not None]
    if not known:
        raise Broken(f"valgrind counted nothing:\n{ended.stderr.strip()}")
    return sum(known), ended


def total(log: str) -> int | None:
    """What valgrind counted for one process; None where it became another program or was killed."""
    found = _TOTAL.findall(log)
    return int(found[-1].replace(",", "")) if found else None
