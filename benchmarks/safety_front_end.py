"""The state space of JANI models: misstep's exploration beside Storm's builder, in time and memory.

`python -m benchmarks.safety_front_end [NAME ...]`. Each measurement is a process of its own, the two programs
in turn; seconds are CPU time of building alone, memory is how much the process grew by it at its largest.
Targets: at least 3 times Storm's speed, at most half its memory. Storm is optional.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from misstep.bundled.models import generate

TARGET_RATIO, TARGET_MEMORY, REPEATS = 3.0, 0.5, 2
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "two_way_line": ("two_way_line", {"length": 15, "packages": 7}),
    "two_way_line_large": ("two_way_line_large", {}),
    "one_way_line_large": ("one_way_line_large", {}),
    "npuzzle": ("npuzzle", {"rows": 3, "columns": 3}),
    "blocksworld": ("blocksworld", {"blocks": 6, "budget": 20}),
    "beluga": ("beluga", {"racks": 4, "capacity": 6, "arrivals": 30}),
}


def measure_ours(path: str) -> dict[str, float]:
    from misstep._core import JaniModel

    model = JaniModel.parse(Path(path).read_text(encoding="utf-8"), path)
    before, begin = _peak_kb(), time.process_time()
    states, _, _, transitions, ends = model.explore(max_states=1_000_000_000)
    seconds = time.process_time() - begin
    # Storm gives states without moves a loop.
    return {
        "states": states,
        "transitions": transitions + ends,
        "seconds": seconds,
        "kb": _peak_kb() - before,
    }


def measure_storm(path: str) -> dict[str, float]:
    import stormpy

    program, _ = stormpy.parse_jani_model(path)
    before, begin = _peak_kb(), time.process_time()
    model = stormpy.build_model(program)
    seconds = time.process_time() - begin
    return {
        "states": model.nr_states,
        "transitions": model.nr_transitions,
        "seconds": seconds,
        "kb": _peak_kb() - before,
    }


def _peak_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def best(which: str, path: Path) -> dict[str, float] | None:
    """The fastest of some runs; None where the program is not there, or fails."""
    found = []
    for _ in range(REPEATS):
        command = [sys.executable, "-m", "benchmarks.safety_front_end", "--measure", which, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"  {which} fails: {done.stderr.strip().splitlines()[-1:]}")
            return None
        found.append(json.loads(done.stdout.splitlines()[-1]))
    fastest: dict[str, float] = min(found, key=lambda one: one["seconds"])
    return fastest


def main(names: list[str]) -> None:
    for title, (name, parameters) in MODELS.items():
        if names and title not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.jani"
            path.write_text(json.dumps({**generate(name, **parameters), "properties": []}), encoding="utf-8")
            ours, storm = best("ours", path), best("storm", path)
        assert ours is not None, "our own exploration does not fail"
        rate = ours["states"] / ours["seconds"]
        print(
            f"{title}: {ours['states']:,} states, {rate:,.0f} a second, {ours['kb'] / 1024:.0f} MB",
            flush=True,
        )
        if storm is None:
            continue
        same = all(ours[key] == storm[key] for key in ("states", "transitions"))
        faster, memory = storm["seconds"] / ours["seconds"], ours["kb"] / max(storm["kb"], 1)
        passed = "pass" if same and faster >= TARGET_RATIO and memory <= TARGET_MEMORY else "short"
        print(
            f"  Storm: {storm['states'] / storm['seconds']:,.0f} a second, {storm['kb'] / 1024:.0f} MB; "
            f"{faster:.1f} times as fast, {memory:.2f} of the memory, same numbers: {same}: {passed}",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps((measure_ours if sys.argv[2] == "ours" else measure_storm)(sys.argv[3])))
    else:
        main(sys.argv[1:])
