"""Expansions and time of the deciders, one fresh decider a state, on start states and states of random walks.

`python benchmarks/safety_deciders.py`. Targets: `level` never expands more than `tarjan`, and at most half as
much on benchmarks where most states are lost.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from typing import Any

from misstep._core import Decider, JaniGame
from misstep.formats.jani import JaniTask
from misstep.safety.domains import BUNDLED, generate
from misstep.safety.model import SafetyTask

REAL = ("bouncing_ball", "follow_car", "cart_pole", "inverted_pendulum")
LARGE: dict[str, tuple[str, dict[str, Any]]] = {
    "one_way_line, large": ("one_way_line", {"length": 60, "packages": 4, "max_speed": 6}),
    "two_way_line, large": ("two_way_line", {"length": 60, "packages": 4, "max_speed": 6}),
    "one_way_line, unsafe-heavy": (
        "one_way_line",
        {"length": 120, "packages": 4, "max_speed": 6, "unreliable": True},
    ),
    "two_way_line, unsafe-heavy": (
        "two_way_line",
        {"length": 120, "packages": 4, "max_speed": 6, "unreliable": True},
    ),
    "blocksworld, large": ("blocksworld", {"blocks": 6, "limit": 3}),
    "beluga, large": ("beluga", {"racks": 3, "capacity": 4, "arrivals": 12}),
}
ALGORITHMS = ("level", "tarjan", "policy-iteration", "lrtdp", "lao")
STATES, WALK = 300, 60


def load(name: str, parameters: dict[str, Any]) -> SafetyTask:
    document = generate(name, **parameters)
    test = document["properties"][0]["expression"]
    return SafetyTask(
        JaniTask(
            json.dumps(document), name, test["reach"], test["objective"]["goal"], test.get("start"), None
        )
    )


def walk_states(task: SafetyTask, game: JaniGame) -> list[list[Any]]:
    rng = random.Random(1)
    found: dict[int, None] = {}
    for start in task.start_states(game):
        s = start
        for _ in range(WALK):
            found.setdefault(s)
            moves = [] if game.is_unsafe(s) else game.moves(s)
            if not moves:
                break
            s = rng.choice(rng.choice(moves)[2])
    chosen = rng.sample(list(found), min(STATES, len(found)))
    return [game.values(s) for s in chosen]


def main() -> None:
    cases = {name: BUNDLED[name] for name in BUNDLED if name not in REAL} | LARGE
    for title, (name, parameters) in cases.items():
        task = load(name, parameters)
        states = walk_states(task, task.game())
        expanded: dict[str, int] = {}
        seconds: dict[str, float] = {}
        verdicts: dict[str, list[str]] = {}
        for algorithm in ALGORITHMS:
            game = task.game()
            begin = time.perf_counter()
            answers = [
                Decider(game, algorithm).decide(game.add(values), None, max_expansions=500_000)
                for values in states
            ]
            seconds[algorithm] = time.perf_counter() - begin
            expanded[algorithm] = sum(answer[2] for answer in answers)
            verdicts[algorithm] = [answer[0] for answer in answers]
        counts = Counter(verdicts["level"])
        agree = all(v == verdicts["level"] for v in verdicts.values())
        ratio = expanded["tarjan"] / max(expanded["level"], 1)
        need = 2.0 if "unsafe-heavy" in title else 1.0
        figures = ", ".join(f"{a} {expanded[a]:,} ({seconds[a]:.2f} s)" for a in ALGORITHMS)
        passed = "pass" if ratio >= need else "short"
        print(f"{title}: {dict(counts)}; {figures}; tarjan/level {ratio:.2f} ({passed})")
        assert agree, title


if __name__ == "__main__":
    main()
