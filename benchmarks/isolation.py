"""What a process of its own costs: the same tests with the policy inside and outside, in turns, in one run.

`python -m benchmarks.isolation [ROUNDS]`. Policies: a fast Python function (the first applicable action), and a
network of two hidden layers as `torch:FILE`. The time of the test itself is compared, from its first event to
its last: as the clock tells it, and as the processors do for both processes together, which is what remains
meaningful on a busy machine. Starting the second process goes on while the task is loaded, and is shown apart.
"""

import contextlib
import gc
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from misstep.api import make_session
from misstep.events import Finished
from misstep.formats.safetensors import write_safetensors
from misstep.isolation.host import Host
from misstep.isolation.policy import IsolatedPolicy
from misstep.support.census import descendants
from misstep.task import Task, load

TASKS = Path(__file__).parents[1] / "tests" / "tasks"
POOL = 400
FAST = """
def choose(state):
    return state.task.applicable(state)[0]
"""


@dataclass
class Measured:
    """Seconds of every round by the clock and by the processors, inside and outside."""

    inside: list[tuple[float, float]] = field(default_factory=list)
    outside: list[tuple[float, float]] = field(default_factory=list)

    def ratio(self, which: int) -> float:
        """The median over the rounds: what is measured right after each other met the same machine."""
        pairs = zip(self.outside, self.inside, strict=True)
        return statistics.median(outside[which] / inside[which] for outside, inside in pairs)

    def shown(self) -> str:
        """Both medians by the clock, and both ratios."""
        inside, outside = (statistics.median(one[0] for one in of) for of in (self.inside, self.outside))
        return f"{inside:.3f} s | {outside:.3f} s | {self.ratio(0):.3f} | {self.ratio(1):.3f}"


def fast_policy(folder: Path, _: Task) -> str:
    file = folder / "fast.py"
    file.write_text(FAST, encoding="utf-8")
    return f"python:{file}:choose"


def network_policy(folder: Path, task: Task) -> str:
    rng, facts = np.random.default_rng(0), sum(task.domain_sizes)
    sizes = [facts, 64, 64, len(task.actions)]
    arrays = {}
    for number, (here, there) in enumerate(pairwise(sizes)):
        arrays[f"{2 * number}.weight"] = rng.normal(size=(there, here)).astype(np.float32) / here**0.5
        arrays[f"{2 * number}.bias"] = np.zeros(there, dtype=np.float32)
    file = folder / "network.safetensors"
    write_safetensors(file, arrays)
    return f"torch:{file},activation=relu"


def processor_seconds() -> float:
    """Of this process and all that descend from it, those that ended included: their parents keep the sum."""
    ticks = 0
    for process in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    ended = os.times()
    alive = time.process_time() + ticks / os.sysconf("SC_CLK_TCK")
    return alive + ended.children_user + ended.children_system


def seconds_of(task: Task, policy: str, *, isolate: bool) -> tuple[float, float]:
    """What a test takes once the policy is loaded."""
    gc.collect()  # the processes of the round before are gone
    session = make_session(task, policy, pool=POOL, isolate=isolate)
    events = session.events()
    next(events)
    begin = time.perf_counter(), processor_seconds()
    for event in events:
        if isinstance(event, Finished):
            return time.perf_counter() - begin[0], processor_seconds() - begin[1]
    raise AssertionError("a test ends with its last event")


def measure(task: Task, policy: str, rounds: int) -> Measured:
    found = Measured()
    for number in range(rounds):
        # Whoever comes first finds colder caches: they take turns at it.
        for isolate in (True, False) if number % 2 else (False, True):
            (found.outside if isolate else found.inside).append(seconds_of(task, policy, isolate=isolate))
    return found


def start_seconds(task: Task, policy: str) -> float:
    begin = time.perf_counter()
    host = Host()
    IsolatedPolicy.open(host, task, policy)
    spent = time.perf_counter() - begin
    host.close()
    return spent


def main(rounds: int) -> None:
    print("| task | policy | inside | outside | clock | processors | start |\n|---|---|---|---|---|---|---|")
    rows: list[Measured] = []
    with tempfile.TemporaryDirectory(prefix="misstep-") as name:
        for domain, problem in (("ferry", "p05"), ("gripper", "p05"), ("blocks", "p05")):
            task = load(TASKS / domain / "domain.pddl", TASKS / domain / f"{problem}.pddl")
            for kind, make in (("python:", fast_policy), ("torch:", network_policy)):
                policy = make(Path(name), task)
                found = measure(task, policy, rounds)
                rows.append(found)
                start = start_seconds(task, policy)
                print(f"| {domain} {problem} | {kind} | {found.shown()} | {start:.2f} s |", flush=True)
    print(f"| all | both | {together(rows).shown()} | |")


def together(rows: list[Measured]) -> Measured:
    """The sums over all tests, round by round: a wait of a millisecond weighs more in a short test."""
    found = Measured()
    found.inside = [sum_of(parts) for parts in zip(*(row.inside for row in rows), strict=True)]
    found.outside = [sum_of(parts) for parts in zip(*(row.outside for row in rows), strict=True)]
    return found


def sum_of(parts: tuple[tuple[float, float], ...]) -> tuple[float, float]:
    return sum(part[0] for part in parts), sum(part[1] for part in parts)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 21)
