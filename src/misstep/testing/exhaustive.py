"""Exact answers about small tasks by brute force: what the native core is measured against."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from misstep.reference.fdr import Action, Facts, State, Task

Fact = tuple[int, int]


def depths(
    task: Task, state: State, *, max_depth: float = math.inf, limit: float = math.inf
) -> dict[State, int]:
    """Every state that can be reached, in breadth-first order, with its distance in steps.

    OverflowError where there are more than `limit` states.
    """
    found = {state: 0}
    layer = [state]
    depth = 0
    while layer and depth < max_depth:
        depth += 1
        following = []
        for current in layer:
            for _, successor in task.successors(current):
                if successor not in found:
                    found[successor] = depth
                    following.append(successor)
        if len(found) > limit:
            raise OverflowError(f"more than {limit} states")
        layer = following
    return found


def atoms(task: Task, state: State) -> frozenset[str]:
    """The positive atoms that hold."""
    names = (task.facts[variable][value] for variable, value in enumerate(state))
    return frozenset(name for name in names if name is not None and not name.startswith("(not "))


def count_states(task: Task, state: State, max_depth: int) -> list[int]:
    """The number of distinct states first reached at depth 0, 1, ...; ends where there are no more."""
    counts = [0] * (max_depth + 1)
    for depth in depths(task, state, max_depth=max_depth).values():
        counts[depth] += 1
    while counts[-1] == 0:
        counts.pop()
    return counts


def exact_costs(task: Task, states: Iterable[State]) -> dict[State, float]:
    """h* of a set of states that is closed under successors: Dijkstra backwards from all goal states."""
    costs = dict.fromkeys(states, math.inf)
    predecessors: dict[State, list[tuple[int, State]]] = {state: [] for state in costs}
    for state in costs:
        for action, successor in task.successors(state):
            predecessors[successor].append((action.cost, state))
    queue: list[tuple[float, State]] = [(0, state) for state in costs if task.is_goal(state)]
    while queue:
        cost, state = heapq.heappop(queue)
        if cost < costs[state]:
            costs[state] = cost
            for step, predecessor in predecessors[state]:
                heapq.heappush(queue, (cost + step, predecessor))
    return costs


def relaxed_costs(
    task: Task, state: State, combine: Callable[[Iterable[float]], float], goal: Facts | None = None
) -> float:
    """The least fixed point of the relaxed cost equations: `combine` is max for h^max, sum for h^add."""
    cost: dict[Fact, float] = dict.fromkeys(enumerate(state), 0)

    def of(facts: Facts) -> float:
        return combine([0, *(cost.get(fact, math.inf) for fact in facts.items())])

    changed = True
    while changed:
        changed = False
        for action in task.actions:
            value = of(action.precondition) + action.cost
            for fact in action.effect.items():
                if value < cost.get(fact, math.inf):
                    cost[fact] = value
                    changed = True
    return of(task.goal if goal is None else goal)


def hmax(task: Task, state: State, *, goal: Facts | None = None) -> float:
    """h^max of a state, by default to the task's goal."""
    return relaxed_costs(task, state, max, goal)


def hadd(task: Task, state: State, *, goal: Facts | None = None) -> float:
    """h^add of a state, by default to the task's goal."""
    return relaxed_costs(task, state, sum, goal)


def is_relaxed_plan(actions: Iterable[Action], state: State, goal: Facts) -> bool:
    """Whether the actions, each used in some order, make the goal true if nothing is ever deleted.

    An action of the set that can never be used makes the answer False.
    """
    reached: set[Fact] = set(enumerate(state))
    waiting = list(actions)
    while usable := [action for action in waiting if action.precondition.items() <= reached]:
        for action in usable:
            reached |= action.effect.items()
        waiting = [action for action in waiting if action not in usable]
    return not waiting and goal.items() <= reached


@dataclass(frozen=True)
class Reachable:
    """What the h^2 fixed point reaches: pairs of facts (a fact with itself included) and actions by index."""

    pairs: frozenset[frozenset[Fact]]
    actions: tuple[bool, ...]

    def fact(self, variable: int, value: int) -> bool:
        """Whether the single fact is reached."""
        return frozenset([(variable, value)]) in self.pairs


def h2(task: Task) -> Reachable:
    """Forward h^2 (Haslum and Geffner 2000) as a set of pairs that grows until nothing changes."""
    pairs = {frozenset(pair) for pair in itertools.product(enumerate(task.initial), repeat=2)}

    def reached(conjunction: Iterable[Fact]) -> bool:
        return all(frozenset(pair) in pairs for pair in itertools.product(conjunction, repeat=2))

    size = 0
    while size != len(pairs):
        size = len(pairs)
        for action in task.actions:
            condition = set(action.precondition.items())
            if not reached(condition):
                continue
            effect = set(action.effect.items())
            facts = [fact for pair in pairs if len(pair) == 1 for fact in pair]
            kept = [f for f in facts if f[0] not in action.effect and reached({f, *condition})]
            pairs |= {frozenset(pair) for pair in itertools.product(effect, effect)}
            pairs |= {frozenset(pair) for pair in itertools.product(effect, kept)}
    used = tuple(reached(action.precondition.items()) for action in task.actions)
    return Reachable(frozenset(pairs), used)
