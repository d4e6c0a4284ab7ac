"""A safety test from start to end: fuzz, analyse unsafe runs, write what was proved."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from misstep._core import Budget, Decider, JaniGame, SafetyFuzzer, SafetyPolicy
from misstep.record.store import RunDirectory
from misstep.safety.analysis import Analyst, Findings
from misstep.safety.certificate import make_certificate
from misstep.safety.model import SafetyTask
from misstep.safety.shield import ShieldReport, measure
from misstep.safety.verify import MODEL

Event = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """What to do. None: no limit, infinite radius, unlimited look-ahead, no horizon."""

    runs: int = 100
    fuzzer: str = "greedy"
    depth: int | None = 1
    decider: str = "level"
    radius: int | None = None
    horizon: int | None = None
    max_steps: int = 1000
    start_states: int = 1000
    max_expansions: int | None = 1_000_000
    seconds: float | None = None
    memory_mb: float | None = None
    seed: int = 0
    shield: bool = False


@dataclass
class Result:
    """The summary of a test; `states` were judged, `unknown` of them without an answer."""

    runs: int = 0
    unsafe_runs: int = 0
    states: int = 0
    bugs: int = 0
    faults: int = 0
    possible_faults: int = 0
    cleared: int = 0
    unknown: int = 0
    reasons: set[str] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=lambda: {"fuzz": 0.0, "decide": 0.0, "total": 0.0})
    out_of_bounds: int = 0
    shield: ShieldReport | None = None

    def add(self, found: Findings) -> None:
        """Count what one run brought."""
        self.states += len(found.bugs) + len(found.cleared) + len(found.unknown)
        self.bugs += len(found.bugs)
        self.faults += len(found.faults)
        self.possible_faults += len(found.possible_faults)
        self.cleared += len(found.cleared)
        self.unknown += len(found.unknown)
        self.reasons |= found.reasons


def run_directory(path: Path, task: SafetyTask, settings: Settings, policy: str) -> RunDirectory:
    """Where a test is written, with the model that its certificates are checked against."""
    return RunDirectory(
        path,
        config={"model": task.files.file, "policy": policy, **asdict(settings)},
        environment={
            "seed": settings.seed,
            "model_sha256": hashlib.sha256(task.files.model.encode()).hexdigest(),
        },
        files={MODEL: task.files.model},
    )


class SafetyTest:
    """One test of one policy on one task. Iterate over `events`; `result` is true at any moment."""

    def __init__(
        self, task: SafetyTask, policy: SafetyPolicy, settings: Settings, *, out: RunDirectory | None = None
    ):
        self.task, self.settings, self.out = task, settings, out
        self.result = Result()
        self.game: JaniGame = task.game(policy, horizon=settings.horizon)
        self.decider = Decider(self.game, settings.decider)
        self.budget = Budget(
            seconds=settings.seconds, expansions=settings.max_expansions, memory_mb=settings.memory_mb
        )
        self.analyst = Analyst(self.game, self.decider, radius=settings.radius, budget=self.budget)
        self._begin = time.perf_counter()

    def events(self) -> Iterator[Event]:
        """Run the test, one event for each policy run and one at the end."""
        settings, result = self.settings, self.result
        starts = self.task.start_states(self.game, count=settings.start_states, seed=settings.seed)
        rng = random.Random(settings.seed)
        fuzzer = SafetyFuzzer(
            self.game, settings.fuzzer, depth=settings.depth, max_steps=settings.max_steps, seed=settings.seed
        )
        for number in range(settings.runs):
            if (over := self.budget.over) is not None:
                result.reasons.add(over)
                break
            yield self._one(number, fuzzer, starts[rng.randrange(len(starts))])
        if settings.shield:
            # The time is for testing; what the shield does with the rest of the test's findings comes after.
            untimed = Budget(expansions=settings.max_expansions, memory_mb=settings.memory_mb)
            shielded = Analyst(self.game, self.decider, radius=None, budget=untimed)
            result.shield = measure(
                shielded, starts, runs=settings.runs, max_steps=settings.max_steps, seed=settings.seed
            )
        result.out_of_bounds = self.game.out_of_bounds
        yield self._record({"event": "end", **self.summary()})

    def _one(self, number: int, fuzzer: SafetyFuzzer, start: int) -> Event:
        result = self.result
        before = time.perf_counter()
        end, run = fuzzer.run(start, budget=self.budget)
        result.seconds["fuzz"] += time.perf_counter() - before
        result.runs += 1
        if end in ("seconds", "memory", "stopped"):
            result.reasons.add(end)
        event: Event = {"event": "run", "run": number, "end": end, "steps": len(run) - 1}
        if end == "unsafe":
            result.unsafe_runs += 1
            before = time.perf_counter()
            found = self.analyst.analyse(run)
            result.seconds["decide"] += time.perf_counter() - before
            result.add(found)
            event |= self._findings(number, run, found)
        result.seconds["total"] = time.perf_counter() - self._begin
        return self._record(event)

    def _findings(self, number: int, run: list[int], found: Findings) -> Event:
        counts = {"bugs": len(found.bugs), "faults": len(found.faults), "unknown": len(found.unknown)}
        if self.out is not None and (found.bugs or found.faults):
            settings = self.settings
            certificate = make_certificate(
                self.task,
                self.game,
                self.decider,
                radius=settings.radius,
                horizon=settings.horizon,
                safe=found.bugs,
                faults=found.faults,
                trace=run,
            )
            self.out.certificate(f"run-{number:05d}", certificate)
        labels = self.task.labels
        faults = [
            {
                "state": self.task.state(self.game, f.state),
                "action": labels[f.action],
                "alternative": labels[f.alternative],
            }
            for f in found.faults
        ]
        return {**counts, "fault_list": faults}

    def _record(self, event: Event) -> Event:
        if self.out is not None:
            self.out.event(event)
        return event

    def summary(self) -> dict[str, Any]:
        """The JSON object of `misstep safety test`."""
        r = self.result
        shield = None if r.shield is None else asdict(r.shield)
        return {
            "runs": r.runs,
            "unsafe_runs": r.unsafe_runs,
            "states": r.states,
            "bugs": r.bugs,
            "faults": r.faults,
            "possible_faults": r.possible_faults,
            "cleared": r.cleared,
            "unknown": r.unknown,
            "limits_hit": sorted(r.reasons),
            "out_of_bounds": r.out_of_bounds,
            "expanded": self.decider.expanded,
            "seconds": {name: round(value, 6) for name, value in r.seconds.items()},
            **({} if shield is None else {"shield": shield}),
        }
