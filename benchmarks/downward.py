"""Fast Downward's search component: found, run and read."""

from __future__ import annotations

import functools
import importlib.util
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

SEARCHES = {
    "blind": "astar(blind()",
    "hmax": "astar(hmax()",
    "ff": "eager_greedy([ff()]",
    "lmcut": "astar(lmcut()",
}


@functools.cache
def binary() -> Path | None:
    """The `downward` program in the package up-fast-downward, found without importing that package."""
    spec = importlib.util.find_spec("up_fast_downward")
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / "downward" / "builds" / "release" / "bin" / "downward"
    return path if path.exists() else None


@dataclass(frozen=True)
class Measured:
    """One search: how many states in how many seconds of CPU time, and what the process took at most."""

    evaluated: int
    registered: int
    cpu_seconds: float
    cost: int | None
    peak_bytes: int

    @property
    def rate(self) -> float:
        return self.evaluated / self.cpu_seconds


def search(sas: Path, name: str, max_seconds: float) -> Measured:
    """Runs one of SEARCHES; all numbers are Fast Downward's own, its `Search time` is CPU time."""
    with tempfile.TemporaryDirectory() as folder, sas.open() as text:
        done = subprocess.run(
            [str(binary()), "--search", f"{SEARCHES[name]}, max_time={max_seconds})"],
            stdin=text,
            capture_output=True,
            text=True,
            cwd=folder,
            check=False,
        )
    cost = re.search(r"Plan cost: (\d+)", done.stdout)
    return Measured(
        evaluated=int(_read(r"Evaluated (\d+) state", done.stdout)),
        registered=int(_read(r"Number of registered states: (\d+)", done.stdout)),
        cpu_seconds=float(_read(r"Search time: ([\d.e-]+)s", done.stdout)),
        cost=None if cost is None else int(cost[1]),
        peak_bytes=1024 * int(_read(r"Peak memory: (\d+) KB", done.stdout)),
    )


def _read(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise RuntimeError(f"no {pattern!r} in Fast Downward's output:\n{text[-2000:]}")
    return found[1]
