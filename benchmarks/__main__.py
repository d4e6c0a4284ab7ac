"""`python -m benchmarks`: misstep and Fast Downward in one run, task by task and as geometric means."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import downward, ours
from benchmarks.downward import Measured
from benchmarks.tasks import BenchTask, greedy_tasks, optimal_tasks

_SECONDS = {"blind": 1.0, "hmax": 0.6, "ff": 0.6, "lmcut": 0.6}
_QUICK_SECONDS = {"blind": 0.5, "hmax": 0.3, "ff": 0.3, "lmcut": 0.3}
_TITLES = {
    "blind": "A* blind, states evaluated a second",
    "hmax": "A* with h^max, states evaluated a second",
    "ff": "greedy search with h^FF, states evaluated a second",
    "lmcut": "A* with LM-cut, states evaluated a second",
    "bytes": "bytes per stored state (A* blind)",
    "batched": "h^FF of stored states in batches against Fast Downward's h^FF in search, states a second",
    "pairwise": "all pairs of a 50-state trace, h^FF: milliseconds of one call a pair against one call",
}
_TARGETS = {
    "blind": ">= 2.5",
    "hmax": ">= 1.5",
    "ff": ">= 1.5",
    "lmcut": ">= 1.0 (goal 1.5)",
    "bytes": "<= 1.0",
    "batched": ">= 3",
    "pairwise": ">= 10",
}
_HOW = """\
Searches are cut off after {blind} s (blind) or {others} s; the best of {repeats} runs counts, both programs
in turn, each run a process of its own; seconds are CPU time. Bytes are, for misstep, the peak resident memory
of that process minus what it was before the search, for Fast Downward the peak it reports minus that of a run
that stops at once, each divided by the states registered. Stored states are {states:,} of random walks."""


@dataclass(frozen=True)
class Row:
    """A task with the peer's value, ours, and how many times better ours is (for bytes: ours over theirs)."""

    task: str
    peer: float
    ours: float
    ratio: float


def _searches(tasks: list[BenchTask], name: str, repeats: int, seconds: float) -> dict[str, list[Row]]:
    """Both programs in turn; the best rate of each counts, and the last runs' memory."""
    rows: dict[str, list[Row]] = {name: [], "bytes": []}
    for task in tasks:
        sas = task.sas()
        our_runs: list[Measured] = []
        their_runs: list[Measured] = []
        for _ in range(repeats):
            our_runs.append(ours.search(sas, name, seconds))
            their_runs.append(downward.search(sas, name, seconds))
        costs = {run.cost for run in our_runs + their_runs} - {None}
        if name != "ff" and len(costs) > 1:
            raise RuntimeError(f"{task.name}: optimal costs differ: {costs}")
        theirs, mine = max(r.rate for r in their_runs), max(r.rate for r in our_runs)
        rows[name].append(Row(task.name, theirs, mine, mine / theirs))
        if name == "blind":
            rows["bytes"].append(_bytes(task.name, sas, our_runs[-1], their_runs[-1]))
        print(".", end="", file=sys.stderr, flush=True)
    return rows


def _bytes(task: str, sas: Path, mine: Measured, theirs: Measured) -> Row:
    at_rest = downward.search(sas, "blind", 0).peak_bytes
    peer = (theirs.peak_bytes - at_rest) / theirs.registered
    own = mine.peak_bytes / mine.registered
    return Row(task, peer, own, own / peer)


def _batched(tasks: list[BenchTask], searched: list[Row]) -> list[Row]:
    rates = {row.task: row.peer for row in searched}
    rows = []
    for task in tasks:
        rate = ours.batched_rate(task.sas())
        rows.append(Row(task.name, rates[task.name], rate, rate / rates[task.name]))
        print(".", end="", file=sys.stderr, flush=True)
    return rows


def _pairwise(tasks: list[BenchTask]) -> list[Row]:
    rows = []
    for task in tasks:
        one_by_one, together = ours.pairwise_gain(task.sas())
        rows.append(Row(task.name, 1000 * one_by_one, 1000 * together, one_by_one / together))
        print(".", end="", file=sys.stderr, flush=True)
    return rows


def _mean(rows: Iterable[Row]) -> float:
    return statistics.geometric_mean(row.ratio for row in rows)


def _print(name: str, rows: list[Row]) -> None:
    first, second = ("one by one", "together") if name == "pairwise" else ("Fast Downward", "misstep")
    digits = 0 if name in ("blind", "hmax", "ff", "lmcut", "batched") else 2
    print(f"\n{_TITLES[name]}\n  {'':20}{first:>15}{second:>15}{'ratio':>9}")
    for row in rows:
        print(f"  {row.task:20}{row.peer:>15,.{digits}f}{row.ours:>15,.{digits}f}{row.ratio:>9.2f}")
    print(f"  {'geometric mean':20}{'':30}{_mean(rows):>9.2f}   target {_TARGETS[name]}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short run of everything: rough numbers")
    parser.add_argument("--only", nargs="*", choices=_TITLES, default=list(_TITLES), help="what to measure")
    parser.add_argument("--json", type=Path, help="write all numbers to this file")
    options = parser.parse_args()
    if downward.binary() is None:
        sys.exit("Fast Downward is not here: pip install up-fast-downward==1.0.0")
    start = time.monotonic()
    repeats, seconds = (1, _QUICK_SECONDS) if options.quick else (3, _SECONDS)
    wanted = set(options.only)
    rows: dict[str, list[Row]] = {}
    for name, needed in (("blind", {"blind", "bytes"}), ("hmax", {"hmax"}), ("lmcut", {"lmcut"})):
        if wanted & needed:
            rows |= _searches(optimal_tasks(), name, repeats, seconds[name]) | rows
    if wanted & {"ff", "batched"}:
        rows |= _searches(greedy_tasks(), "ff", repeats, seconds["ff"]) | rows
    if "batched" in wanted:
        rows["batched"] = _batched(greedy_tasks(), rows["ff"])
    if "pairwise" in wanted:
        rows["pairwise"] = _pairwise(greedy_tasks())
    print(file=sys.stderr)
    limits = {"blind": seconds["blind"], "others": seconds["ff"], "repeats": repeats}
    print(_HOW.format(**limits, states=ours.STORED_STATES))
    shown = [name for name in _TITLES if rows.get(name) and name in wanted]
    for name in shown:
        _print(name, rows[name])
    print("\ngeometric means")
    for name in shown:
        print(f"  {name:10}{_mean(rows[name]):>8.2f}   target {_TARGETS[name]}")
    print(f"{time.monotonic() - start:.0f} s")
    if options.json is not None:
        numbers = {n: {"mean": _mean(rows[n]), "tasks": [asdict(row) for row in rows[n]]} for n in shown}
        options.json.write_text(json.dumps(numbers, indent=2) + "\n")


if __name__ == "__main__":
    main()
