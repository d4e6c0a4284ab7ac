"""Abstractions: the distances of small pictures of a task, replayed step by step and checked."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from misstep.reference.bits import BitTask
from misstep.reference.checked import need

UNREACHABLE, DEAD = -1, -2
Moves = frozenset[tuple[int, int]]


@dataclass
class Factor:
    """A picture of the task: abstract states, and for each label the moves between them that it allows."""

    size: int
    goals: set[int]
    moves: dict[int, Moves]
    """By kind of label."""
    kind: dict[int, int] = field(default_factory=dict)
    """Of each label that may change something here; all others leave every abstract state as it is."""


def abstraction(task: BitTask, written: Mapping[str, Any]) -> Callable[[int], float]:
    """The largest distance to a goal in the factors that are left at the end; infinity for dead states.

    In the beginning every variable is a factor and every action a label. Then factors are merged in pairs,
    and their states are joined or dropped by tables. What is checked at each step is written at `_Replay`. It
    follows, for every state that no table calls unreachable: if it has a plan, no table calls it dead, and
    the steps of the plan are moves of all factors that are left. In each of them a move changes the distance
    by no more than its cost.
    """
    replay = _Replay(task)
    for step in written["steps"]:
        if step["partner"] is None:
            replay.map_states(step["factor"], step["table"])
        else:
            replay.merge(step["factor"], step["partner"], step["table"])
    distances = dict(written["distances"])
    for number, table in distances.items():
        replay.check_distances(number, table)
    steps = [(step["factor"], step["partner"], step["table"]) for step in written["steps"]]
    return _Lookup(task, steps, distances, replay.sizes).value


class _Lookup:
    """From states to abstract states, along the steps."""

    def __init__(
        self,
        task: BitTask,
        steps: Sequence[tuple[int, int | None, list[int]]],
        distances: Mapping[int, list[int]],
        sizes: Sequence[int],
    ) -> None:
        self.variables = [(task.values_of(v), start) for v, start in enumerate(task.first[:-1])]
        self.steps, self.distances, self.sizes = steps, distances, sizes

    def value(self, state: int) -> float:
        """0 where a table says that the state is unreachable: nothing is known about it."""
        at = [(state & values).bit_length() - 1 - start for values, start in self.variables]
        is_dead = False
        for place, (factor, partner, table) in enumerate(self.steps):
            left = at[factor]
            if partner is None:
                at[factor] = new = table[left] if left >= 0 else left
            else:
                right = at[partner]
                new = table[left * self.sizes[place] + right] if left >= 0 and right >= 0 else DEAD
                at.append(new)
            if new == UNREACHABLE:
                return 0.0
            is_dead |= new == DEAD
        if is_dead:
            return math.inf
        return float(max((table[at[factor]] for factor, table in self.distances.items()), default=0))


class _Replay:
    """The factors and the labels that plans may still need, after some of the steps.

    What holds after every step, for each state that no table so far calls unreachable: if the state has a
    plan, no table calls a state on the way of the plan unreachable or dead, and each of its actions belongs
    to a label that is left, one that costs no more and allows the move in every factor.
    """

    def __init__(self, task: BitTask) -> None:
        self.cost = {number: action.cost for number, action in enumerate(task.actions)}
        self.factors: dict[int, Factor] = {}
        self.sizes: list[int] = []
        """For each step, the size of the partner at that time."""
        for variable in range(len(task.task.facts)):
            self.factors[variable] = _variable(task, variable)
        self.next = len(self.factors)
        for number in self.factors:
            self._drop_labels(number)

    def map_states(self, number: int, table: Sequence[int]) -> None:
        """States of a factor become others, or are dropped.

        Plans lead neither from states that are kept to unreachable ones, nor from dead ones to anywhere else.
        Labels without moves of their own stay where they are, so there is nothing to look at.
        """
        old = self.factors[number]
        size = _checked_size(table, old.size)
        _check_goals(table, old.goals)
        moves = {kind: _mapped(table, old.moves[kind]) for kind in set(old.kind.values())}
        goals = {table[goal] for goal in old.goals if table[goal] >= 0}
        self.factors[number] = Factor(size, goals, moves, dict(old.kind))
        self.sizes.append(0)
        self._group(number)
        self._drop_labels(number)

    def merge(self, first: int, second: int, table: Sequence[int]) -> None:
        """The product of two factors takes their place; its states are joined or dropped as above."""
        a, b = self.factors.pop(first), self.factors.pop(second)
        size = _checked_size(table, a.size * b.size)
        width = b.size
        all_goals = [x * width + y for x in a.goals for y in b.goals]
        _check_goals(table, all_goals)
        stay_a, stay_b = _loops(a.size), _loops(b.size)
        kinds: dict[tuple[int | None, int | None], int] = {}
        kind, moves = {}, {}
        for label in a.kind.keys() | b.kind.keys():
            pair = (a.kind.get(label), b.kind.get(label))
            if pair not in kinds:
                kinds[pair] = len(kinds)
                of_a = stay_a if pair[0] is None else a.moves[pair[0]]
                of_b = stay_b if pair[1] is None else b.moves[pair[1]]
                product = ((x * width + y, u * width + v) for x, u in of_a for y, v in of_b)
                moves[kinds[pair]] = _mapped(table, product)
            kind[label] = kinds[pair]
        goals = {table[goal] for goal in all_goals if table[goal] >= 0}
        self.factors[self.next] = Factor(size, goals, moves, kind)
        self.next += 1
        self.sizes.append(width)
        self._group(self.next - 1)
        self._drop_labels(self.next - 1)

    def check_distances(self, number: int, table: Sequence[int]) -> None:
        """Goal states have 0, and no move costs less than it brings a state nearer."""
        factor = self.factors[number]
        need(len(table) == factor.size, "not every abstract state has a distance")
        need(all(type(distance) is int for distance in table), "a distance is no whole number")
        need(all(table[goal] <= 0 for goal in factor.goals), "a goal state has a distance")
        cheapest: dict[int, int] = {}
        for label, kind in factor.kind.items():
            cheapest[kind] = min(cheapest.get(kind, self.cost[label]), self.cost[label])
        for kind, cost in cheapest.items():
            for before, after in factor.moves[kind]:
                need(table[before] <= cost + table[after], "a distance is larger than a move and the rest")

    def _drop_labels(self, number: int) -> None:
        """Labels without a move in a factor are of no use to plans, wherever else they have some."""
        factor = self.factors[number]
        useless = [label for label, kind in factor.kind.items() if not factor.moves[kind]]
        for label in useless:
            del self.cost[label]
            for other in self.factors.values():
                other.kind.pop(label, None)

    def _group(self, number: int) -> None:
        """Labels with the same moves become of one kind; those that change nothing lose theirs.

        Then a label goes where another one is left that costs no more and has the same moves in every factor.
        """
        factor = self.factors[number]
        stay = _loops(factor.size)
        first_with: dict[Moves, int] = {}
        same = {kind: first_with.setdefault(moves, kind) for kind, moves in factor.moves.items()}
        factor.kind = {label: same[kind] for label, kind in factor.kind.items()}
        factor.kind = {label: kind for label, kind in factor.kind.items() if factor.moves[kind] != stay}
        factor.moves = {kind: factor.moves[kind] for kind in set(factor.kind.values())}
        seen: set[tuple[tuple[int, int], ...]] = set()
        for label in sorted(factor.kind, key=self.cost.__getitem__):
            looks = tuple((n, f.kind[label]) for n, f in self.factors.items() if label in f.kind)
            if looks in seen:
                del self.cost[label]
                for other in self.factors.values():
                    other.kind.pop(label, None)
            seen.add(looks)


def _variable(task: BitTask, variable: int) -> Factor:
    """The factor of a variable: its values, and what actions that mention it do with them."""
    size = task.first[variable + 1] - task.first[variable]
    values, start = task.values_of(variable), task.first[variable]
    goal = (task.goal & values) >> start
    goals = {value for value in range(size) if goal in (0, 1 << value)}
    factor = Factor(size, goals, {})
    known: dict[Moves, int] = {}
    for number, action in enumerate(task.actions):
        needs, adds = (action.needs & values) >> start, (action.adds & values) >> start
        if not needs and not adds:
            continue
        sources = [value for value in range(size) if needs in (0, 1 << value)]
        moves = frozenset((value, adds.bit_length() - 1 if adds else value) for value in sources)
        factor.kind[number] = known.setdefault(moves, len(known))
    factor.moves = {kind: moves for moves, kind in known.items()}
    return factor


def _loops(size: int) -> Moves:
    return frozenset((state, state) for state in range(size))


def _checked_size(table: Sequence[int], size: int) -> int:
    """The number of new states."""
    need(len(table) == size and all(type(new) is int for new in table), "a table does not fit its factor")
    # There are never more new states than old ones: else a number in a file could fill the memory.
    need(all(DEAD <= new < size for new in table), "a table has a state that there cannot be")
    return max([-1, *table]) + 1


def _check_goals(table: Sequence[int], goals: Iterable[int]) -> None:
    need(all(table[goal] != DEAD for goal in goals), "a goal state is called dead")


def _mapped(table: Sequence[int], moves: Iterable[tuple[int, int]]) -> Moves:
    """Moves between the new states; those from or to dropped ones are left out, after a look at them."""
    kept = set()
    for before, after in moves:
        source, target = table[before], table[after]
        if source >= 0:
            need(target != UNREACHABLE, "a state that is called unreachable can be reached")
            if target >= 0:
                kept.add((source, target))
        elif source == DEAD:
            need(target == DEAD, "a state that is called dead has a way out")
    return frozenset(kept)
