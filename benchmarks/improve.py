"""Plan improvement on the policy runs of the peer's pools: how many get cheaper, how many reach h*, CPU time.

python -m benchmarks.improve [--expansions N] [--only NAME]
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.peer_pools import DATA
from misstep._core import Budget, PolicyGraph, improve_plan, search
from misstep.plugins import make_policy_part
from misstep.record.pool_file import read_pool
from misstep.task import load


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--expansions", type=int, default=20_000)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"{'pool':42} solved cheaper  saved  at h* (known)  proven  seconds a state: mean  worst")
    for peer in sorted((DATA / "peer-pools").glob("*.peer.json")):
        if options.only in peer.name:
            measure(peer, options.expansions)


def measure(peer: Path, expansions: int) -> None:
    told: dict[str, Any] = json.loads(peer.read_text())
    files = told["task"]
    policy = make_policy_part(_policy(told["policy"]))
    task = load(DATA / files["domain"], DATA / files["problem"], unit_cost=told.get("unit_cost", False))
    name = peer.name.removesuffix(".peer.json")
    pool = read_pool(peer.with_name(f"{name}.pool.jsonl"), task)
    runs = PolicyGraph(task, policy.bind(task)).run(task.batch([entry.state for entry in pool]))
    exact: dict[str, float] = told.get("h_star", {})
    solved = cheaper = saved = known = optimal = proven = 0
    spent: list[float] = []
    for entry, run in zip(pool, runs, strict=True):
        if run.outcome != "solved":
            continue
        start = time.process_time()
        result = improve_plan(task, entry.state, run.actions, budget=Budget(expansions=expansions))
        spent.append(time.process_time() - start)
        best = exact.get(str(entry.id))
        if best is None and name == "gripper-prob05":  # small enough for a blind search
            best = search(task, "astar:blind", state=entry.state).cost
        solved += 1
        cheaper += result.cost < run.spent
        saved += run.spent - result.cost
        proven += result.exhausted
        known += best is not None
        optimal += best == result.cost
    if spent:
        print(
            f"{name:42} {solved:6} {cheaper:7} {saved:6} {optimal:6} ({known:5}) {proven:7} "
            f"{sum(spent) / len(spent):22.3f} {max(spent):6.3f}",
            flush=True,
        )


def _policy(told: str) -> str:
    if told.endswith(".policy"):
        return f"asnet:{DATA / told}"
    return f"gnn:{DATA / told}" if told.endswith(".ckpt") else "heuristic:ff"


if __name__ == "__main__":
    main()
