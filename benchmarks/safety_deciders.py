"""Expansions and time of the deciders, one fresh decider a state, on start states and states of random walks.

`python benchmarks/safety_deciders.py`. Targets: `level` never expands more than `tarjan`, and at most half as
much on benchmarks where most states are lost; the chain on which the published TarjanSafe is exponential
takes less than 0.1 s for n = 1,000.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from typing import Any

from misstep._core import Budget, Decider, ExplicitGame, JaniGame
from misstep.bundled.models import BUNDLED, generate
from misstep.formats.jani import JaniTask
from misstep.safety.model import SafetyTask

REAL = ("bouncing_ball", "follow_car", "cart_pole", "inverted_pendulum")  # larger: fewer states of them
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
STATES, REAL_STATES, WALK = 300, 15, 60


def load(name: str, parameters: dict[str, Any]) -> SafetyTask:
    document = generate(name, **parameters)
    test = document["properties"][0]["expression"]
    return SafetyTask(
        JaniTask(
            json.dumps(document), name, test["reach"], test["objective"]["goal"], test.get("start"), None
        )
    )


def chain(n: int) -> ExplicitGame:
    """s_i: a -> {s_{i+1}, y}, b -> {s_{i+1}}; s_n -> s_0; y -> unsafe."""
    y, bottom = n + 1, n + 2
    states = [([(0, [i + 1, y]), (1, [i + 1])], False, False, None) for i in range(n)]
    return ExplicitGame(
        [
            *states,
            ([(0, [0])], False, False, None),
            ([(0, [bottom])], False, False, None),
            ([], True, False, None),
        ]
    )


def time_chain() -> None:
    for algorithm in ("level", "tarjan", "policy-iteration"):
        decider = Decider(chain(1000), algorithm)
        begin = time.process_time()
        assert decider.decide(0, None)[0] == "safe"
        seconds = time.process_time() - begin
        passed = "pass" if seconds < 0.1 else "short"
        print(f"exponential chain, n = 1000, {algorithm}: {1000 * seconds:.2f} ms ({passed})")


def walk_states(task: SafetyTask, game: JaniGame, count: int) -> list[list[Any]]:
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
    chosen = rng.sample(list(found), min(count, len(found)))
    return [game.values(s) for s in chosen]


def main() -> None:
    time_chain()
    cases = BUNDLED | LARGE
    for title, (name, parameters) in cases.items():
        task = load(name, parameters)
        limit = 20_000 if name in REAL else 500_000
        states = walk_states(task, task.game(), REAL_STATES if name in REAL else STATES)
        expanded: dict[str, int] = {}
        seconds: dict[str, float] = {}
        verdicts: dict[str, list[str]] = {}
        for algorithm in ALGORITHMS:
            game = task.game()
            begin = time.process_time()
            answers = [
                Decider(game, algorithm).decide(game.add(values), None, budget=Budget(expansions=limit))
                for values in states
            ]
            seconds[algorithm] = time.process_time() - begin
            expanded[algorithm] = sum(answer[2] for answer in answers)
            verdicts[algorithm] = [answer[0] for answer in answers]
        counts = Counter(verdicts["level"])
        columns = zip(*verdicts.values(), strict=True)
        agree = all(len({*column} - {"unknown"}) <= 1 for column in columns)
        ratio = expanded["tarjan"] / max(expanded["level"], 1)
        need = 2.0 if "unsafe-heavy" in title else 1.0
        figures = ", ".join(f"{a} {expanded[a]:,} ({seconds[a]:.2f} s)" for a in ALGORITHMS)
        passed = "pass" if ratio >= need else "short"
        print(f"{title}: {dict(counts)}; {figures}; tarjan/level {ratio:.2f} ({passed})")
        assert agree, title


if __name__ == "__main__":
    main()
