"""Which processes descend from this one, what memory they take, and how all of them are ended."""

import contextlib
import ctypes
import os
import signal
import time
from pathlib import Path

_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGESIZE")
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Makes this process the parent of all its descendants whose parents end, where the system can do so."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Has the operating system kill this process when the one that started it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def descendants(ancestor: int) -> list[int]:
    """All processes that descend from one; none where the system has no /proc."""
    children: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for name in os.listdir(_PROC):  # noqa: PTH208 (names are all that is needed)
            if name.isdigit() and (parent := _parent(name)) is not None:
                children.setdefault(parent, []).append(int(name))
    found, left = list[int](), [ancestor]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def own_bytes(process: int) -> int:
    """The memory of a process that is not that of files; 0 where it is gone or the system does not tell."""
    try:
        _, resident, shared, *_ = (_PROC / str(process) / "statm").read_bytes().split()
    except (OSError, ValueError):
        return 0
    return max(0, int(resident) - int(shared)) * _PAGE


def running_total() -> int | None:
    """How many threads and processes there are on the machine, at the price of reading one line."""
    try:
        return int((_PROC / "loadavg").read_text().split()[3].partition("/")[2])
    except (OSError, ValueError, IndexError):
        return None


def end_descendants(ancestor: int, *, group: int | None = None) -> None:
    """Kills all descendants, which are stopped first: those that fork cannot outrun us."""
    if group is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    pause = 0.001  # Most end at once.
    while found := [one for one in descendants(ancestor) if not _is_zombie(one)]:
        for word in (signal.SIGSTOP, signal.SIGKILL):
            for one in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(one, word)
            if word is signal.SIGSTOP:
                found = descendants(ancestor)
        time.sleep(pause)
        pause = min(2 * pause, 0.01)


def _parent(name: str) -> int | None:
    try:
        with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 (it is read often)
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def _is_zombie(process: int) -> bool:
    try:
        text = (_PROC / str(process) / "stat").read_bytes()
    except OSError:
        return True
    return text.rpartition(b")")[2].split()[:1] in ([b"Z"], [b"X"])


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):  # other systems than Linux have no such call
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
