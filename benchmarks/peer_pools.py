"""Oracles on the pools of the peer tool: verdicts beside its own, exact costs, CPU seconds sans policy.

python -m benchmarks.peer_pools [--oracle TEXT] [--only NAME]
"""

import argparse
import json
import math
import os
import time
from pathlib import Path
from typing import Any

from misstep._core import PolicyGraph
from misstep.campaign import Campaign, Settings
from misstep.cli.test import DEFAULT_ORACLE
from misstep.events import BugFound, Cleared, Tested
from misstep.oracle import make_oracles
from misstep.policy import make_policy_part
from misstep.pool import read_pool
from misstep.task import load

DATA = Path(os.environ.get("MISSTEP_DATA", Path(__file__).parents[2] / "shared" / "data"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", default=DEFAULT_ORACLE)
    parser.add_argument("--only", default="")
    parser.add_argument("--localise", action="store_true")
    options = parser.parse_args()
    print(f"oracle: {options.oracle}")
    print(
        f"{'pool':42} solved  bugs (qual) cleared (search) unknown  seconds  policy   peer's bugs (seconds)"
    )
    for peer in sorted((DATA / "peer-pools").glob("*.peer.json")):
        if options.only not in peer.name:
            continue
        report(peer, options.oracle, localise=options.localise)


def report(path: Path, oracle: str, *, localise: bool) -> None:
    peer = json.loads(path.read_text())
    name = path.name.removesuffix(".peer.json")
    task = load(
        DATA / peer["task"]["domain"], DATA / peer["task"]["problem"], unit_cost=peer.get("unit_cost", False)
    )
    kind = {"asnets": "asnet", "gnn": "gnn"}.get(peer["policy"].split("/")[0])
    text = f"{kind}:{DATA / peer['policy']}" if kind else "heuristic:ff"
    graph = PolicyGraph(task, make_policy_part(text).bind(task))
    entries = read_pool(DATA / "peer-pools" / f"{name}.pool.jsonl", task)
    campaign = Campaign(task, graph, entries, Settings(make_oracles([oracle]), localise=localise))
    before = time.process_time()
    events = [event for event in campaign.events() if isinstance(event, Tested | BugFound | Cleared)]
    seconds = time.process_time() - before - graph.policy_seconds
    found = campaign.result
    tested = [event if isinstance(event, Tested) else event.tested for event in events]
    wrong = contradictions(peer, tested)
    missed = missing(peer, tested)
    spent = peer.get("cpu_seconds", {})
    theirs = {key: f"{len(bugs)} ({spent.get(key, math.nan):g})" for key, bugs in peer["bugs"].items()}
    print(
        f"{name:42} {found.solved:6d} {found.bugs:5d} ({found.qualitative:4d}) {found.cleared:7d} "
        f"({found.cleared_by_search:6d}) {found.unknown:7d} {seconds:8.2f} {graph.policy_seconds:7.2f}   "
        + ", ".join(f"{key}: {value}" for key, value in theirs.items())
    )
    if wrong:
        print(f"    CONTRADICTED by h*: {wrong}")
    if missed:
        print(f"    {len(missed)} bugs by h* are not flagged, such as {missed[:5]}")


def exact(peer: dict[str, Any]) -> dict[int, float]:
    """Exact h* by pool id."""
    known = {int(key): value for key, value in peer.get("h_star", {}).items()}
    known |= {int(k): v["bound"] for k, v in peer["bugs"].get("planner:astar-lmcut", {}).items()}
    return known


def contradictions(peer: dict[str, Any], tested: list[Tested]) -> list[int]:
    """States whose bounds exclude the exact cost."""
    known = exact(peer)
    return [e.id for e in tested if e.id in known and not e.best.lo <= known[e.id] <= e.best.hi]


def missing(peer: dict[str, Any], tested: list[Tested]) -> list[int]:
    """States that are bugs by their exact cost and were not flagged."""
    known = exact(peer)
    return [e.id for e in tested if e.id in known and e.cost.lo > known[e.id] and e.kind != "bug"]


if __name__ == "__main__":
    main()
