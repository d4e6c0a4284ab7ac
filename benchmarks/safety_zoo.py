"""Trains the bundled policies: for each benchmark the best checkpoint that is not safe, as in the paper.

`python benchmarks/safety_zoo.py [--seeds N] [NAME ...]` writes into src/misstep/bundled/safety_zoo; half a
minute of CPU time a seed, two minutes for the large ones.
Q-learning comes first, then rounds of retraining on faults (`misstep.training.repair`), which make small
networks competent much sooner. Checkpoints of both are compared by their runs from start states that are
decided safe: all that reaches an unsafe state from there is the policy's fault.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep._core import Budget, Decider, SafetyFuzzer
from misstep.bundled.models import INSTANCES, generate
from misstep.formats.jani import JaniTask
from misstep.formats.linear_layers import Layers
from misstep.formats.nnet import read_interface, read_nnet
from misstep.safety.exam import Exam, examine
from misstep.safety.model import SafetyTask, Value
from misstep.safety.policy import layers_policy
from misstep.training.qlearning import QSettings, QTraining, save
from misstep.training.repair import Repair, RepairSettings
from misstep.training.simulator import Rewards

ZOO = Path(__file__).parents[1] / "src" / "misstep" / "bundled" / "safety_zoo"
RUNS, FUZZED, MAX_STEPS, EXPANSIONS, ROUNDS = 300, 300, 300, 50_000, 25
Network = tuple[Layers, list[str], list[str]]
USUAL: dict[str, Any] = {"hidden": (32, 32), "steps": 20_000, "train_every": 4, "checkpoint_every": 2000}
LARGE: dict[str, Any] = {**USUAL, "hidden": (64, 64), "steps": 40_000, "memory": 50_000}
REWARDS = Rewards(goal=5.0, unsafe=-1.0, step=-0.01)
SETTINGS: dict[str, dict[str, Any]] = {
    "npuzzle": {**LARGE, "hidden": (64, 64)},
    "npuzzle_budget": LARGE,
    "npuzzle_large": {**LARGE, "hidden": (128, 64)},
    "blocksworld_budget": LARGE,
    "blocksworld_large": {**LARGE, "hidden": (128, 64)},
    "one_way_line_large": {**LARGE, "steps": 120_000},
    "two_way_line_large": LARGE,
    "beluga_large": LARGE,
    "transport_large": LARGE,
}
"""Where the usual settings do not do."""


def load(name: str) -> SafetyTask:
    document = generate(name)
    test = document["properties"][0]["expression"]
    goal = test.get("objective", {}).get("goal")
    return SafetyTask(JaniTask(json.dumps(document), name, test["reach"], goal, test.get("start"), None))


def safe_starts(task: SafetyTask) -> list[list[Value]]:
    """The start states from which unsafe states can be avoided; without reals, as far as 50,000 states say."""
    game = task.game()
    decider = Decider(game, "level")
    return [
        list(game.values(s))
        for s in task.start_states(game)
        if decider.decide(s, None, budget=Budget(expansions=EXPANSIONS))[0] == "safe"
    ]


@dataclass(frozen=True, order=True)
class Quality:
    """What makes one checkpoint better than another: first of all, it is not safe."""

    has_bugs: bool
    goal_rate: float
    unsafe_rate: float
    fuzzed: int
    """Distinct unsafe runs that a biased fuzzer finds."""


def quality(task: SafetyTask, network: Network, starts: list[list[Value]]) -> Quality:
    game = task.game(layers_policy(*network, task))
    states = [game.add(values) for values in starts]
    exam: Exam = examine(game, states, runs=RUNS, max_steps=MAX_STEPS, seed=1)
    fuzzer = SafetyFuzzer(game, "sampling", depth=1, seed=1, max_steps=MAX_STEPS)
    found = set()
    for number in range(FUZZED):
        end, run = fuzzer.run(states[number % len(states)])
        if end == "unsafe":
            found.add(tuple(run))
    return Quality(bool(found), exam.goal_rate, exam.unsafe_rate, len(found))


def main(names: list[str], seeds: int, *, again: bool, steps: int | None) -> None:
    ZOO.mkdir(exist_ok=True)
    for name in names or list(INSTANCES):
        task = load(name)
        starts = safe_starts(task)
        best: Quality | None = None

        def consider(network: Network) -> None:
            nonlocal best
            found = quality(task, network, starts)  # noqa: B023
            if best is None or found > best:
                best = found
                save(ZOO / f"{name}.jani2nnet", *network, digits=4)  # noqa: B023

        for seed in range(seeds):
            network = bundled(name) if again else learn(name, task, consider, seed, steps)
            consider(network)
            print(f"{name}, seed {seed}: {best}", flush=True)
            refine(task, network, consider, seed)
            print(f"{name}, seed {seed}, retrained: {best}", flush=True)


def learn(
    name: str, task: SafetyTask, consider: Callable[[Network], None], seed: int, steps: int | None
) -> Network:
    """Q-learning; the last network."""
    usual = SETTINGS.get(name, USUAL)
    shorter = usual if steps is None else {**usual, "steps": steps}
    settings = QSettings(**shorter, rewards=REWARDS, exam_runs=1, seed=seed)
    training = QTraining(task, settings)
    while not training.is_over:
        training.advance()
        consider(training.latest)
    return training.latest


def bundled(name: str) -> Network:
    """The network that is there already."""
    interface = read_interface(ZOO / f"{name}.jani2nnet")
    return read_nnet(interface.file), list(interface.inputs), list(interface.outputs)


def refine(task: SafetyTask, network: Network, consider: Callable[[Network], None], seed: int) -> None:
    """Many short rounds, so that there are policies in between that are good and not safe."""
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / "draft.jani2nnet"
        save(draft, *network)
        settings = RepairSettings(rounds=ROUNDS, epochs=20, learning_rate=2e-3, exam_runs=RUNS, seed=seed)
        repair = Repair(task, draft, settings)
        repair.run(
            progress=lambda *_: consider((repair.layers, repair.simulator.inputs, repair.simulator.labels))
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks; all without any")
    parser.add_argument("--seeds", type=int, default=2, help="trainings of each benchmark")
    parser.add_argument("--again", action="store_true", help="retrain the bundled networks, no Q-learning")
    parser.add_argument("--steps", type=int, help="of Q-learning; fewer leave more to the retraining")
    given = parser.parse_args()
    main(given.names, given.seeds, again=given.again, steps=given.steps)
