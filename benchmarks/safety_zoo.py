"""Trains the bundled policies: for each benchmark the best checkpoint that is not safe, as in the paper.

`python benchmarks/safety_zoo.py [NAME ...]` writes into src/misstep/bundled/safety_zoo; a minute or two for
all.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path

from misstep._core import SafetyFuzzer
from misstep.bundled.models import BUNDLED, generate
from misstep.formats.linear_layers import Layers
from misstep.safety.campaign import SafetyTest, Settings
from misstep.safety.model import SafetyTask
from misstep.safety.policy import load_policy
from misstep.training.qlearning import QSettings, save, train

ZOO = Path(__file__).parents[1] / "src" / "misstep" / "bundled" / "safety_zoo"
RUNS = 100


def quality(task: SafetyTask, policy: Path) -> tuple[bool, float, int]:
    """(has bugs, share of random runs that reach the goal, bugs)."""
    game = task.game(load_policy(f"nnet:{policy}", task))
    starts = task.start_states(game)
    fuzzer = SafetyFuzzer(game, "uniform", seed=1, max_steps=300)
    rng = random.Random(0)
    goals = sum(game.is_goal(fuzzer.run(rng.choice(starts))[1][-1]) for _ in range(RUNS))
    test = SafetyTest(task, load_policy(f"nnet:{policy}", task), Settings(runs=RUNS, max_expansions=5_000))
    for _ in test.events():
        pass
    return test.result.bugs > 0, goals / RUNS, test.result.bugs


def main(names: list[str]) -> None:
    ZOO.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in names or list(BUNDLED):
            model = Path(folder) / f"{name}.jani"
            model.write_text(json.dumps(generate(name)), encoding="utf-8")
            task = SafetyTask.load(model)
            best: tuple[bool, float, int] = (False, -1.0, 0)

            def consider(step: int, layers: Layers, inputs: list[str], outputs: list[str]) -> None:
                nonlocal best
                draft = Path(folder) / "draft.jani2nnet"
                save(draft, layers, inputs, outputs, digits=4)
                score = quality(task, draft)  # noqa: B023
                if score > best:
                    best = score
                    save(ZOO / f"{name}.jani2nnet", layers, inputs, outputs, digits=4)  # noqa: B023

            for seed in (0, 1):
                train(task, QSettings(hidden=(16, 16), steps=40_000, seed=seed), checkpoint=consider)
            print(f"{name}: bugs {best[2]}, goal rate {best[1]:.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
