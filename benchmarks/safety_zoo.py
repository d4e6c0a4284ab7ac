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
from misstep.api import test
from misstep.bundled.models import BUNDLED, generate
from misstep.safety.model import SafetyTask
from misstep.safety.policy import load_policy
from misstep.training.qlearning import QSettings, QTraining, save

ZOO = Path(__file__).parents[1] / "src" / "misstep" / "bundled" / "safety_zoo"
RUNS = 100


def quality(task: SafetyTask, model: Path, policy: Path) -> tuple[bool, float, int]:
    """(has bugs, share of random runs that reach the goal, bugs)."""
    game = task.game(load_policy(f"nnet:{policy}", task))
    starts = task.start_states(game)
    fuzzer = SafetyFuzzer(game, "uniform", seed=1, max_steps=300)
    rng = random.Random(0)
    goals = sum(game.is_goal(fuzzer.run(rng.choice(starts))[1][-1]) for _ in range(RUNS))
    report = test(model, f"nnet:{policy}", runs=RUNS, decider="level:max_expansions=5000")
    return len(report.bugs) > 0, goals / RUNS, len(report.bugs)


def main(names: list[str]) -> None:
    ZOO.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in names or list(BUNDLED):
            model = Path(folder) / f"{name}.jani"
            model.write_text(json.dumps(generate(name)), encoding="utf-8")
            task = SafetyTask.load(model)
            best: tuple[bool, float, int] = (False, -1.0, 0)

            def consider(training: QTraining) -> None:
                nonlocal best
                draft = Path(folder) / "draft.jani2nnet"
                save(draft, *training.result, digits=4)
                score = quality(task, model, draft)  # noqa: B023
                if score > best:
                    best = score
                    save(ZOO / f"{name}.jani2nnet", *training.result, digits=4)  # noqa: B023

            for seed in (0, 1):
                settings = QSettings(hidden=(16, 16), steps=40_000, checkpoint_every=5000, seed=seed)
                QTraining(task, settings).run(checkpoint=consider)
            print(f"{name}: bugs {best[2]}, goal rate {best[1]:.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
