"""Limits that hold, and speed, on models with millions of states.

`python -m benchmarks.safety_limits`. Every decider gets 2 seconds for questions of which it can hardly answer
the first and the last in that time: it must end within 3 s. Then 1,000 runs on the largest bundled benchmark:
within 10 s. A busy machine makes the wall clock slower; CPU seconds are shown beside it.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import misstep
from misstep.bundled.models import generate
from misstep.config import Config
from misstep.safety.decision import decide

DECIDERS = ("level", "tarjan", "value-iteration", "lao", "lrtdp", "policy-iteration")
HARD: dict[str, Any] = {"blocks": 9, "budget": 40}
RADII = (None, 1, 2, 16)
LARGE = "one_way_line_large"
SECONDS, MOST, MOST_TEST = 2.0, 3.0, 10.0


def first(state: dict[str, Any], labels: tuple[str, ...]) -> str:
    return min(labels)


def time_deciders(folder: Path) -> None:
    model = folder / "hard.jani"
    model.write_text(json.dumps(generate("blocksworld", **HARD)), encoding="utf-8")
    for name in DECIDERS:
        for radius in RADII:
            config = Config(
                model=model,
                policy="python:benchmarks.safety_limits:first",
                isolate=False,
                radius=radius,
                seconds=SECONDS,
                decider=f"{name}:max_expansions=1000000000",
            )
            begin, spent = time.perf_counter(), time.process_time()
            found = decide(config, "initial")
            seconds, spent = time.perf_counter() - begin, time.process_time() - spent
            passed = "pass" if seconds <= MOST else "short"
            what = found.verdict if found.limit is None else f"unknown: {found.limit}"
            print(
                f"{name}, radius {radius}: {what}, {found.expanded:,} expanded, {len(found.lab.game):,} seen, "
                f"{seconds:.2f} s ({spent:.2f} s of CPU): {passed}",
                flush=True,
            )


def time_test(folder: Path) -> None:
    model = folder / "large.jani"
    model.write_text(json.dumps(generate(LARGE)), encoding="utf-8")
    begin, spent = time.perf_counter(), time.process_time()
    report = misstep.test(model, f"zoo:{LARGE}", runs=1000).as_json()
    seconds, spent = time.perf_counter() - begin, time.process_time() - spent
    passed = "pass" if seconds <= MOST_TEST else "short"
    print(
        f"{LARGE}, 1,000 runs: {report['unsafe_runs']} unsafe, {report['bugs']} bugs, {report['faults']} faults, "
        f"{report['unknown']} unknown, {seconds:.1f} s ({spent:.1f} s of CPU): {passed}"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        time_deciders(Path(directory))
        time_test(Path(directory))
