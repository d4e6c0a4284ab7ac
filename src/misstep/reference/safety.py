"""The trusted checker of safety certificates: small, slow, obvious, independent of everything else here."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from misstep.reference.jani import Jani

State = Hashable
Label = str | int


class Refused(Exception):
    """The certificate does not prove what it says."""


class Game(NamedTuple):
    """What a certificate speaks about. `moves` maps each applicable label to the set of its outcomes."""

    moves: Callable[[Any], Mapping[Any, Iterable[Any]]]
    is_unsafe: Callable[[Any], bool]
    is_goal: Callable[[Any], bool]


def check_strategy(
    game: Game, starts: Iterable[State], radius: int | None, steps: Sequence[tuple[Any, int, Any, Any]]
) -> None:
    """Accept iff `steps` of (state, value, action, policy's action) keep all starts safe within the radius.

    Never leaving a set of safe states is safe (greatest fixed point). Values bound the deviations ahead, so
    they must fall by one with every deviation; with radius None deviations are free.
    """
    table = {state: (value, action, policy) for state, value, action, policy in steps}
    if len(table) != len(steps):
        raise Refused("a state has two steps")
    for start in starts:
        if start not in table:
            raise Refused("a state that should be safe is not covered")
        if radius is not None and table[start][0] > radius:
            raise Refused("a state needs more deviations than the radius allows")
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
    game: Game,
    starts: Iterable[State],
    radius: int | None,
    steps: Sequence[tuple[Any, int, Any, Mapping[Any, Any]]],
) -> None:
    """Accept iff `steps` of (state, budget, policy's action, {action: outcome}) prove no start to be r-safe.

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
    for start in starts:
        if not game.is_unsafe(start) and refuted.get(start, -1) < (radius or 0):
            raise Refused("a state that should not be safe is not refuted")


def check_trace(game: Game, trace: Sequence[tuple[Any, Any]]) -> None:
    """Accept iff `trace` of (state, policy's action) is a run that ends in an unsafe state."""
    for (state, action), (following, _) in pairwise(trace):
        if game.is_unsafe(state) or game.is_goal(state):
            raise Refused("the run goes on after its end")
        if following not in game.moves(state).get(action, ()):
            raise Refused(f"the run does not follow an outcome of {action!r}")
    if not trace or not game.is_unsafe(trace[-1][0]):
        raise Refused("the run does not end in an unsafe state")


def check_certificate(certificate: Mapping[str, Any], model: Mapping[str, Any]) -> None:
    """Check one certificate, as misstep writes it, against the JSON of its model."""
    try:
        _check(certificate, Jani(model, certificate["constants"]))
    except Refused:
        raise
    except Exception as error:  # whatever garbage does to us, it proves nothing
        raise Refused(f"the certificate cannot be read: {type(error).__name__}: {error}") from None


def _check(certificate: Mapping[str, Any], jani: Jani) -> None:
    horizon, radius, unsafe = certificate["horizon"], certificate["radius"], certificate["unsafe"]
    goal = False if certificate["goal"] is None else certificate["goal"]
    keys = [(tuple(sorted(s["values"].items())), s["step"]) for s in certificate["states"]]

    def moves(s: Any) -> dict[str, set[Any]]:  # with a horizon a state is a pair of values and step
        step = 0 if horizon is None else s[1] + 1
        return {label: {(t, step) for t in outcomes} for label, outcomes in jani.moves(s[0]).items()}

    def is_goal(s: Any) -> bool:
        return not is_unsafe(s) and (jani.holds(goal, s[0]) or (horizon is not None and s[1] >= horizon))

    def is_unsafe(s: Any) -> bool:
        return jani.holds(unsafe, s[0])

    game = Game(cache(moves), cache(is_unsafe), cache(is_goal))
    policy = {keys[i]: action for i, action in certificate["policy"]}
    strategy = [(keys[i], value, action, policy.get(keys[i])) for i, value, action in certificate["strategy"]]
    lines = [
        (keys[i], budget, policy.get(keys[i]), {action: keys[t] for action, t in answers})
        for i, budget, answers in certificate["refutation"]
    ]
    faults = [
        (keys[f["state"]], f["action"], keys[f["outcome"]], f["alternative"]) for f in certificate["faults"]
    ]
    table = {state: action for state, _, action, _ in strategy}
    for state, action, outcome, alternative in faults:
        if policy.get(state) != action or outcome not in moves(state).get(action, ()):
            raise Refused("a fault is not an outcome of the policy's action")
        if state not in table or table[state] != alternative:
            raise Refused("a fault has no safe alternative")
    check_strategy(game, [*(keys[i] for i in certificate["safe"]), *(f[0] for f in faults)], radius, strategy)
    check_refutation(
        game, [*(keys[i] for i in certificate["not_safe"]), *(f[2] for f in faults)], radius, lines
    )
    if certificate["trace"]:
        trace = [keys[i] for i in certificate["trace"]]
        check_trace(game, [(state, policy.get(state)) for state in trace])
        if not {keys[i] for i in certificate["safe"]} <= set(trace):
            raise Refused("a bug is not on the run")
