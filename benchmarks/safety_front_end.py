"""Successor generation with hashing: expansions a second, and the ratio to Storm's builder on the same model.

`python benchmarks/safety_front_end.py`. Times are of this process's CPU, since both sides use one thread; a
busy machine still costs cache and memory bandwidth. Storm is optional.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from misstep._core import JaniModel
from misstep.bundled.models import generate

TARGET_RATE, TARGET_RATIO = 400_000, 5.0


def best_rate(
    model: JaniModel, max_states: int, repeats: int = 3
) -> tuple[float, tuple[int, int, int, int, int]]:
    rate, counts = 0.0, (0, 0, 0, 0, 0)
    for _ in range(repeats):
        start = time.process_time()
        counts = model.explore(max_states=max_states)
        rate = max(rate, counts[1] / (time.process_time() - start))
    return rate, counts


def storm_rate(document: dict[str, Any]) -> tuple[float, int, int] | None:
    try:
        import stormpy
    except ImportError:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.jani"
        path.write_text(json.dumps({**document, "properties": []}), encoding="utf-8")
        program, _ = stormpy.parse_jani_model(str(path))
        start = time.process_time()
        model = stormpy.build_model(program)
        seconds = time.process_time() - start
    return model.nr_states / seconds, model.nr_states, model.nr_transitions


def main() -> None:
    large = JaniModel.parse(
        json.dumps(generate("two_way_line", length=15, packages=10)), "two_way_line_15_10"
    )
    rate, counts = best_rate(large, 3_000_000)
    passed = "pass" if rate >= TARGET_RATE else "short"
    print(f"two_way_line 15x10: {rate:,.0f} expansions/s, target {TARGET_RATE:,}: {passed}")
    document = generate("two_way_line", length=15, packages=6)
    ours = JaniModel.parse(json.dumps(document), "two_way_line_15_6")
    rate, counts = best_rate(ours, 1_000_000_000)
    states, _, _, transitions, deadlocks = counts
    print(f"two_way_line 15x6: {rate:,.0f} expansions/s, {states:,} states, {transitions:,} transitions")
    storm = storm_rate(document)
    if storm is None:
        print("Storm is not installed: no ratio")
        return
    same = (states, transitions + deadlocks) == storm[1:]  # Storm gives dead ends a loop
    ratio = rate / storm[0]
    passed = "pass" if ratio >= TARGET_RATIO else "short"
    print(
        f"Storm: {storm[0]:,.0f} states/s; ratio {ratio:.1f}, target {TARGET_RATIO}: {passed}; same: {same}"
    )


if __name__ == "__main__":
    main()
