"""Trains relational networks on problems of our generators and says what they reach.

    python -m benchmarks.gnn_training --out results --domains gripper ferry --kinds q value --seconds 120
    python -m benchmarks.gnn_training --out results --domains gripper --decisions 10000

Trains on small problems, chooses on larger ones, and tests on others that are larger still. `--decisions` takes
the trained models and compares what they decide natively and in PyTorch on states of random walks in the test
problems: a decision differs where PyTorch gives another action a lower value by more than float noise.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misstep import _core
from misstep.formats.gnn_file import read_arrays
from misstep.formats.gnn_model import GnnKind, make_gnn
from misstep.policies.gnn import Gnn, identifier
from misstep.task import Task
from misstep.training.asnet import Progress
from misstep.training.gnn import train_gnn
from misstep.training.gnn_config import GnnConfig
from misstep.training.gnn_graph import TaskGraphs
from misstep.training.gnn_torch import evaluate, torch_module
from misstep.training.zoo import problems

# Values of some tens, rounded to 24 bits in many layers and in another order.
NOISE = 1e-3
TEST_SEED = 5000


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of the problems to train on, to choose by, and to test on."""

    training: Sequence[int]
    validation: Sequence[int]
    test: Sequence[int]


SIZES = {
    "blocks": Sizes((2, 3, 4), (5, 6, 7), (8, 10, 12)),
    "ferry": Sizes((2, 3, 4), (5, 6), (8, 10, 12)),
    "gripper": Sizes((2, 4, 6), (7, 8), (10, 12, 14)),
    "miconic": Sizes((1, 2, 3), (4, 6), (8, 10, 12)),
    "satellite": Sizes((1, 2), (3, 4), (5, 6, 7)),
    "spanner": Sizes((1, 2, 3), (4, 6), (8, 10)),
    "visitall": Sizes((1, 2, 3), (4,), (5, 6)),
}


def train(name: str, kind: GnnKind, out: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Trains one network; what it solves of the test problems."""
    sizes = SIZES[name]
    config = GnnConfig(kind=kind, loss=options.loss if kind == "value" else None, seed=options.seed)
    start = time.process_time()
    result = train_gnn(
        problems(name, sizes.training, 4, 0),
        problems(name, sizes.validation, 4, 1000),
        config,
        out=out,
        max_seconds=options.seconds,
        progress=tell,
    )
    seconds = time.process_time() - start
    solved: Counter[int] = Counter()
    for size in sizes.test:
        for task in problems(name, (size,), options.tests, TEST_SEED):
            policy = Gnn(result.final).bind(task)
            graph = _core.PolicyGraph(task, policy, dead_ends=False, recheck=False)
            [run] = graph.run(task.batch([task.initial_state]), max_steps=500)
            solved[size] += run.outcome == "solved"
    return {
        "domain": name,
        "kind": kind,
        "seed": options.seed,
        "solved": sum(solved.values()),
        "of": options.tests * len(sizes.test),
        "by_size": {size: solved[size] for size in sizes.test},
        "validation": result.solved,
        "of_validation": 4 * len(sizes.validation),
        "epochs": result.epochs,
        "processor_seconds": round(seconds),
    }


def tell(told: Progress) -> None:
    text = f"{told.run} epoch {told.epoch}: loss {told.loss:.4f}, trained {told.success_rate:.0%}"
    print(f"{text}, solves {told.solved}/{told.of}, {told.seconds:.0f} s", file=sys.stderr, flush=True)


def walk(task: Task, count: int, seed: int) -> list[_core.State]:
    """States of random walks that begin anew every 30 steps, and in dead ends."""
    chance, found = random.Random(seed), list[_core.State]()
    state = task.initial_state
    while len(found) < count:
        actions = task.applicable(state)
        if not actions or len(found) % 30 == 29:
            state = task.initial_state
            actions = task.applicable(state)
        found.append(state)
        state = task.apply(state, chance.choice(actions))
    return found


def said_by_torch(
    task: Task, path: Path, states: Sequence[_core.State], actions: Sequence[Sequence[_core.Action]]
) -> list[NDArray[np.float32]]:
    """By state the values of its actions; the states are evaluated together, which changes nothing but rounding."""
    torch = torch_module()
    shape, arrays = read_arrays(path)
    weights = {key: torch.from_numpy(array) for key, array in arrays.items()}
    graphs = TaskGraphs(task, make_gnn(str(path), shape, arrays))
    if shape.kind == "q":
        numbers = [np.array([action.index for action in each], np.int64) for each in actions]
        graph = graphs.graph(np.array([state.values for state in states], np.int32), numbers)
    else:
        pairs = zip(states, actions, strict=True)
        successors = [task.apply(state, action).values for state, each in pairs for action in each]
        graph = graphs.graph(np.array(successors, np.int32))
    with torch.no_grad():
        said = evaluate(shape, weights, graph)
    values = said.values.numpy().astype(np.float32)
    if said.solvable is not None:
        values = values + np.float32(1e5) * (said.solvable.numpy() <= 0)
    cuts = np.cumsum([len(each) for each in actions])[:-1]
    return list(np.split(values, cuts))


def decisions(name: str, path: Path, count: int) -> dict[str, Any]:
    """Compares native and PyTorch decisions on so many states."""
    tasks = problems(name, SIZES[name].test[:1], 4, TEST_SEED)
    result: Counter[str] = Counter(same=0, tie=0, different=0)
    largest, at_once = 0.0, 100
    for task in tasks:
        policy = Gnn(path).bind(task)
        states = walk(task, count // len(tasks), seed=1)
        for first in range(0, len(states), at_once):
            some = states[first : first + at_once]
            actions = [
                sorted(task.applicable(state), key=lambda action: identifier(action.name)) for state in some
            ]
            for state, values in zip(some, said_by_torch(task, path, some, actions), strict=True):
                native = np.array([value for _, value in policy.values(state)], np.float32)
                largest = max(largest, float(np.abs(native - values).max()))
                ours, theirs = int(native.argmin()), int(values.argmin())
                close = values[ours] - values[theirs] <= NOISE
                result["same" if ours == theirs else "tie" if close else "different"] += 1
    return {"domain": name, "model": str(path), "states": sum(result.values()), **result, "noise": largest}


def main() -> int:
    """One line of JSON a network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--domains", nargs="+", choices=sorted(SIZES), default=["gripper", "ferry", "blocks"])
    parser.add_argument("--kinds", nargs="+", choices=["value", "q"], default=["q", "value"])
    parser.add_argument("--loss", default=None)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--tests", type=int, default=10, help="problems of a size")
    parser.add_argument("--decisions", type=int, default=0)
    options = parser.parse_args()
    for name in options.domains:
        for kind in options.kinds:
            out = options.out / f"{name}-{kind}-{options.seed}"
            if options.decisions:
                told = decisions(name, out / "final.gnn", options.decisions)
            else:
                told = train(name, kind, out, options)
            print(json.dumps(told), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
