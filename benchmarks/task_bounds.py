"""Do the bounds in the tables of `misstep reproduce` hold? Simulated tables whose true shares are known.

python -m benchmarks.task_bounds [--tables 200]

Every row has a rate of its own and tasks that differ from it: much in some rows, little in others. The columns of a
row share its tasks, as the biases and oracles of a table do. Counts how often bounds contain the true rate of the row:
those of the tables, which know about tasks, and exact bounds of independent states.
"""

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass

from misstep.experiments.reproduce.table import Value, bounded, percent, share_of_tasks

ROWS, COLUMNS = 14, 5
SIZES = ((3, 21), (4, 15), (6, 44), (12, 21), (25, 56))
"""Tasks of a row, and states of each."""


@dataclass(frozen=True)
class Held:
    """How often bounds contained the truth, and how wide they were."""

    name: str
    bounds: int
    share: float
    width: float

    def __str__(self) -> str:
        return f"{self.name:<44} {self.share:>7.1%} of {self.bounds} bounds, width {self.width:.1f} points"


def simulated(
    tasks: int, states: int, rng: random.Random
) -> tuple[dict[str, dict[str, Value]], dict[str, float]]:
    """A table without bounds, and the true rate of each row."""
    table, rates = {}, {}
    for row in map(str, range(ROWS)):
        rates[row], alike = rng.uniform(0.02, 0.98), rng.uniform(0.05, 0.95)
        weight = (1 - alike) / alike
        of_tasks = [rng.betavariate(rates[row] * weight, (1 - rates[row]) * weight) for _ in range(tasks)]
        table[row] = {
            str(column): share_of_tasks(
                (sum(rng.random() < rate for _ in range(states)), states) for rate in of_tasks
            )
            for column in range(COLUMNS)
        }
    return table, rates


def simulate(tasks: int, states: int, *, tables: int, seed: int = 0) -> Iterator[Held]:
    """Bounds of the first column of every row: the others have the same tasks, and would only repeat it."""
    rng = random.Random(seed)
    ours: list[tuple[Value, float]] = []
    plain: list[tuple[Value, float]] = []
    for _ in range(tables):
        table, rates = simulated(tasks, states, rng)
        for row, values in bounded(table).items():
            ours.append((values["0"], rates[row]))
            hits, all_ = (sum(counts) for counts in zip(*values["0"].by_task, strict=True))
            plain.append((percent(hits, all_), rates[row]))
    yield _held(f"{tasks} tasks, {states} states of each", ours)
    yield _held("    taken as independent (not done)", plain)


def _held(name: str, found: list[tuple[Value, float]]) -> Held:
    bounds = [(value.low or 0.0, value.high or 0.0, 100 * rate) for value, rate in found]
    held = sum(low <= rate <= high for low, high, rate in bounds)
    return Held(
        name, len(bounds), held / len(bounds), sum(high - low for low, high, _ in bounds) / len(bounds)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    given = parser.parse_args()
    for tasks, states in SIZES:
        for held in simulate(tasks, states, tables=given.tables):
            print(held, flush=True)


if __name__ == "__main__":
    main()
