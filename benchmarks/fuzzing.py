"""`python -m benchmarks.fuzzing`: how fast pools grow, on the tasks that the published tool was timed on."""

from __future__ import annotations

import sys
import time

import misstep
from misstep._core import PolicyGraph
from misstep.bias import NativeBias
from misstep.biases.published import Detour, Loopiness, NoBias, PlanLength, Surface
from misstep.fuzz import Fuzz
from misstep.fuzzers.published import Refined
from misstep.plugins import make_policy_part
from misstep.task import Task
from tests.data import NO_DATA, data_folder

_REPEATS = 3


def _seconds(task: Task, bias: NativeBias, *, policy: str, size: int) -> float:
    """CPU seconds for a pool, the best of some runs, each on a policy graph of its own."""
    best = float("inf")
    for _ in range(_REPEATS):
        graph = PolicyGraph(task, make_policy_part(policy).bind(task))
        start = time.process_time()
        session = Fuzz(graph, Refined(), bias, seed=1, size=size)
        found = sum(1 for _ in session)
        best = min(best, time.process_time() - start)
        if found != size:
            raise RuntimeError(f"the pool has {found} states, not {size}")
    return best


def main() -> None:
    data = data_folder()
    if data is None:
        print(NO_DATA, file=sys.stderr)
        return
    gripper = misstep.load(data / "gnn/gripper/domain.pddl", data / "gnn/gripper/problems/prob05.pddl")
    seconds = _seconds(gripper, NoBias(), policy="heuristic:ff", size=50_000)
    print(f"gripper prob05, no bias: {50_000 / seconds:,.0f} pool states/s   target >= 40,000")
    delivery = misstep.load(
        data / "gnn/delivery/domain.pddl", data / "gnn/delivery/problems/instance_5_3_0.pddl"
    )
    for bias in (PlanLength(), Loopiness(), Detour(), Surface()):
        seconds = _seconds(delivery, bias, policy="heuristic:ff", size=100)
        print(f"delivery 5_3_0, heuristic:ff, {bias.name}: {seconds:.3f} s for 100   target < 0.5 s")
    # Greedy descent fails at once there, and failing runs need no bias; this policy has long runs.
    folder = data / "asnets" / "blocksworld"
    (problem,) = folder.glob("problems/*nblk35-*-seq1.pddl")
    (policy,) = folder.glob("*.policy")
    blocks = misstep.load(folder / "domain.pddl", problem, unit_cost=True)
    for bias in (PlanLength(), Loopiness(), Detour(), Surface()):
        seconds = _seconds(blocks, bias, policy=f"asnet:{policy}", size=100)
        print(f"blocksworld 35, its ASNet, {bias.name}: {seconds:.2f} s for 100, policy included")


if __name__ == "__main__":
    main()
