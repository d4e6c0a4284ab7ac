"""Do the intervals hold? Simulated tests on the bundled courier task, where the verdict of every state is known.

python -m benchmarks.intervals [--tests 10000] [--pool 100]

Counts how often the bounds that a test states contain the true rate: for independent states, for
independent states of which a fifth stays unknown, for bounds that are looked at after every state, and for
pools from walks, with and without their dependence taken into account.
"""

import argparse
import functools
import heapq
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files

from misstep._core import PolicyGraph, State
from misstep.biases.published import NoBias
from misstep.fuzz import Fuzz
from misstep.fuzzers.published import Refined
from misstep.plugins import make_policy_part
from misstep.statistics import Interval, effective_size, rate_bounds, running_bounds
from misstep.task import Task, load


@dataclass(frozen=True)
class Truth:
    """A policy and all states in which it does worse than is possible."""

    graph: PolicyGraph
    is_bug: dict[State, bool]

    @property
    def rate(self) -> float:
        """Over all states alike."""
        return sum(self.is_bug.values()) / len(self.is_bug)


@dataclass(frozen=True)
class Row:
    """How often bounds held."""

    name: str
    tests: int
    held: int
    width: float

    def __str__(self) -> str:
        return f"{self.name:<58} {self.held / self.tests:>7.2%} of {self.tests} tests, width {self.width:.3f}"


def courier() -> Truth:
    """The bundled policy on all states of the bundled task."""
    with as_file(files("misstep") / "bundled" / "courier") as folder:
        task = load(folder / "domain.pddl", folder / "problem.pddl")
    graph = PolicyGraph(task, make_policy_part("zoo:courier").bind(task))
    best = _least_costs(task)
    runs = graph.run(task.batch(list(best)))
    is_bug = {
        state: run.outcome != "solved" or sum(action.cost for action in run.actions) > cost
        for (state, cost), run in zip(best.items(), runs, strict=True)
    }
    return Truth(graph, is_bug)


def _least_costs(task: Task) -> dict[State, int]:
    """The cost of reaching the goal from every reachable state; in this task it can always be reached."""
    before: dict[State, list[tuple[State, int]]] = defaultdict(list)
    seen, left = {task.initial_state}, [task.initial_state]
    while left:
        state = left.pop()
        for action, following in task.successors(state):
            before[following].append((state, action.cost))
            if following not in seen:
                seen.add(following)
                left.append(following)
    order = list(seen)
    queue = [(0, number) for number, state in enumerate(order) if task.is_goal(state)]
    number_of = {state: number for number, state in enumerate(order)}
    best: dict[State, int] = {}
    while queue:
        cost, number = heapq.heappop(queue)
        if order[number] in best:
            continue
        best[order[number]] = cost
        for previous, paid in before[order[number]]:
            heapq.heappush(queue, (cost + paid, number_of[previous]))
    assert len(best) == len(order), "a state from which the goal cannot be reached"
    return best


def independent(truth: Truth, *, tests: int, pool: int, unknown: float, seed: int) -> Row:
    """Tests of states that are drawn one by one, of which a share stays unknown."""
    rng, exact = random.Random(seed), functools.cache(rate_bounds)
    verdicts, found = list(truth.is_bug.values()), []
    for _ in range(tests):
        bugs = cleared = 0
        for is_bug in rng.choices(verdicts, k=pool):
            if rng.random() >= unknown:
                bugs, cleared = bugs + is_bug, cleared + (not is_bug)
        found.append(exact(bugs, cleared, pool - bugs - cleared))
    name = "independent states" + (f", {unknown:.0%} unknown" if unknown else "")
    return _row(name, found, truth.rate)


def looked_at(truth: Truth, *, tests: int, pool: int, seed: int, running: bool) -> Row:
    """Tests that stop as soon as the bounds exclude the truth, which no honest bounds may allow often."""
    rng = random.Random(seed)
    bounds: Callable[[int, int, int], Interval] = functools.cache(running_bounds if running else rate_bounds)
    verdicts, found = list(truth.is_bug.values()), []
    for _ in range(tests):
        bugs = 0
        for number, is_bug in enumerate(rng.choices(verdicts, k=pool), start=1):
            bugs += is_bug
            stated = bounds(bugs, number - bugs, 0)
            if not stated.lo <= truth.rate <= stated.hi:
                break
        found.append(stated)
    name = "looked at after every state, " + (
        "running bounds" if running else "exact bounds (not made for it)"
    )
    return _row(name, found, truth.rate)


def pools(truth: Truth, *, tests: int, pool: int, seed: int) -> list[tuple[int, int, float]]:
    """Bugs, size and effective size of pools as the fuzzer makes them."""
    found = []
    for number in range(tests):
        entries = list(Fuzz(truth.graph, Refined(), NoBias(), seed=seed + number, size=pool))
        is_bug = {entry.id: truth.is_bug[entry.state] for entry in entries}
        effective = effective_size(is_bug, {entry.id: entry.parent for entry in entries})
        found.append((sum(is_bug.values()), len(is_bug), effective))
    return found


def walked(truth: Truth, *, tests: int, pool: int, seed: int) -> Iterator[Row]:
    """Tests of pools; the true rate is that of all states in twice as many other pools."""
    others = pools(truth, tests=2 * tests, pool=pool, seed=seed + tests)
    rate = sum(bugs for bugs, _, _ in others) / sum(size for _, size, _ in others)
    drawn = pools(truth, tests=tests, pool=pool, seed=seed)
    for name, is_scaled in (("pools from walks, taken as independent", False), ("pools from walks", True)):
        found = [
            rate_bounds(bugs, size - bugs, 0, effective=effective if is_scaled else None)
            for bugs, size, effective in drawn
        ]
        yield _row(name, found, rate)


def _row(name: str, found: list[Interval], rate: float) -> Row:
    held = sum(bounds.lo <= rate <= bounds.hi for bounds in found)
    return Row(name, len(found), held, sum(bounds.width for bounds in found) / len(found))


def rows(truth: Truth, *, tests: int, pool: int, seed: int = 0) -> Iterator[Row]:
    """All simulations, one after the other."""
    yield independent(truth, tests=tests, pool=pool, unknown=0.0, seed=seed)
    yield independent(truth, tests=tests, pool=pool, unknown=0.2, seed=seed)
    yield looked_at(truth, tests=tests, pool=pool, seed=seed, running=True)
    yield looked_at(truth, tests=tests, pool=pool, seed=seed, running=False)
    yield from walked(truth, tests=tests, pool=pool, seed=seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=int, default=10_000)
    parser.add_argument("--pool", type=int, default=100)
    given = parser.parse_args()
    truth = courier()
    print(f"{len(truth.is_bug)} states, of which {truth.rate:.2%} are bugs; stated with 95 % confidence:")
    for row in rows(truth, tests=given.tests, pool=given.pool):
        print(row, flush=True)


if __name__ == "__main__":
    main()
