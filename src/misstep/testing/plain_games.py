"""Games solved by their definition: all states in tables, values by sweeps over everything until none changes.

Slow, short and independent of the native core: what deciders, bugs, faults and minimal radii are compared
with.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Outcomes = Callable[[Any], Sequence[tuple[str, Iterable[Any]]]]
"""The labels that are applicable in a state, each with what may follow."""


@dataclass(slots=True)
class PlainGame:
    """All states that somebody can reach. Unsafe states and goals have no moves."""

    states: list[Any] = field(default_factory=list)
    number: dict[Hashable, int] = field(default_factory=dict)
    moves: list[list[tuple[str, list[int]]]] = field(default_factory=list)
    unsafe: list[bool] = field(default_factory=list)

    @classmethod
    def explore(
        cls,
        starts: Iterable[Any],
        outcomes: Outcomes,
        *,
        is_unsafe: Callable[[Any], bool],
        is_goal: Callable[[Any], bool],
        max_states: int,
    ) -> "PlainGame | None":
        """The game from these states on; None where it has more states than that."""
        game = cls()
        for start in starts:
            game._add(start)
        for s in range(max_states + 1):
            if s == len(game.states):
                return game
            state = game.states[s]
            game.unsafe.append(is_unsafe(state))
            ends = game.unsafe[s] or is_goal(state)
            found = [] if ends else outcomes(state)
            game.moves.append([(label, [game._add(t) for t in after]) for label, after in found])
        return None

    def _add(self, state: Any) -> int:
        if state not in self.number:
            self.number[state] = len(self.states)
            self.states.append(state)
        return self.number[state]

    def needed(self, policy: Sequence[str | None] | None, *, cap: int) -> Ints:
        """The deviations from a policy that safety needs in each state; `cap` where that many do not do.

        Without a policy nothing is counted: 0 is safe, and `cap` lost. Values grow from 0 to the least ones
        for which every state has a move that costs no more than the state's value allows.
        """
        rows = [(s, label, after) for s, moves in enumerate(self.moves) for label, after in moves]
        value: Ints = np.where(np.array(self.unsafe, np.bool_), cap, 0).astype(np.int64)
        if not rows:
            return value
        owner = np.array([s for s, _, _ in rows])
        cost = np.array([int(policy is not None and policy[s] != label) for s, label, _ in rows])
        after = np.array([t for _, _, outcomes in rows for t in outcomes])
        first_outcome = np.cumsum([0, *(len(outcomes) for _, _, outcomes in rows[:-1])])
        first_move = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
        movers = owner[first_move]
        while True:
            worst = np.maximum.reduceat(value[after], first_outcome) + cost
            new = np.minimum(np.minimum.reduceat(worst, first_move), cap)
            if (new == value[movers]).all():
                return value
            value[movers] = new

    def can_fail(self, policy: Sequence[str | None]) -> NDArray[np.bool_]:
        """From which states the policy can get to an unsafe one."""
        before: list[list[int]] = [[] for _ in self.states]
        for s, moves in enumerate(self.moves):
            for label, after in moves:
                if label == policy[s]:
                    for t in after:
                        before[t].append(s)
        found = np.array(self.unsafe, np.bool_)
        left = [int(s) for s in np.flatnonzero(found)]
        while left:
            for s in before[left.pop()]:
                if not found[s]:
                    found[s] = True
                    left.append(s)
        return found
