"""`python -m benchmarks.dominance`: dominance functions and bound maintenance on known tasks."""

from __future__ import annotations

import sys
import time

import misstep
from misstep._core import BoundStore, Dominance, PolicyGraph, Run
from misstep.biases.published import NoBias
from misstep.fuzz import Fuzz
from misstep.fuzzers.published import Refined
from misstep.plugins import make_policy_part
from misstep.task import Task
from tests.data import NO_DATA, data_folder

_REPEATS = 3
# CPU seconds with factors of 10,000 transitions: the target, and what the published tool needs.
_TASKS = (
    ("gripper", "prob05", 0.5, "5.3"),
    ("blocks", "probBLOCKS-7-0", 3.0, "56"),
    ("delivery", "instance_4_2_0", 3.0, "49"),
    ("blocks", "probBLOCKS-9-0", 30.0, "not in 250"),
    ("delivery", "instance_5_3_0", 30.0, "not in 250"),
    ("visitall", "problem05-full", 30.0, "not in 114"),
)


def _share(dominance: Dominance) -> float:
    """Of pairs of abstract states of the whole task with D > -inf."""
    share = 1.0
    for factor in dominance.describe():
        share *= factor["finite_share"]
    return share


def _compute(task: Task, factors: str) -> tuple[Dominance, float]:
    best = float("inf")
    for _ in range(_REPEATS):
        start = time.process_time()
        dominance = Dominance(task, factors=factors)
        best = min(best, time.process_time() - start)
    return dominance, best


def _pool_runs(task: Task, size: int) -> tuple[PolicyGraph, list[Run]]:
    graph = PolicyGraph(task, make_policy_part("heuristic:ff").bind(task))
    pool = [entry.state for entry in Fuzz(graph, Refined(), NoBias(), seed=1, size=size)]
    return graph, graph.run(task.batch(pool))


def _bounds(task: Task, factors: str, *, size: int, lookahead: int) -> None:
    dominance = Dominance(task, factors=factors)
    _, runs = _pool_runs(task, size)
    parts = [(run.states, run.actions, run.outcome) for run in runs]
    start = time.process_time()
    store = BoundStore(dominance, lookahead=lookahead)
    for part in parts:
        store.add_run(*part)
    added = time.process_time() - start
    bugs = sum(store.bound(states[0]) < store.policy_cost(states[0]) for states, _, _ in parts)
    start = time.process_time()
    plans = sum(store.plan_of(states[0]) is not None for states, _, _ in parts)
    print(
        f"gripper prob05, {factors}, {len(parts)} pool states, bounds:{lookahead}: {added:.2f} s, "
        f"{bugs} bugs, {store.num_known} known states, {store.comparisons:,} comparisons, "
        f"{plans} plans in {time.process_time() - start:.2f} s   target < 3 s"
    )


def main() -> None:
    data = data_folder()
    if data is None:
        print(NO_DATA, file=sys.stderr)
        return
    tasks = {}
    for domain, problem, target, peer in _TASKS:
        folder = data / "gnn" / domain
        task = tasks[problem] = misstep.load(folder / "domain.pddl", folder / "problems" / f"{problem}.pddl")
        for factors in ("atomic", "merged"):
            dominance, seconds = _compute(task, factors)
            largest = max(factor["states"] for factor in dominance.describe())
            print(
                f"{domain} {problem}, {factors}: {seconds:.3f} s, {len(dominance.describe())} factors up to "
                f"{largest} states, D > -inf on {_share(dominance):.2%} of abstract pairs   "
                f"target < {target:g} s, peer {peer} s"
            )
    for factors in ("merged", "atomic"):
        _bounds(tasks["prob05"], factors, size=2000, lookahead=100)


if __name__ == "__main__":
    main()
