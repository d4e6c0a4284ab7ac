"""Imitation: trains linear policies to do what optimal plans do. `python -m misstep.training.imitation` makes
`zoo:courier` again, byte for byte."""

import argparse
import json
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misstep._core import Budget, search
from misstep.errors import InputError
from misstep.pddl import read_domain
from misstep.policies.linear import FEATURES, FORMAT, ActionFeatures, schema_of, weighted
from misstep.support.whole_files import write_file
from misstep.task import Task, load
from misstep.training.courier import CourierSizes, courier_problem

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """A state of a plan: the features of its applicable actions, and which of them the plan takes."""

    schemas: tuple[str, ...]
    features: Array
    taken: int


@dataclass(frozen=True)
class Trained:
    """Weights by schema and feature, and the share of examples in which they choose as the plan does."""

    weights: dict[str, dict[str, float]]
    agreement: float


def examples(task: Task, *, max_expansions: int = 100_000) -> list[Example]:
    """The states of one optimal plan from the initial state; none where A* does not find one in time.

    There are many optimal plans as a rule. What is as good as the plan's action counts as wrong here all the
    same: the learner sees no more than a plan, as from any planner.
    """
    plan = search(task, "astar:lmcut", budget=Budget(expansions=max_expansions)).plan
    states = [task.initial_state]
    for action in plan:
        states.append(task.apply(states[-1], action))
    if not plan:
        return []
    rows = ActionFeatures(task)(task.batch(states[:-1]))
    return [
        Example(tuple(map(schema_of, actions)), features, actions.index(taken))
        for (actions, features), taken in zip(rows, plan, strict=True)
    ]


def train(given: Sequence[Example], *, epochs: int = 10, seed: int = 0) -> Trained:
    """An averaged perceptron (Freund & Schapire 1999) that ranks the plan's action above the others.

    Features are whole numbers, so all sums but the last division are exact and the same on every machine.
    """
    schemas = sorted({schema for example in given for schema in example.schemas})
    if not schemas:
        raise InputError("there is nothing to learn from: no task has a plan with an action")
    number = {schema: at for at, schema in enumerate(schemas)}
    rows = [np.array([number[schema] for schema in example.schemas]) for example in given]
    rng = random.Random(seed)
    weights = np.zeros((len(schemas), len(FEATURES)))
    total = np.zeros_like(weights)
    for _ in range(epochs):
        for at in sorted(range(len(given)), key=lambda _: rng.random()):
            taken, chosen = given[at].taken, _choice(weights, rows[at], given[at])
            if chosen != taken:
                weights[rows[at][taken]] += given[at].features[taken]
                weights[rows[at][chosen]] -= given[at].features[chosen]
            total += weights
    average = np.round(total / (epochs * len(given)), 2)
    same = sum(_choice(average, row, one) == one.taken for row, one in zip(rows, given, strict=True))
    named = {
        schema: {name: float(value) for name, value in zip(FEATURES, average[at], strict=True)}
        for schema, at in number.items()
    }
    return Trained(named, round(same / len(given), 3))


def _choice(weights: Array, rows: NDArray[np.int64], example: Example) -> int:
    return int(weighted(weights[rows], example.features).argmax())


def courier_tasks(count: int, sizes: CourierSizes, *, seed: int, unit_cost: bool = False) -> Iterator[Task]:
    """Random tasks of the bundled domain."""
    rng = random.Random(seed)
    with as_file(files("misstep") / "bundled" / "courier") as folder:
        domain = read_domain(folder / "domain.pddl")
    for number in range(count):
        yield load(domain, courier_problem(rng, sizes, name=f"courier-{number}"), unit_cost=unit_cost)


def to_text(trained: Trained, about: dict[str, Any]) -> str:
    """The file that `linear:FILE` reads."""
    content = {"format": FORMAT, "about": about, "features": FEATURES, "weights": trained.weights}
    return json.dumps(content, indent=1) + "\n"


def train_courier(*, tasks: int = 40, epochs: int = 10, seed: int = 0) -> str:
    """The text of a policy for the courier domain; with these defaults that of `zoo:courier`."""
    sizes = CourierSizes()
    given = [one for task in courier_tasks(tasks, sizes, seed=seed) for one in examples(task)]
    trained = train(given, epochs=epochs, seed=seed)
    about = {
        "domain": "courier",
        "made_by": f"python -m misstep.training.imitation --tasks {tasks} --epochs {epochs} --seed {seed}",
        "method": "averaged perceptron on the states of one optimal plan (astar:lmcut) of each task",
        "tasks": tasks,
        "largest_task": asdict(sizes),
        "examples": len(given),
        "epochs": epochs,
        "seed": seed,
        "agreement": trained.agreement,
    }
    return to_text(trained, about)


def main(arguments: Iterable[str] | None = None) -> int:
    """Trains a courier policy and writes it."""
    parser = argparse.ArgumentParser(
        prog="python -m misstep.training.imitation",
        description="Train a linear policy for the bundled courier domain; the defaults make zoo:courier.",
    )
    parser.add_argument("--tasks", type=int, default=40, help="random tasks to learn from")
    parser.add_argument("--epochs", type=int, default=10, help="how often every example is seen")
    parser.add_argument("--seed", type=int, default=0, help="same seed, same file")
    parser.add_argument("--out", type=Path, help="the file; standard output by default")
    given = parser.parse_args(None if arguments is None else list(arguments))
    text = train_courier(tasks=given.tasks, epochs=given.epochs, seed=given.seed)
    if given.out is None:
        sys.stdout.write(text)
    else:
        write_file(given.out, text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
