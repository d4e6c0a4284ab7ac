"""Tries one mutant: runs its tests, in processes that import the changed module."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutation import hook
from tests.mutation.mutants import ROOT, Mutant

# A mutant may count or collect for ever: seconds of the processor, and 8 GB.
_LIMITED = 'ulimit -t "$1"; ulimit -v 8388608; shift; exec "$@"'
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_NOTHING_RUN = 5
"""The exit code of pytest where it found no test."""


@dataclass(frozen=True)
class Tried:
    """How it went: `killed`, `timeout` (which counts as killed), `survived`, or `unreached` by any test."""

    key: str
    outcome: str
    by: tuple[str, ...] = ()
    """The tests that failed: the first one, or all with `matrix`."""
    tests: int = 0
    seconds: float = 0.0

    @property
    def is_killed(self) -> bool:
        return self.outcome in ("killed", "timeout")


def make_overlay(folder: Path) -> Path:
    """A folder for PYTHONPATH with which every interpreter runs the hook."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(hook.__file__), folder / "sitecustomize.py")
    return folder


class Runner:
    """Starts the tests of mutants; all that runs ends with `stop`."""

    def __init__(self, folder: Path, *, matrix: bool = False) -> None:
        self._overlay = make_overlay(folder / "overlay")
        self._texts = folder / "texts"
        self._texts.mkdir(parents=True, exist_ok=True)
        self._matrix = matrix
        self._lock = threading.Lock()
        self._running: set[int] = set()
        self._is_over = False
        self.least_seconds = 60
        """Of the processor, beside ten times what the tests usually take."""

    def stop(self) -> None:
        """Ends all processes that were started; what is tried next ends at once."""
        with self._lock:
            self._is_over = True
            for pid in self._running:
                _end(pid)

    def try_one(self, mutant: Mutant, tests: Sequence[str], seconds: float) -> Tried | None:
        """None if it was stopped. `seconds` is what the tests take without a change."""
        if not tests:
            return Tried(mutant.key, "unreached")
        begin = time.monotonic()
        code, said = self._run(mutant, tests, seconds)
        if self._is_over:
            return None
        spent = round(time.monotonic() - begin, 1)
        if code is None or -code in (signal.SIGXCPU, signal.SIGKILL):
            return Tried(mutant.key, "timeout", tests=len(tests), seconds=spent)
        outcome = {0: "survived", _NOTHING_RUN: "unreached"}.get(code, "killed")
        by = tuple(_FAILED.findall(said)) if outcome == "killed" else ()
        return Tried(mutant.key, outcome, by, len(tests), spent)

    def passes_without(self, mutant: Mutant, tests: Sequence[str], seconds: float) -> bool:
        """Whether the same tests pass when nothing is changed."""
        same = Mutant(mutant.file, (ROOT / mutant.file).read_bytes(), mutant.lines)
        return self._run(same, tests, seconds)[0] == 0

    def _run(self, mutant: Mutant, tests: Sequence[str], seconds: float) -> tuple[int | None, str]:
        text = self._texts / f"{mutant.key}.py"
        text.write_bytes(mutant.changed)
        listed = self._texts / f"{mutant.key}.tests"
        listed.write_text("\n".join(tests), encoding="utf-8")
        said = self._texts / f"{mutant.key}.log"
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join((str(self._overlay), str(ROOT))),
            hook.MUTANT: os.pathsep.join((mutant.module, str(ROOT / mutant.file), str(text))),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self._texts / "hypothesis"),
            "OPENBLAS_NUM_THREADS": "1",
        }
        words = ["-q", "-rfE", "-p", "no:cacheprovider", "-p", "no:xdist", *([] if self._matrix else ["-x"])]
        cpu = int(self.least_seconds + 10 * seconds)
        with said.open("wb") as log, self._lock:
            if self._is_over:
                return None, ""
            process = subprocess.Popen(
                ["sh", "-c", _LIMITED, "sh", str(cpu), sys.executable, "-m", "pytest", *words, f"@{listed}"],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._running.add(process.pid)
        try:
            code: int | None = process.wait(
                5 * cpu
            )  # by the clock, on a busy machine, for what waits for ever
        except subprocess.TimeoutExpired:
            code = None
        _end(process.pid)
        process.wait()
        with self._lock:
            self._running.discard(process.pid)
        return code, said.read_text(encoding="utf-8", errors="replace")


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
