"""The trusted checker of safety certificates: small, slow, obvious, independent of everything else here."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from misstep.reference.fdr import Refused as Refused
from misstep.reference.fdr import need
from misstep.reference.jani import Jani

Steps = Sequence[tuple[Any, int, Any, Any]]


class Game(NamedTuple):
    """What a certificate speaks about. `moves` maps each applicable label to the set of its outcomes."""

    moves: Callable[[Any], Mapping[Any, Iterable[Any]]]
    is_unsafe: Callable[[Any], bool]
    is_goal: Callable[[Any], bool]


def check_strategy(game: Game, starts: Iterable[Any], radius: int | None, steps: Steps) -> None:
    """Accept iff `steps` of (state, value, action, policy's action) keep all starts safe within the radius.

    Never leaving a set of safe states is safe (greatest fixed point). Values bound the deviations ahead, so
    they must fall by one with every deviation; with radius None deviations are free.
    """
    table = {state: (value, action, policy) for state, value, action, policy in steps}
    need(len(table) == len(steps), "a state has two steps")
    for start in starts:
        need(start in table, "a state that should be safe is not covered")
        need(radius is None or table[start][0] <= radius, "a state needs more deviations than allowed")
    for state, (value, action, policy) in table.items():
        need(value >= 0, "a negative number of deviations")
        need(not game.is_unsafe(state), "the strategy meets an unsafe state")
        moves = {} if game.is_goal(state) else game.moves(state)
        need(not moves or action in moves, f"action {action!r} is not applicable")
        cost = int(radius is not None and action != policy)
        for outcome in moves[action] if moves else ():
            need(outcome in table, f"an outcome of {action!r} is not covered")
            need(table[outcome][0] + cost <= value, "an outcome needs more deviations than are left")


def check_refutation(game: Game, starts: Iterable[Any], radius: int | None, steps: Steps) -> None:
    """Accept iff `steps` of (state, budget, policy's action, {action: outcome}) prove no start to be r-safe.

    Each step says: with this budget every affordable action has an outcome that is unsafe or refuted by an
    earlier step. The order makes it well-founded (least fixed point).
    """
    refuted, policies = dict[Any, int](), dict[Any, Any]()
    for state, budget, policy, answers in steps:
        need(policies.setdefault(state, policy) == policy, "the policy has two actions in one state")
        moves = game.moves(state)
        need(bool(moves) and not game.is_goal(state), "a goal or a state without actions is safe")
        for action, outcomes in moves.items():
            left = budget - int(radius is not None and action != policy)
            if left >= 0:
                outcome = answers.get(action)
                need(outcome in set(outcomes), f"no outcome of {action!r} is named")
                lost = game.is_unsafe(outcome) or refuted.get(outcome, -1) >= left
                need(lost, f"the outcome named for {action!r} is not refuted")
        refuted[state] = max(budget, refuted.get(state, -1))
    for start in starts:
        lost = game.is_unsafe(start) or refuted.get(start, -1) >= (radius or 0)
        need(lost, "a state that should not be safe is not refuted")


def check_certificate(certificate: Mapping[str, Any], model: Mapping[str, Any]) -> None:
    """Check one certificate, as misstep writes it, against the JSON of its model."""
    try:
        _check(certificate, Jani(model, certificate["constants"], certificate["semantics"]))
    except Refused:
        raise
    except Exception as error:  # whatever garbage does to us, it proves nothing
        raise Refused(f"the certificate cannot be read: {type(error).__name__}: {error}") from None


def _check(certificate: Mapping[str, Any], jani: Jani) -> None:
    horizon, radius, unsafe = certificate["horizon"], certificate["radius"], certificate["unsafe"]
    goal, timed = certificate["goal"] or False, horizon is not None
    states = [(tuple(sorted(s["values"].items())), s["step"]) for s in certificate["states"]]
    need(all(jani.is_state(values) for values, _ in states), "a state is not one of the model")
    policy = {states[i]: action for i, action in certificate["policy"]}
    is_unsafe = cache(lambda s: jani.holds(unsafe, s[0]))
    is_goal = cache(lambda s: not is_unsafe(s) and (jani.holds(goal, s[0]) or (timed and s[1] >= horizon)))
    moves = cache(lambda s: {a: {(t, s[1] + timed) for t in ts} for a, ts in jani.moves(s[0]).items()})
    game = Game(moves, is_unsafe, is_goal)
    safe, not_safe, trace = ([states[i] for i in certificate[key]] for key in ("safe", "not_safe", "trace"))
    strategy = [
        (states[i], value, action, policy.get(states[i])) for i, value, action in certificate["strategy"]
    ]
    lines = [
        (states[i], budget, policy.get(states[i]), {action: states[t] for action, t in answers})
        for i, budget, answers in certificate["refutation"]
    ]
    chosen = {state: action for state, _, action, _ in strategy}
    faults = [(states[f["state"]], states[f["outcome"]], f) for f in certificate["faults"]]
    for state, outcome, fault in faults:
        own = policy.get(state) == fault["action"] and outcome in moves(state).get(fault["action"], ())
        need(own, "a fault is not an outcome of the policy's action")
        need(chosen.get(state) == fault["alternative"], "a fault has no safe alternative")
    check_strategy(game, [*safe, *(state for state, _, _ in faults)], radius, strategy)
    check_refutation(game, [*not_safe, *(outcome for _, outcome, _ in faults)], radius, lines)
    if trace:
        for state, following in pairwise(trace):
            need(not (is_unsafe(state) or is_goal(state)), "the run goes on after its end")
            need(following in moves(state)[policy[state]], "the run is not one of the policy")
        need(is_unsafe(trace[-1]), "the run does not end in an unsafe state")
        need(set(safe) <= set(trace), "a bug is not on the run")
