"""One measurement of misstep in its own process: `python -m benchmarks.ours KIND SAS ...` prints JSON."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import misstep
from benchmarks.downward import Measured

CONFIGS = {"blind": "astar:blind", "hmax": "astar:hmax", "ff": "gbfs:ff", "lmcut": "astar:lmcut"}
STORED_STATES = 10_000
_TRACE_LENGTH = 50


def search(sas: Path, name: str, max_seconds: float) -> Measured:
    """Runs one of CONFIGS in a fresh process; `peak_bytes` is only what the search added."""
    return Measured(**_ask("search", sas, CONFIGS[name], str(max_seconds)))


def batched_rate(sas: Path) -> float:
    """States a second of h^FF over a batch of stored states."""
    return float(_ask("batched", sas)["rate"])


def pairwise_gain(sas: Path) -> tuple[float, float]:
    """Seconds of one call a pair and of one call for all pairs, over a trace."""
    answer = _ask("pairwise", sas)
    return answer["one_by_one"], answer["together"]


def _ask(*arguments: str | Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.ours", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _memory(field: str) -> int:
    """Bytes of this process as Linux counts them: VmRSS now, VmHWM at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    return 0


def _search(task: misstep.Task, config: str, max_seconds: str) -> dict[str, float | None]:
    before = _memory("VmRSS")
    start = time.process_time()
    result = misstep.search(task, config, budget=misstep.Budget(seconds=float(max_seconds)))
    seconds = time.process_time() - start
    return {
        "evaluated": result.evaluated,
        "registered": result.registered,
        "cpu_seconds": seconds,
        "cost": result.cost,
        "peak_bytes": _memory("VmHWM") - before,
    }


def _walked(task: misstep.Task, starts: list[misstep.State], count: int) -> misstep.StateBatch:
    """Distinct states of random walks, in the order in which they were met."""
    rng = random.Random(0)
    registry = misstep.StateRegistry(task)
    for _ in range(count):
        state = rng.choice(starts)
        for _ in range(rng.randint(1, 100)):
            choice = task.applicable(state)
            if not choice or len(registry) >= count:
                break
            state = task.apply(state, rng.choice(choice))
            registry.insert(state)
    return registry.batch(range(len(registry)))


def _batched(task: misstep.Task) -> dict[str, float]:
    """Walks start at the initial state and along a greedy plan, where a search meets its states too."""
    starts = [task.initial_state]
    for action in misstep.search(task, "gbfs:ff", budget=misstep.Budget(seconds=0.5)).plan:
        starts.append(task.apply(starts[-1], action))
    batch = _walked(task, starts, STORED_STATES)
    h = misstep.Heuristic(task, "ff")
    return {"rate": len(batch) / _best(lambda: h.evaluate(batch))}


def _pairwise(task: misstep.Task) -> dict[str, float]:
    trace = _walked(task, [task.initial_state], _TRACE_LENGTH)
    states = list(trace)
    h = misstep.Heuristic(task, "ff")
    one_by_one = _best(lambda: [[h.to(a, b) for b in states] for a in states])
    return {"one_by_one": one_by_one, "together": _best(lambda: h.pairwise(trace, trace), repeat=20) / 20}


def _best(work: Callable[[], object], *, repeat: int = 1) -> float:
    """The least CPU time of three tries at doing the work `repeat` times."""
    times = []
    for _ in range(3):
        start = time.process_time()
        for _ in range(repeat):
            work()
        times.append(time.process_time() - start)
    return min(times)


def _main(kind: str, sas: str, *rest: str) -> None:
    task = misstep.load_sas(sas)
    if kind == "search":
        print(json.dumps(_search(task, *rest)))
    else:
        print(json.dumps(_batched(task) if kind == "batched" else _pairwise(task)))


if __name__ == "__main__":
    _main(*sys.argv[1:])
