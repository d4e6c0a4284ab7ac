"""The paper's three experiments on our benchmarks: fuzzers, deciders, faults; figures 2 to 4 redrawn."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from misstep._core import Budget, Decider, SafetyFuzzer
from misstep.bundled.models import BUNDLED, generate
from misstep.experiments.figures import bars, coverage, scatter
from misstep.formats.jani import JaniTask
from misstep.safety.lab import ModelLab
from misstep.safety.model import SafetyTask
from misstep.safety.policy import network_policy, zoo_file

FUZZERS: tuple[tuple[str, int | None], ...] = (
    ("uniform", 1),
    ("greedy", 1),
    ("sampling", 1),
    ("greedy", None),
    ("sampling", None),
)
DECIDERS: tuple[tuple[str, int | None], ...] = (
    ("tarjan", None),
    ("lrtdp", None),
    ("lao", None),
    ("level", None),
    ("policy-iteration", None),
    ("tarjan", 1),
    ("lrtdp", 1),
    ("level", 1),
    ("tarjan", 2),
)


def label(name: str, bound: int | None) -> str:
    """As the paper writes it: the bound, then the name."""
    return f"{'∞' if bound is None else bound}-{name}"


@dataclass(frozen=True)
class Plan:
    """How much to do. The paper: 1000 runs, 1000 states, 30 minutes a state."""

    runs: int = 1000
    states: int = 200
    paths: int = 50
    max_seconds: float = 2.0
    max_expansions: int = 200_000
    seed: int = 0


@dataclass
class Bench:
    """One benchmark with its bundled policy and, after the first experiment, its unsafe runs."""

    name: str
    task: SafetyTask
    runs: list[list[list[Any]]] = field(default_factory=list)  # values of the states of each run

    def game(self) -> Any:
        """A fresh game, so that no algorithm profits from another's expansions."""
        return self.task.game(network_policy(zoo_file(self.name), self.task))


def load_benches(names: Sequence[str]) -> list[Bench]:
    """The bundled benchmarks."""
    benches = []
    for name in names or list(BUNDLED):
        document = generate(name)
        test = document["properties"][0]["expression"]
        goal = test.get("objective", {}).get("goal")
        files = JaniTask(json.dumps(document), name, test["reach"], goal, test.get("start"), None)
        benches.append(Bench(name, SafetyTask(files)))
    return benches


def fuzzing(bench: Bench, plan: Plan) -> list[dict[str, Any]]:
    """Experiment 1: time and unsafe runs of each configuration; keeps the runs of ∞-greedy."""
    rows = []
    for name, depth in FUZZERS:
        game = bench.game()
        starts = bench.task.start_states(game, seed=plan.seed)
        fuzzer = SafetyFuzzer(game, name, depth=depth, max_steps=300, seed=plan.seed)
        rng = random.Random(plan.seed)
        unsafe: list[list[int]] = []
        begin = time.perf_counter()
        for _ in range(plan.runs):
            end, run = fuzzer.run(rng.choice(starts))
            if end == "unsafe":
                unsafe.append(run)
        seconds = time.perf_counter() - begin
        rows.append(
            {"bench": bench.name, "fuzzer": label(name, depth), "seconds": seconds, "unsafe": len(unsafe)}
        )
        if (name, depth) == ("greedy", None):
            distinct = list(dict.fromkeys(map(tuple, unsafe)))
            bench.runs = [[game.values(s) for s in run] for run in distinct]
    return rows


def deciding(bench: Bench, plan: Plan) -> list[dict[str, Any]]:
    """Experiment 2: each state of the unsafe runs, each algorithm, nothing shared."""
    states = list(dict.fromkeys(tuple(v) for run in bench.runs for v in run[:-1]))
    if len(states) > plan.states:
        states = random.Random(plan.seed).sample(states, plan.states)
    rows = []
    for index, values in enumerate(states):
        for name, radius in DECIDERS:
            game = bench.game()
            decider = Decider(game, name)
            s = game.add(list(values))
            begin = time.perf_counter()
            budget = Budget(seconds=plan.max_seconds, expansions=plan.max_expansions)
            verdict, limit, expanded, _ = decider.decide(s, radius, budget=budget)
            seconds = time.perf_counter() - begin
            row = {"bench": bench.name, "state": index, "decider": label(name, radius), "verdict": verdict}
            rows.append({**row, "limit": limit, "expanded": expanded, "seconds": seconds})
    return rows


def faults(bench: Bench, plan: Plan) -> list[dict[str, Any]]:
    """Experiment 3: all faults of an unsafe run, one decider for the whole run."""
    rows = []
    for index, run in enumerate(bench.runs[: plan.paths]):
        for name, radius in DECIDERS:
            game = bench.game()
            lab = ModelLab(
                task=bench.task,
                game=game,
                decider=Decider(game, name),
                radius=radius,
                max_expansions=plan.max_expansions,
                max_seconds=plan.max_seconds,
            )
            states = [game.add(values) for values in run]
            begin = time.perf_counter()
            counts = _analyse(lab, states)
            row = {"bench": bench.name, "run": index, "decider": label(name, radius), **counts}
            seconds = time.perf_counter() - begin
            rows.append({**row, "expanded": lab.decider.expanded, "seconds": seconds})
    return rows


def _analyse(lab: ModelLab, run: list[int]) -> dict[str, int]:
    """Bugs and faults among the states of an unsafe run, each state once, from its end to its start."""
    taken: dict[int, int] = {}
    for s, following in zip(reversed(run[:-1]), reversed(run), strict=False):
        taken.setdefault(s, following)
    verdicts = {s: lab.verdict(s) for s in taken}
    open_states = [s for s, verdict in verdicts.items() if verdict != "unsafe"]
    return {
        "faults": sum(lab.fault(s, taken[s]) is not None for s in open_states),
        "bugs": sum(verdict == "safe" for verdict in verdicts.values()),
        "unknown": sum(verdict == "unknown" for verdict in verdicts.values()),
    }


def run_experiments(
    out: Path, plan: Plan, *, names: Sequence[str] = (), progress: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """All three, with `results.json`, the figures, and a summary as answer."""
    out.mkdir(parents=True, exist_ok=True)
    results: dict[str, list[dict[str, Any]]] = {"fuzzing": [], "deciding": [], "faults": []}
    for bench in load_benches(names):
        for key, experiment in (("fuzzing", fuzzing), ("deciding", deciding), ("faults", faults)):
            results[key] += experiment(bench, plan)
        if progress is not None:
            progress(f"{bench.name}: {len(bench.runs)} distinct unsafe runs")
    (out / "results.json").write_text(json.dumps(results) + "\n", encoding="utf-8")
    for name, text in draw(results).items():
        (out / name).write_text(text, encoding="utf-8")
    return summarise(results)


def draw(results: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    """Figures 2 to 4 of the paper, by file name."""
    seconds: dict[str, dict[str, float]] = {}
    unsafe: dict[str, dict[str, float]] = {}
    for row in results["fuzzing"]:
        seconds.setdefault(row["bench"], {})[row["fuzzer"]] = row["seconds"]
        unsafe.setdefault(row["bench"], {})[row["fuzzer"]] = row["unsafe"]
    figures = {
        "figure2_seconds.svg": bars("Fuzzing: time of all runs", "seconds", seconds, logarithmic=True),
        "figure2_unsafe.svg": bars("Fuzzing: unsafe runs found", "runs", unsafe),
    }
    by_state: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}
    for row in results["deciding"]:
        by_state.setdefault((row["bench"], row["state"]), {})[row["decider"]] = row
    names = [label(*decider) for decider in DECIDERS]
    for verdict, title, file in (("safe", "bugs", "bugs"), ("unsafe", "non-bugs", "non_bugs")):
        chosen = [rows for rows in by_state.values() if any(_proves(r, verdict) for r in rows.values())]
        times = {n: [rows[n]["seconds"] for rows in chosen if rows[n]["verdict"] == verdict] for n in names}
        shown = f"Test oracles on {title}"
        figures[f"figure3_{file}.svg"] = coverage(f"{shown}: share proved", times, max(len(chosen), 1))
        pairs = {
            n: [
                (rows["∞-tarjan"]["seconds"], rows[n]["seconds"], rows[n]["verdict"] == verdict)
                for rows in chosen
            ]
            for n in ("∞-level", "1-lrtdp", "1-tarjan")
        }
        figures[f"figure3_{file}_scatter.svg"] = scatter(
            f"{shown}: time a state", "seconds of ∞-tarjan", pairs
        )
    by_run: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}
    for row in results["faults"]:
        by_run.setdefault((row["bench"], row["run"]), {})[row["decider"]] = row
    for file, others in (
        ("figure4_exact.svg", ("∞-lrtdp", "∞-lao", "∞-level")),
        ("figure4_radius.svg", ("1-tarjan", "2-tarjan")),
    ):
        points = {
            n: [
                (rows["∞-tarjan"]["seconds"], rows[n]["seconds"], not rows[n]["unknown"])
                for rows in by_run.values()
            ]
            for n in others
        }
        figures[file] = scatter("Fault analysis: time of a whole run", "seconds of ∞-tarjan", points)
    return figures


def _proves(row: dict[str, Any], verdict: str) -> bool:
    """Safe with any radius is safe; only the infinite radius proves that a state is not."""
    return bool(row["verdict"] == verdict and (verdict == "safe" or row["decider"].startswith("∞")))


def summarise(results: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Unsafe runs by fuzzer; expansions and seconds by decider; runs with a fault by decider."""
    fuzzers: dict[str, int] = {}
    for row in results["fuzzing"]:
        fuzzers[row["fuzzer"]] = fuzzers.get(row["fuzzer"], 0) + row["unsafe"]
    deciders: dict[str, dict[str, float]] = {}
    for row in results["deciding"]:
        entry = deciders.setdefault(
            row["decider"], {"expanded": 0, "seconds": 0.0, "safe": 0, "unsafe": 0, "unknown": 0}
        )
        entry["expanded"] += row["expanded"]
        entry["seconds"] = round(entry["seconds"] + row["seconds"], 6)
        entry[row["verdict"]] += 1
    with_fault: dict[str, int] = {}
    for row in results["faults"]:
        with_fault[row["decider"]] = with_fault.get(row["decider"], 0) + (row["faults"] > 0)
    return {"unsafe_runs": fuzzers, "deciders": deciders, "runs_with_fault": with_fault}
