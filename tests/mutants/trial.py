"""One mutant in a process of its own: watched, limited, and judged by how it ended."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from misstep.support.census import descendants

HANG_SECONDS = 40.0
"""No command here is given more than ten seconds; the machine may be busy."""
_ENDINGS = frozenset((0, 1, 4, 5))
_WRONG = (
    "Traceback (most recent call last)",
    "internal error",
    "AddressSanitizer",
    "runtime error:",
    "terminate called",
)


@dataclass(frozen=True)
class Ended:
    """How a process ended; `wrong` says what is wrong about it, if anything."""

    code: int
    seconds: float
    grown_mb: float
    wrong: str | None
    said: str


def resident_mb(process: int | str = "self") -> float:
    """What a process holds in memory; 0 where it is gone."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def attempt(work: Callable[[], int], folder: Path, *, grow_mb: float) -> Ended:
    """Runs `work` in a fork, in `folder`; it must neither crash, nor hang, nor grow by more than `grow_mb`."""
    said, begin, before = folder / "said.txt", time.monotonic(), resident_mb()
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process == 0:
        _child(work, folder, said)
    killed, status, used = None, 0, None
    while used is None:
        done, status, usage = os.wait4(process, os.WNOHANG)
        if done:
            used = usage
        elif time.monotonic() - begin > HANG_SECONDS:
            killed = killed or f"a hang: still at it after {HANG_SECONDS:.0f} seconds"
            _end(process)
        elif resident_mb(process) - before > 8 * grow_mb:
            killed = killed or "memory without bound"
            _end(process)
        else:
            time.sleep(0.005)
    text = said.read_text(errors="replace")
    grown = used.ru_maxrss / 1024 - before
    code = os.waitstatus_to_exitcode(status)
    wrong = killed or _judged(code, text)
    if wrong is None and grown > grow_mb:
        wrong = f"{grown:.0f} MB of memory, more than {grow_mb:.0f}"
    return Ended(code, time.monotonic() - begin, grown, wrong, text)


def _judged(code: int, text: str) -> str | None:
    if code < 0:
        return f"a crash by {signal.Signals(-code).name}"
    if word := next((word for word in _WRONG if word in text), None):
        return f"`{word}` in what it said"
    return None if code in _ENDINGS else f"exit code {code}"


def _end(process: int) -> None:
    for one in (*descendants(process), process):
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _child(work: Callable[[], int], folder: Path, said: Path) -> None:
    """Never returns."""
    code = 3
    try:
        os.setsid()
        os.chdir(folder)
        output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for descriptor in (1, 2):
            os.dup2(output, descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        # A test runner may have put something else into their place.
        sys.stdout, sys.stderr = (os.fdopen(d, "w", errors="replace", closefd=False) for d in (1, 2))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        code = int(work())
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
