"""Trains the bundled policies: for each benchmark the best checkpoint that is not safe, as in the paper.

`python benchmarks/safety_zoo.py [--seeds N] [NAME ...]` writes into src/misstep/bundled/safety_zoo; half a
minute of CPU time a seed, two minutes for the large ones.
Q-learning comes first, then rounds of retraining on faults (`misstep.training.repair`), which make small
networks competent much sooner. Policies are compared by their runs from start states that are not lost already:
what reaches an unsafe state from there is the policy's fault. All random choices come from the seeds: the same command
on the same machine gives the same files (`--out DIR` twice, then `diff -r`).

The bundled files were made with `--seeds 3` (one_way_line_det, blocksworld_large), `--seeds 2` (blocksworld, beluga,
two_way_line_det, transport) and `--seeds 1` (the others), and repeated byte by byte. Those of one_way_line,
one_way_line_park, one_way_line_large, two_way_line, two_way_line_park and two_way_line_along are older: they were
chosen by goal rate alone, by a program that also tried networks with noise on their weights.
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
RUNS, FUZZED, MAX_STEPS, EXPANSIONS = 300, 500, 300, 50_000
ENOUGH, COMPETENT = 20, 0.75
CONTROL = ("bouncing_ball", "follow_car", "cart_pole", "inverted_pendulum")
"""Retraining looks at all states that can be reached, and of these there is no end."""
Network = tuple[Layers, list[str], list[str]]
USUAL: dict[str, Any] = {"hidden": (32, 32), "steps": 20_000, "train_every": 4, "checkpoint_every": 500}
LARGE: dict[str, Any] = {
    **USUAL,
    "hidden": (64, 64),
    "steps": 40_000,
    "memory": 50_000,
    "checkpoint_every": 2000,
}
# In a hurry: what is far away hardly counts, so that a short way with a risk is worth more than a safe detour.
HASTY: dict[str, Any] = {**LARGE, "discount": 0.85, "train_every": 2, "episode": 100}
REWARDS = Rewards(goal=5.0, unsafe=-1.0, step=-0.01)
HASTY_REWARDS = Rewards(goal=5.0, unsafe=0.0, step=0.0)
SETTINGS: dict[str, dict[str, Any]] = {
    "npuzzle": {**HASTY, "steps": 60_000, "discount": 0.75},
    "npuzzle_budget": LARGE,
    "npuzzle_large": {**USUAL, "hidden": (128, 64), "steps": 4000, "checkpoint_every": 2000},
    "blocksworld": {**USUAL, "hidden": (64, 64), "steps": 4000},
    "blocksworld_budget": {**LARGE, "steps": 60_000},
    "blocksworld_large": {**USUAL, "hidden": (128, 64), "steps": 4000, "checkpoint_every": 2000},
    "one_way_line_large": {**LARGE, "steps": 120_000},
    "two_way_line_large": {**LARGE, "steps": 20_000},
    "one_way_line_det": {**USUAL, "discount": 0.8, "checkpoint_every": 100},
    "beluga": {**USUAL, "discount": 0.8, "train_every": 2},
    "beluga_large": {**HASTY, "steps": 20_000, "discount": 0.9, "checkpoint_every": 1000},
}
"""Where the usual settings do not do."""
ROUNDS = {"blocksworld_large": (80, 2)}
"""How many rounds of retraining, and how many epochs in each, where 40 rounds of 6 leave out what is between."""


def load(name: str) -> SafetyTask:
    document = generate(name)
    test = document["properties"][0]["expression"]
    goal = test.get("objective", {}).get("goal")
    return SafetyTask(JaniTask(json.dumps(document), name, test["reach"], goal, test.get("start"), None))


def fair_starts(task: SafetyTask) -> list[list[Value]]:
    """The start states that are not lost already, as far as 50,000 states say."""
    game = task.game()
    decider = Decider(game, "level")
    return [
        list(game.values(s))
        for s in task.start_states(game)
        if decider.decide(s, None, budget=Budget(expansions=EXPANSIONS))[0] != "unsafe"
    ]


@dataclass(frozen=True, order=True)
class Quality:
    """What makes one checkpoint better than another: first of all, it is not safe."""

    has_bugs: bool
    is_good_test: bool
    """It reaches the goal from most starts, and there are enough unsafe runs to learn something from."""
    goal_rate: float
    unsafe_rate: float
    fuzzed: int
    """Distinct unsafe runs that the experiments' fuzzer finds."""


def quality(task: SafetyTask, network: Network, starts: list[list[Value]]) -> Quality:
    game = task.game(layers_policy(*network, task))
    states = [game.add(values) for values in starts]
    exam: Exam = examine(game, states, runs=RUNS, max_steps=MAX_STEPS, seed=1)
    fuzzer = SafetyFuzzer(game, "greedy", depth=None, seed=1, max_steps=MAX_STEPS)
    found = set()
    for number in range(FUZZED):
        end, run = fuzzer.run(states[number * len(states) // FUZZED])
        if end == "unsafe":
            found.add(tuple(run))
    is_good_test = len(found) >= ENOUGH and exam.goal_rate >= COMPETENT
    return Quality(bool(found), is_good_test, exam.goal_rate, exam.unsafe_rate, len(found))


def main(names: list[str], seeds: int, out: Path, *, again: bool, steps: int | None) -> None:
    out.mkdir(exist_ok=True, parents=True)
    for name in names or list(INSTANCES):
        task = load(name)
        starts = fair_starts(task)
        best: Quality | None = None

        def consider(network: Network) -> None:
            nonlocal best
            found = quality(task, network, starts)  # noqa: B023
            if best is None or found > best:
                best = found
                save(out / f"{name}.jani2nnet", *network, digits=4)  # noqa: B023

        for seed in range(seeds):
            network = bundled(name) if again else learn(name, task, consider, seed, steps)
            consider(network)
            print(f"{name}, seed {seed}: {best}", flush=True)
            if name not in CONTROL:
                refine(task, network, consider, seed, *ROUNDS.get(name, (40, 6)))
                print(f"{name}, seed {seed}, retrained: {best}", flush=True)


def learn(
    name: str, task: SafetyTask, consider: Callable[[Network], None], seed: int, steps: int | None
) -> Network:
    """Q-learning; the last network."""
    usual = SETTINGS.get(name, USUAL)
    shorter = usual if steps is None else {**usual, "steps": steps}
    rewards = HASTY_REWARDS if "discount" in usual else REWARDS
    settings = QSettings(**shorter, rewards=rewards, exam_runs=1, seed=seed)
    training = QTraining(task, settings)
    while not training.is_over:
        training.advance()
        consider(training.latest)
    return training.latest


def bundled(name: str) -> Network:
    """The network that is there already."""
    interface = read_interface(ZOO / f"{name}.jani2nnet")
    return read_nnet(interface.file), list(interface.inputs), list(interface.outputs)


def refine(
    task: SafetyTask,
    network: Network,
    consider: Callable[[Network], None],
    seed: int,
    rounds: int,
    epochs: int,
) -> None:
    """Many short rounds, so that there are policies in between that are good and not safe."""
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / "draft.jani2nnet"
        save(draft, *network)
        settings = RepairSettings(rounds=rounds, epochs=epochs, learning_rate=2e-3, exam_runs=RUNS, seed=seed)
        repair = Repair(task, draft, settings)

        def latest() -> Network:
            return repair.layers, repair.simulator.inputs, repair.simulator.labels

        repair.run(progress=lambda *_: consider(latest()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks; all without any")
    parser.add_argument("--seeds", type=int, default=2, help="trainings of each benchmark")
    parser.add_argument("--again", action="store_true", help="retrain the bundled networks, no Q-learning")
    parser.add_argument("--steps", type=int, help="of Q-learning; fewer leave more to the retraining")
    parser.add_argument(
        "--out", type=Path, default=ZOO, help="where the files go; by default the bundled ones"
    )
    given = parser.parse_args()
    main(given.names, given.seeds, given.out, again=given.again, steps=given.steps)
