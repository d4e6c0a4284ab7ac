"""The paper's three experiments: fuzzers, deciders, faults. In parallel, and continued where they stopped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from misstep.budget import Budget
from misstep.bundled.models import BUNDLED
from misstep.errors import InputError
from misstep.experiments.pieces import Tell, bind_plan, run_pieces
from misstep.experiments.safety_figures import draw, findings
from misstep.experiments.safety_units import (
    DECIDERS,
    FUZZERS,
    Instance,
    Plan,
    Unit,
    plan_digest,
    run_unit,
    source_file,
    unsafe_runs_in,
)
from misstep.support.plain import reading
from misstep.support.whole_files import write_file

PLAN, RESULTS, UNITS = "plan.json", "results.json", "units"
ENOUGH_RUNS = 20


def bundled_instances(names: Sequence[str]) -> list[Instance]:
    """The bundled benchmarks of these names; all without any."""
    if unknown := [name for name in names if name not in BUNDLED]:
        raise InputError(f"unknown benchmark {unknown[0]!r}; known are {', '.join(BUNDLED)}")
    return [Instance(name) for name in names or BUNDLED]


def run_experiments(
    out: Path,
    plan: Plan,
    instances: Sequence[Instance],
    *,
    jobs: int = 1,
    budget: Budget | None = None,
    tell: Tell = lambda text: None,
    progress: Tell = lambda text: None,
) -> dict[str, Any]:
    """All three, with `results.json`, the figures, and what was found as answer.

    Each unit of work has a file of its own, so the same call continues what was stopped, be it that the time was up
    (`left` counts the units that are not done then); InputError where the files are of another plan.
    """
    units = out / UNITS
    units.mkdir(parents=True, exist_ok=True)
    bind_plan(out / PLAN, plan_digest(plan, list(instances)))
    work = partial(run_unit, plan=plan, out=units)

    def run_all(parts: Sequence[Unit]) -> list[str]:
        pieces = [(units / unit.file, unit) for unit in parts]
        return run_pieces(pieces, work, jobs=jobs, where=units, budget=budget, tell=tell, progress=progress)

    failed = run_all([Unit("fuzzing", i, *part) for i in instances for part in FUZZERS])
    ready = [i for i in instances if (units / source_file(i)).is_file()]
    for instance in ready:
        tell(f"{instance.name}: {len(unsafe_runs_in(units, instance))} distinct unsafe runs")
    rest = [Unit(name, i, *part) for i in ready for name in ("deciding", "faults") for part in DECIDERS]
    # It takes most of the time and mostly meets its limit: whoever stops early misses little.
    rest.sort(key=lambda unit: unit.part == "value-iteration")
    failed += run_all(rest)
    wanted = len(instances) * (len(FUZZERS) + 2 * len(DECIDERS))
    left = 0 if budget is None or not budget.is_over else wanted - len(list(units.glob("*.json")))
    results = collect(units, instances)
    with reading(units):
        drawings, found = draw(results), findings(results, enough=ENOUGH_RUNS)
    for name, text in {RESULTS: json.dumps(results) + "\n", **drawings}.items():
        write_file(out / name, text)
    return {**found, "failed": failed, "left": left} if left else {**found, "failed": failed}


def collect(units: Path, instances: Sequence[Instance]) -> dict[str, list[dict[str, Any]]]:
    """The rows of all units that are done."""
    results: dict[str, list[dict[str, Any]]] = {"fuzzing": [], "deciding": [], "faults": []}
    for experiment, parts in (("fuzzing", FUZZERS), ("deciding", DECIDERS), ("faults", DECIDERS)):
        for instance in instances:
            for part in parts:
                file = units / Unit(experiment, instance, *part).file
                if file.is_file():
                    with reading(file):
                        results[experiment] += json.loads(file.read_text(encoding="utf-8"))["rows"]
    return results
