"""The refined fuzzer and the biases straight from the paper: one run after another, nothing remembered."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from misstep.reference import fdr
from misstep.testing import exhaustive
from tests.property.cases import Case
from tests.property.check_policy_graph import RandomPolicy, simulate

_MASK = 2**64 - 1
Distance = Callable[[fdr.State, fdr.State], float]


class SplitMix:
    """The generator that the native code documents (Steele, Lea, Flood 2014)."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & _MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        threshold = (2**64 - bound) % bound
        while True:
            product = self.next() * bound
            if product & _MASK >= threshold:
                return product >> 64

    def uniform(self) -> float:
        return (self.next() >> 11) * 2.0**-53


def select(weights: Sequence[float], rng: SplitMix) -> int | None:
    """`weightedSelect` of the paper."""
    finite = [w for w in weights if w > -math.inf]
    if not finite:
        return None
    if math.inf in finite:
        shares = [1.0 if w == math.inf else 0.0 for w in weights]
    else:
        least = min(finite)
        shares = [0.0 if w == -math.inf else w - min(least, 0.0) for w in weights]
        if sum(shares) == 0:
            shares = [0.0 if w == -math.inf else 1.0 for w in weights]
    at = rng.uniform() * sum(shares)
    for index, share in enumerate(shares):
        if share > 0 and at < share:
            return index
        at -= share
    return max(index for index, share in enumerate(shares) if share > 0)


def star_distance(case: Case) -> Distance:
    """Exact costs between states, by the h* of the task with the target as goal."""
    known: dict[fdr.State, dict[fdr.State, float]] = {}

    def distance(source: fdr.State, target: fdr.State) -> float:
        if target not in known:
            goal = dict(enumerate(target))
            task = fdr.Task(case.reference.facts, case.reference.initial, goal, case.reference.actions)
            known[target] = exhaustive.exact_costs(task, case.depths)
        return known[target][source]

    return distance


def bias(
    name: str,
    states: Sequence[fdr.State],
    costs: Sequence[int],
    between: Distance,
    to_goal: Callable[[fdr.State], float],
) -> float:
    """The definitions of the paper, with the maximum over all pairs."""
    at = [sum(costs[:i]) for i in range(len(states))]
    pairs = [(i, j) for j in range(len(states)) for i in range(j)]
    if name == "plan-length":
        return at[-1]
    if name == "loopiness":
        return max(at[j] - at[i] - between(states[j], states[i]) for i, j in pairs)
    if name == "detour":
        return max(at[j] - at[i] - between(states[i], states[j]) for i, j in pairs)
    if to_goal(states[0]) == math.inf:
        return -math.inf
    if any(to_goal(state) == math.inf for state in states):
        return math.inf
    return max(at[j] - at[i] - (to_goal(states[i]) - to_goal(states[j])) for i, j in pairs)


def fuzz(
    case: Case,
    policy: RandomPolicy,
    value: Callable[[Sequence[fdr.State], Sequence[int]], float] | None,
    *,
    seed: int,
    size: int,
    walk: int,
    state_budget: int,
    expansion_budget: int,
    max_walks: int,
) -> list[fdr.State]:
    """Algorithm 1 (refined)."""
    task, rng = case.reference, SplitMix(seed)
    pool = [task.initial]
    for _ in range(max_walks):
        if len(pool) >= size:
            break
        length = 1 + rng.below(walk)
        state = pool[rng.below(len(pool))]
        for _ in range(length):
            numbers = [n for n, action in enumerate(task.actions) if action.applicable(state)]
            for i in range(len(numbers), 1, -1):
                k = rng.below(i)
                numbers[i - 1], numbers[k] = numbers[k], numbers[i - 1]
            successors = [task.actions[number].apply(state) for number in numbers]
            found = [s for s in successors if is_candidate(task, s)]
            if value is None:
                if not found:
                    break
                state = found[0]
                continue
            weights, left = [], expansion_budget
            for s in found:
                if left <= 0:
                    break
                outcome, steps, _ = simulate(case, policy, s, min(left, state_budget))
                left -= steps
                if outcome not in ("solved", "cut-off", "failed"):
                    weights.append(math.inf)
                elif steps == 0:  # no decision at the start: nothing to weigh
                    weights.append(0.0)
                else:
                    weights.append(value(*trace(case, policy, s, steps)))
            chosen = select(weights, rng)
            if chosen is None:
                break
            state = found[chosen]
        else:
            if state not in pool:
                pool.append(state)
    return pool


def is_candidate(task: fdr.Task, state: fdr.State) -> bool:
    return (
        not task.is_goal(state) and exhaustive.hmax(task, state) < math.inf and bool(task.successors(state))
    )


def trace(
    case: Case, policy: RandomPolicy, start: fdr.State, steps: int
) -> tuple[list[fdr.State], list[int]]:
    states, costs = [start], []
    for _ in range(steps):
        number = policy.answer(states[-1])
        assert number is not None
        action = case.reference.actions[number]
        states.append(action.apply(states[-1]))
        costs.append(action.cost)
    return states, costs
