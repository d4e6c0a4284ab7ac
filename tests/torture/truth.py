"""The whole space of a world, what is best from every state, and what a policy pays."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Set
from itertools import islice
from random import Random

from tests.torture.flat import FlatWorld
from tests.torture.world import Action, Atom, State, World

# Worlds with more actions than that many for each state that may be are left alone: most of them do nothing.
_ACTIONS_A_STATE = 20
STUCK, ILLEGAL = None, "(no-such-action)"


class TooLarge(Exception):
    """There are more states than asked for, or far more actions."""


class Truth:
    """All states that can be reached, and the exact cost of the best way to the goal from each."""

    def __init__(self, world: World | FlatWorld, *, most: int) -> None:
        self.world = world
        grounded = list(islice(world.actions(), _ACTIONS_A_STATE * most))
        if len(grounded) == _ACTIONS_A_STATE * most:
            raise TooLarge
        actions = self._possible(grounded)
        self.moves: dict[State, dict[str, tuple[State, int]]] = {}
        queue = [world.initial]
        while queue:
            state = queue.pop()
            if state in self.moves:
                continue
            if len(self.moves) >= most:
                raise TooLarge
            self.moves[state] = {a.name: (a.after(state), a.cost) for a in actions if a.applies(state)}
            queue += [after for after, _ in self.moves[state].values() if after not in self.moves]
        self.best = self._dijkstra()
        self.actions: list[Action] = actions

    def _possible(self, actions: list[Action]) -> list[Action]:
        """Without those that need what no action ever changes and what is not so at the beginning."""
        changing = frozenset[Atom]().union(*(action.adds | action.deletes for action in actions))
        first = self.world.initial
        return [
            action
            for action in actions
            if all(one.atom in changing or one.holds(first) for one in action.needs)
        ]

    def _dijkstra(self) -> dict[State, float]:
        into: defaultdict[State, list[tuple[State, int]]] = defaultdict(list)
        for state, moves in self.moves.items():
            for after, step in moves.values():
                into[after].append((state, step))
        best: dict[State, float] = dict.fromkeys(self.moves, math.inf)
        heap: list[tuple[float, int, State]] = []  # cost, a number that breaks ties, state
        for number, state in enumerate(self.moves):
            if self.world.is_goal(state):
                best[state] = 0
                heap.append((0, number, state))
        heapq.heapify(heap)
        pushed = len(self.moves)
        while heap:
            paid, _, state = heapq.heappop(heap)
            if paid > best[state]:
                continue
            for before, step in into[state]:
                if paid + step < best[before]:
                    best[before] = paid + step
                    pushed += 1
                    heapq.heappush(heap, (paid + step, pushed, before))
        return best


class Table:
    """A random policy over the actions of these names: mostly good or bad, stuck or illegal here and there."""

    def __init__(self, truth: Truth, rng: Random, known: Set[str]) -> None:
        self.truth = truth
        good, broken = rng.choice([0.2, 0.7, 0.95]), rng.choice([0.0, 0.0, 0.1])
        self.choice: dict[State, str | None] = {}
        for state, moves in truth.moves.items():
            names = sorted(moves.keys() & known)
            if rng.random() < broken or not names:
                self.choice[state] = rng.choice([STUCK, ILLEGAL])
            elif rng.random() < good:
                self.choice[state] = min(names, key=lambda n: (moves[n][1] + truth.best[moves[n][0]], n))
            else:
                self.choice[state] = rng.choice(names)

    def run(self, state: State) -> list[State]:
        """The states that the policy visits until the goal, an end without a step, or the first repetition."""
        visited, seen = [state], {state}
        while not self.truth.world.is_goal(visited[-1]):
            moves = self.truth.moves[visited[-1]]
            name = self.choice[visited[-1]]
            if name is None or name not in moves:
                break
            visited.append(moves[name][0])
            if visited[-1] in seen:
                break
            seen.add(visited[-1])
        return visited

    def cost(self, state: State) -> float:
        """What the policy pays from a state."""
        visited = self.run(state)
        if not self.truth.world.is_goal(visited[-1]):
            return math.inf
        return sum(self.truth.moves[s][self.choice[s] or ""][1] for s in visited[:-1])
