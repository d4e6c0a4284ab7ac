"""The score by which policies are compared on validation tasks (Eisenhut et al. 2025), and how sure it is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from misstep.statistics import sign_test

Counts: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Exam:
    """How one policy did on one validation task and on the states of its pool."""

    task: str
    initial: float | None
    """What the run from the initial state costs, None where it does not reach the goal."""
    costs: tuple[float | None, ...] = ()
    """The same by pool state. Empty where the initial state is not solved: the pool is not looked at then."""
    bugs: tuple[bool, ...] = ()
    """By pool state: whether the oracle proved it to be a bug."""
    cleared: tuple[bool, ...] = ()
    """By pool state: whether it is proven to be no bug. Empty in the answers of older versions of misstep."""
    pool_solved: int | None = None
    """From how many pool states the goal is reached although the initial state is not solved; None where that was
    not looked at. It tells models apart none of which solves a task; see `order_at_zero`."""


@dataclass(frozen=True, slots=True)
class Grade:
    """What all exams of a policy add up to."""

    solved_tasks: int
    states: int
    """Pool states that count: those that were tested, and all of a task whose initial state is not solved."""
    solved_states: int
    bug_free_states: int


def known_best(exams: Sequence[Sequence[Exam]]) -> list[list[float]]:
    """By task and pool state the least cost of any of the policies; a policy that pays more has a bug there."""
    best: list[list[float]] = []
    for task in zip(*exams, strict=True):
        known: list[float] = []
        for exam in task:
            known += [float("inf")] * (len(exam.costs) - len(known))
            for at, cost in enumerate(exam.costs):
                known[at] = min(known[at], float("inf") if cost is None else cost)
        best.append(known)
    return best


def tabulate(exams: Sequence[Sequence[Exam]], pools: Sequence[int]) -> Counts:
    """By policy and task: solved (0 or 1), states that count, solved states, states without a bug.

    A task whose initial state is not solved counts as if no pool state was solved and all were bugs. A state is
    a bug where the oracle says so, or where another of the policies pays less.
    """
    best = known_best(exams)
    table = np.zeros((len(exams), len(pools), 4))
    for row, of_policy in enumerate(exams):
        for at, exam in enumerate(of_policy):
            if exam.initial is None:
                table[row, at] = (0, pools[at], 0, 0)
                continue
            solved = sum(cost is not None for cost in exam.costs)
            clean = sum(
                not bug and (least == float("inf") or (cost is not None and cost <= least))
                for bug, cost, least in zip(exam.bugs, exam.costs, best[at], strict=False)
            )
            table[row, at] = (1, len(exam.costs), solved, clean)
    return table


def order_at_zero(states_solved: float, loss: float | None, epoch: int | None) -> tuple[float, float, float]:
    """How models are ranked that solve no validation task, all of which have the score 0; greater is better.

    First how many other states they solve (pool states; while training, the initial states of the training tasks),
    then the smaller loss, then the later epoch. A loss that is unknown or no number counts as infinite.
    """
    known = loss if loss is not None and not math.isnan(loss) else math.inf
    return (states_solved, -known, -1 if epoch is None else epoch)


def grades(table: Counts) -> list[Grade]:
    """The sums over tasks."""
    return [Grade(*(int(each) for each in row)) for row in table.sum(axis=1)]


def scores(sums: Counts) -> Counts:
    """The mean of three parts, each relative to the best policy: solved tasks, solved states, clean states.

    `sums` has (solved tasks, states, solved states, clean states) in its last axis and policies in the one
    before. A part in which no policy has anything is 0 for all.
    """
    states = np.maximum(sums[..., 1], 1)
    parts = np.stack([sums[..., 0], sums[..., 2] / states, sums[..., 3] / states], axis=-1)
    most = parts.max(axis=-2, keepdims=True)
    relative: Counts = np.divide(parts, most, out=np.zeros_like(parts), where=most > 0)
    mean: Counts = relative.mean(axis=-1)
    return mean


def chances(table: Counts, *, seed: int, samples: int = 2000) -> Counts:
    """How often each policy is first when the validation tasks are drawn anew, with replacement (bootstrap).

    The same draw is used for all policies. Policies that share the first place share the draw.
    """
    policies, tasks, _ = table.shape
    if samples == 0:
        return np.zeros(policies)
    rng = np.random.default_rng(seed)
    draws = rng.multinomial(tasks, np.full(tasks, 1 / tasks), size=samples)
    sums = np.einsum("bt,ptc->bpc", draws, table)
    drawn = scores(sums)
    first = drawn >= drawn.max(axis=1, keepdims=True) - 1e-12
    shares: Counts = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two policies task by task, with the exact sign test: how likely such a split is between equals."""

    better: int
    worse: int
    equal: int
    p_value: float


def compare(table: Counts, first: int, second: int) -> Comparison:
    """Compares by task the sum of solved (0 or 1), share of solved states and share of clean states."""
    states = np.maximum(table[..., 1], 1)
    points = table[..., 0] + (table[..., 2] + table[..., 3]) / states
    difference = points[first] - points[second]
    better, worse = int((difference > 1e-9).sum()), int((difference < -1e-9).sum())
    return Comparison(better, worse, table.shape[1] - better - worse, sign_test(better, worse))
