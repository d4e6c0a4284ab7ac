"""The trusted checker of safety certificates: small, slow, obvious, independent of everything else here."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

State = Hashable
Label = str | int


class Refused(Exception):  # noqa: N818
    """The certificate does not prove what it says."""


class Game(NamedTuple):
    """What a certificate speaks about. `moves` maps each applicable label to the set of its outcomes."""

    moves: Callable[[Any], Mapping[Any, Iterable[Any]]]
    is_unsafe: Callable[[Any], bool]
    is_goal: Callable[[Any], bool]


def check_strategy(
    game: Game, start: State, radius: int | None, steps: Sequence[tuple[Any, int, Any, Any]]
) -> None:
    """Accept iff `steps` of (state, value, action, policy's action) keep the start safe within the radius.

    Never leaving a set of safe states is safe (greatest fixed point). Values bound the deviations ahead, so
    they must fall by one with every deviation; with radius None deviations are free.
    """
    table = {state: (value, action, policy) for state, value, action, policy in steps}
    if len(table) != len(steps):
        raise Refused("a state has two steps")
    if start not in table:
        raise Refused("the start is not covered")
    if radius is not None and table[start][0] > radius:
        raise Refused("the start needs more deviations than the radius allows")
    for state, (value, action, policy) in table.items():
        if value < 0:
            raise Refused("a negative number of deviations")
        if game.is_unsafe(state):
            raise Refused("the strategy meets an unsafe state")
        if game.is_goal(state):
            continue
        moves = game.moves(state)
        if not moves:
            continue
        if action not in moves:
            raise Refused(f"action {action!r} is not applicable")
        cost = int(radius is not None and action != policy)
        for outcome in moves[action]:
            if outcome not in table:
                raise Refused(f"an outcome of {action!r} is not covered")
            if table[outcome][0] + cost > value:
                raise Refused("an outcome needs more deviations than are left")


def check_refutation(
    game: Game, start: State, radius: int | None, steps: Sequence[tuple[Any, int, Any, Mapping[Any, Any]]]
) -> None:
    """Accept iff `steps` of (state, budget, policy's action, {action: outcome}) prove the start not r-safe.

    Each step says: with this budget every affordable action has an outcome that is unsafe or refuted by an
    earlier step. The order makes it well-founded (least fixed point).
    """
    refuted: dict[State, int] = {}
    policies: dict[State, Any] = {}
    for state, budget, policy, answers in steps:
        if policies.setdefault(state, policy) != policy:
            raise Refused("the policy has two actions in one state")
        moves = game.moves(state)
        if game.is_goal(state) or not moves:
            raise Refused("a goal or a state without actions is safe")
        for action, outcomes in moves.items():
            left = budget - int(radius is not None and action != policy)
            if left < 0:
                continue
            outcome = answers.get(action)
            if outcome not in set(outcomes):
                raise Refused(f"no outcome of {action!r} is named")
            if not game.is_unsafe(outcome) and refuted.get(outcome, -1) < left:
                raise Refused(f"the outcome named for {action!r} is not refuted")
        refuted[state] = max(budget, refuted.get(state, -1))
    if not game.is_unsafe(start) and refuted.get(start, -1) < (radius or 0):
        raise Refused("the start is not refuted")
