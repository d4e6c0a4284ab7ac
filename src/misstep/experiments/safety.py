"""The paper's three experiments: fuzzers, deciders, faults. In parallel, and continued where they stopped."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from misstep.bundled.models import BUNDLED
from misstep.errors import InputError
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
)

Tell = Callable[[str], None]
PLAN, RESULTS, UNITS = "plan.json", "results.json", "units"
ENOUGH_RUNS = 20


def bundled_instances(names: Sequence[str]) -> list[Instance]:
    """The bundled benchmarks of these names; all without any."""
    if unknown := [name for name in names if name not in BUNDLED]:
        raise InputError(f"unknown benchmark {unknown[0]!r}; known are {', '.join(BUNDLED)}")
    return [Instance(name) for name in names or BUNDLED]


def run_experiments(
    out: Path, plan: Plan, instances: Sequence[Instance], *, jobs: int = 1, tell: Tell | None = None
) -> dict[str, Any]:
    """All three, with `results.json`, the figures, and what was found as answer.

    Each unit of work has a file of its own, so the same call continues what was stopped; InputError where the
    files are of another plan.
    """
    tell = tell or (lambda text: None)
    units = out / UNITS
    units.mkdir(parents=True, exist_ok=True)
    _bind_plan(out / PLAN, plan_digest(plan, list(instances)))
    failed = _run_all(
        [Unit("fuzzing", i, *part) for i in instances for part in FUZZERS], plan, units, jobs, tell
    )
    ready = [i for i in instances if (units / source_file(i)).is_file()]
    for instance in ready:
        found = json.loads((units / source_file(instance)).read_text(encoding="utf-8"))
        tell(f"{instance.name}: {len(found['unsafe_runs'])} distinct unsafe runs")
    rest = [Unit(name, i, *part) for i in ready for name in ("deciding", "faults") for part in DECIDERS]
    failed += _run_all(rest, plan, units, jobs, tell)
    results = collect(units, instances)
    (out / RESULTS).write_text(json.dumps(results) + "\n", encoding="utf-8")
    for name, text in draw(results).items():
        (out / name).write_text(text, encoding="utf-8")
    return {**findings(results, enough=ENOUGH_RUNS), "failed": failed}


def collect(units: Path, instances: Sequence[Instance]) -> dict[str, list[dict[str, Any]]]:
    """The rows of all units that are done."""
    results: dict[str, list[dict[str, Any]]] = {"fuzzing": [], "deciding": [], "faults": []}
    for experiment, parts in (("fuzzing", FUZZERS), ("deciding", DECIDERS), ("faults", DECIDERS)):
        for instance in instances:
            for part in parts:
                file = units / Unit(experiment, instance, *part).file
                if file.is_file():
                    results[experiment] += json.loads(file.read_text(encoding="utf-8"))["rows"]
    return results


def _bind_plan(file: Path, digest: dict[str, Any]) -> None:
    """Remembers what is done there, so that nothing else is mixed with it."""
    text = json.dumps(digest, indent=1) + "\n"
    if not file.is_file():
        file.write_text(text, encoding="utf-8")
    elif file.read_text(encoding="utf-8") != text:
        raise InputError(
            f"{file}: there are results of another plan or other instances; choose another --out, or the same "
            "options"
        )


def _run_all(units: Sequence[Unit], plan: Plan, out: Path, jobs: int, tell: Tell) -> list[str]:
    """Does what is not done yet; the reasons of those that could not be done."""
    left = [unit for unit in units if not (out / unit.file).is_file()]
    if len(left) < len(units):
        tell(f"{len(units) - len(left)} of {len(units)} pieces of work are done already")
    if jobs == 1 or len(left) < 2:
        return [reason for unit in left if (reason := run_unit(unit, plan, out)) is not None]
    failed = []
    # Fresh processes: a fork of one that has threads may hang.
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = {pool.submit(run_unit, unit, plan, out): unit for unit in left}
        for done in as_completed(waiting):
            try:
                reason = done.result()
            except BrokenProcessPool:
                pool.shutdown(cancel_futures=True)
                raise InputError(
                    f"{out}: a process of the experiments died, perhaps for want of memory; the same command "
                    "goes on, with fewer --jobs or less --memory-mb"
                ) from None
            failed += [] if reason is None else [reason]
    return failed
