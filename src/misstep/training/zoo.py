"""Trains the ASNets that come with misstep: `python -m misstep.training.zoo ferry --out DIR`.

Everything is made here: domains, problems by our generators, weights. The same command gives the same file.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from misstep.plugins import make_part
from misstep.task import Task, load
from misstep.training.asnet import Progress, TrainingResult, train_asnet
from misstep.training.asnet_config import make_config
from misstep.training.courier import CourierSizes
from misstep.training.imitation import courier_tasks

# Problems of training and validation have seeds of their own.
_TRAINING_SEED, _VALIDATION_SEED = 0, 1000


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a policy of the zoo is trained on."""

    training: Sequence[int] = (2, 3, 4)
    """Sizes."""
    validation: Sequence[int] = (6, 8, 10)
    per_size: int = 6
    epochs: int = 24
    batches: int = 300
    seed: int = 0


RECIPES = {
    "blocks": Recipe(training=(2, 3, 4, 5), validation=(7, 9, 11)),
    "ferry": Recipe(),
    "gripper": Recipe(),
    "logistics": Recipe(training=(1, 2, 3), validation=(4, 6)),
    "miconic": Recipe(),
    "satellite": Recipe(training=(1, 2, 3), validation=(4, 6, 8)),
    "spanner": Recipe(),
    "transport": Recipe(training=(1, 2, 3), validation=(4, 5, 6)),
    "visitall": Recipe(training=(1, 2, 3), validation=(4, 5)),
}
DEMO = "courier-asnet"


def problems(name: str, sizes: Sequence[int], count: int, seed: int) -> list[Task]:
    """So many problems of every size, loaded with unit cost."""
    generator = make_part("generator", name)
    return [
        load(generator.domain, generator.problem(size, seed + 100 * size + number), unit_cost=True)
        for size in sizes
        for number in range(count)
    ]


def train(name: str, out: Path) -> TrainingResult:
    """Trains the policy of this name; goes on where it was killed."""
    recipe = RECIPES[name]
    config = make_config(
        "best",
        seed=recipe.seed,
        epochs=recipe.epochs,
        batches=recipe.batches,
        perfect_epochs=4,
        max_states=50_000,
        max_samples=4000,
        threads=1,
    )
    return train_asnet(
        problems(name, recipe.training, recipe.per_size, _TRAINING_SEED),
        problems(name, recipe.validation, recipe.per_size, _VALIDATION_SEED),
        config,
        out=out,
        progress=_tell,
    )


def train_courier(out: Path) -> TrainingResult:
    """The ASNet of `misstep demo`: seconds of the published loop on tasks with at most two parcels.

    The demo's task has three, and what the network learned does not always hold there.
    """
    sizes = CourierSizes(places=4, parcels=2)
    tasks = list(courier_tasks(20, sizes, seed=_TRAINING_SEED, unit_cost=True))
    config = make_config("published", seed=0, epochs=10, batches=200, threads=1)
    return train_asnet(tasks, [], config, out=out, progress=_tell)


def _tell(told: Progress) -> None:
    text = f"{told.run} epoch {told.epoch}: loss {told.loss:.4f}, solves {told.solved}/{told.of}"
    print(f"{text}, {told.samples} states, {told.seconds:.0f} s", file=sys.stderr, flush=True)


def main() -> int:
    """Trains one policy and says what it reaches."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=sorted([*RECIPES, DEMO]))
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    result = train_courier(options.out) if options.name == DEMO else train(options.name, options.out)
    size = result.final.stat().st_size
    print(json.dumps({**result.as_json(), "bytes": size}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
