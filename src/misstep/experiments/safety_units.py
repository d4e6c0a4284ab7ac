"""Units of the safety experiments: one fuzzer, or one decider, on one instance; each can be repeated alone."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from misstep._core import Budget, Decider, JaniGame, SafetyFuzzer, SafetyPolicy
from misstep.bundled.models import generate
from misstep.config import Config
from misstep.errors import MisstepError
from misstep.formats.jani import JaniTask
from misstep.safety.evidence import RefutationLine, StrategyLine
from misstep.safety.exam import how_it_ended
from misstep.safety.lab import KnownLine, ModelLab
from misstep.safety.model import SafetyTask, load_model
from misstep.safety.policy import load_policy, policy_part
from misstep.support.plain import reading
from misstep.support.whole_files import write_file

Row = dict[str, Any]
FUZZERS: tuple[tuple[str, int | None], ...] = (
    ("uniform", 1),
    ("greedy", 1),
    ("sampling", 1),
    ("greedy", None),
    ("sampling", None),
)
SOURCE = ("greedy", None)
"""The fuzzer whose unsafe runs the other experiments use."""
ALGORITHMS = ("tarjan", "lrtdp", "lao", "level", "policy-iteration", "value-iteration")
DECIDERS: tuple[tuple[str, int | None], ...] = tuple(
    (name, radius) for radius in (None, 1, 2) for name in ALGORITHMS
)


def label(name: str, bound: int | None) -> str:
    """As the paper writes it: the bound, then the name."""
    return f"{'∞' if bound is None else bound}-{name}"


@dataclass(frozen=True)
class Plan:
    """How much to do. The paper: 1000 runs, 1000 states, 30 minutes and 12 GB a state."""

    runs: int = 1000
    states: int = 200
    paths: int = 50
    max_steps: int = 300
    max_seconds: float = 2.0
    max_expansions: int = 200_000
    memory_mb: int = 4000
    seed: int = 0

    def budget(self) -> Budget:
        """Of one decision, or of the fault analysis of one run."""
        return Budget(seconds=self.max_seconds, expansions=self.max_expansions, memory_mb=self.memory_mb)


@dataclass(frozen=True)
class Instance:
    """A model and a policy: one of the bundled benchmarks by its name, or what a user names."""

    name: str
    config: Config | None = None

    @cached_property
    def task(self) -> SafetyTask:
        """The model."""
        if self.config is not None:
            return load_model(self.config)
        document = generate(self.name)
        test = document["properties"][0]["expression"]
        goal = test.get("objective", {}).get("goal")
        files = JaniTask(json.dumps(document), self.name, test["reach"], goal, test.get("start"), None)
        return SafetyTask(files)

    @cached_property
    def policy(self) -> SafetyPolicy:
        """The policy."""
        if self.config is not None:
            return load_policy(self.config.policy, self.task, filter=self.config.filter)
        return load_policy(f"zoo:{self.name}", self.task)

    @property
    def digest(self) -> str:
        """Of the model and of the files of the policy."""
        spec = f"zoo:{self.name}" if self.config is None else self.config.policy
        # The task of another one: this one goes to processes, which models cannot.
        model = Instance(self.name, self.config).task.files.model
        parts = [model.encode(), *(file.read_bytes() for file in policy_part(spec).files)]
        return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()

    def game(self) -> JaniGame:
        """A fresh game, so that no algorithm profits from another's expansions."""
        return self.task.game(self.policy, horizon=None if self.config is None else self.config.horizon)


@dataclass(frozen=True)
class Unit:
    """One piece of work; its rows go to one file."""

    experiment: str
    """fuzzing, deciding or faults."""
    instance: Instance
    part: str
    bound: int | None

    @property
    def file(self) -> str:
        """The name of its file."""
        bound = "inf" if self.bound is None else self.bound
        return f"{self.experiment}-{self.instance.name}-{bound}-{self.part}.json"

    @property
    def about(self) -> Row:
        """What its rows begin with."""
        return {"bench": self.instance.name, "by": label(self.part, self.bound)}


def unsafe_runs_in(folder: Path, instance: Instance) -> list[Any]:
    """The distinct unsafe runs that fuzzing has found on an instance."""
    file = folder / source_file(instance)
    with reading(file):
        return list(json.loads(file.read_text(encoding="utf-8"))["unsafe_runs"])


def run_unit(unit: Unit, plan: Plan, out: Path) -> str | None:
    """Does a unit and writes its rows; the reason where that was not possible."""
    try:
        if unit.experiment == "fuzzing":
            result = _fuzz(unit, plan)
        else:
            work = _decide if unit.experiment == "deciding" else _find_faults
            result = {"rows": work(unit, plan, unsafe_runs_in(out, unit.instance))}
    except MisstepError as error:
        return f"{unit.instance.name}, {label(unit.part, unit.bound)}: {error}"
    write_file(out / unit.file, json.dumps(result) + "\n", wait=False)
    return None


def source_file(instance: Instance) -> str:
    """Where the unsafe runs of an instance are."""
    return Unit("fuzzing", instance, *SOURCE).file


def _fuzz(unit: Unit, plan: Plan) -> Row:
    """Experiment 1: time and ends of the runs; for one fuzzer the distinct unsafe ones, too."""
    game = unit.instance.game()
    starts = unit.instance.task.start_states(game, seed=plan.seed)
    fuzzer = SafetyFuzzer(game, unit.part, depth=unit.bound, max_steps=plan.max_steps, seed=plan.seed)
    rng, ends, unsafe = random.Random(plan.seed), dict[str, int](), dict[tuple[int, ...], None]()
    begin = time.process_time()
    for _ in range(plan.runs):
        end, run = fuzzer.run(rng.choice(starts))
        outcome = how_it_ended(game, end, run)
        ends[outcome] = ends.get(outcome, 0) + 1
        if end == "unsafe":
            unsafe[tuple(run)] = None
    seconds = time.process_time() - begin
    counts = {"unsafe": ends.get("unsafe", 0), "distinct": len(unsafe), "outcomes": ends}
    row = {**unit.about, "seconds": seconds, "runs": plan.runs, "starts": len(starts), **counts}
    keep = unsafe if (unit.part, unit.bound) == SOURCE else ()
    return {"rows": [row], "unsafe_runs": [[game.values(s) for s in run] for run in keep]}


def _decide(unit: Unit, plan: Plan, runs: list[list[list[Any]]]) -> list[Row]:
    """Experiment 2: each state of the unsafe runs, nothing shared."""
    states = list(dict.fromkeys(tuple(values) for run in runs for values in run[:-1]))
    if len(states) > plan.states:
        states = random.Random(plan.seed).sample(states, plan.states)
    rows = []
    for index, values in enumerate(states):
        game = unit.instance.game()
        decider, s = Decider(game, unit.part), game.add(list(values))
        begin = time.process_time()
        verdict, limit, expanded, _ = decider.decide(s, unit.bound, budget=plan.budget())
        seconds = time.process_time() - begin
        row = {**unit.about, "state": index, "verdict": verdict, "limit": limit}
        rows.append({**row, "expanded": expanded, "asked": game.policy_calls, "seconds": seconds})
    return rows


def _find_faults(unit: Unit, plan: Plan, runs: list[list[list[Any]]]) -> list[Row]:
    """Experiment 3: all faults of an unsafe run, one decider for the whole run."""
    rows = []
    for index, run in enumerate(runs[: plan.paths]):
        game = unit.instance.game()
        decider = _Metered(Decider(game, unit.part), plan.max_expansions)
        lab = ModelLab(
            task=unit.instance.task, game=game, decider=decider, radius=unit.bound, budget=plan.budget()
        )
        states = [game.add(values) for values in run]
        begin = time.process_time()
        counts = _analyse(lab, states)
        seconds = time.process_time() - begin
        row = {**unit.about, "run": index, "steps": len(run) - 1, **counts}
        rows.append({**row, "expanded": lab.decider.expanded, "seconds": seconds})
    return rows


@dataclass(frozen=True)
class _Metered:
    """A decider whose decisions share one limit: a run without an end of its states would take it for each."""

    decider: Decider
    max_expansions: int

    @property
    def expanded(self) -> int:
        return self.decider.expanded

    def decide(
        self, state: int, radius: int | None, /, *, budget: Budget | None = None
    ) -> tuple[str, str | None, int, float]:
        left = max(self.max_expansions - self.expanded, 0)
        return self.decider.decide(state, radius, budget=(budget or Budget()).part(expansions=left))

    def strategy(
        self, state: int, radius: int | None, /, known: KnownLine | None = None
    ) -> Sequence[StrategyLine]:
        return self.decider.strategy(state, radius, known)

    def refutation(
        self, state: int, radius: int | None, /, known: KnownLine | None = None
    ) -> Sequence[RefutationLine]:
        return self.decider.refutation(state, radius, known)


def _analyse(lab: ModelLab, run: list[int]) -> dict[str, Any]:
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
        "starts_safe": verdicts[run[0]] == "safe",
    }


def plan_digest(plan: Plan, instances: list[Instance]) -> Row:
    """What must be the same for results to be continued."""
    asked = {i.name: "" if i.config is None else i.config.absolute().to_toml() for i in instances}
    return {
        "plan": asdict(plan),
        "instances": {i.name: {"config": asked[i.name], "sha256": i.digest} for i in instances},
    }
