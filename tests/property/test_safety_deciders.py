"""Every decider against a plain fixed point on random games, with shared caches, random orders and limits."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest

from misstep._core import Budget, Decider, ExplicitGame
from misstep.reference.checked import Refused
from misstep.reference.game import Answer, Choice, Game, check_refutation, check_strategy
from tests.property.safety_games import Node, deviations, random_game

Policy = Callable[[int], int | None]
ALGORITHMS = ("level", "tarjan", "value-iteration", "lao", "lrtdp", "policy-iteration")
RADII = (0, 1, 2, 3, None)
# `make fuzz` plays 20,000 games, from a fresh seed; MISSTEP_RANDOM_GAMES sets their number alone.
GAMES = int(os.environ.get("MISSTEP_RANDOM_GAMES") or os.environ.get("MISSTEP_RANDOM_TASKS") or "2000")
SEED, CHUNKS = int(os.environ.get("MISSTEP_RANDOM_SEED", "0")), 8
# By default the certificates of every eighth game, and of some others, are checked and tampered with.
ALL_CERTIFICATES = "MISSTEP_ALL_CERTIFICATES" in os.environ


def reference_game(nodes: list[Node]) -> Game:
    tables = [{label: set(outcomes) for label, outcomes in node.choices} for node in nodes]
    return Game(
        lambda s: tables[s].keys(),
        lambda s, label: tables[s].get(label, set()),
        lambda s: nodes[s].unsafe,
        lambda s: nodes[s].goal and not nodes[s].unsafe,
    )


def check_certificate(nodes: list[Node], game: Game, decider: Decider, s: int, radius: int | None) -> None:
    def policy(state: int) -> int | None:
        return nodes[state].policy

    if steps := decider.strategy(s, radius):
        full = [Choice(*step) for step in steps]
        check_strategy(game, [s], radius, full, policy)
        tamper_strategy(game, s, radius, full, policy)
    else:
        lines = [Answer(t, b, dict(answers)) for t, b, answers in decider.refutation(s, radius)]
        check_refutation(game, [s], radius, lines, policy)
        tamper_refutation(game, s, radius, lines, policy)


def tamper_strategy(game: Game, s: int, radius: int | None, steps: list[Choice], policy: Policy) -> None:
    """Every step of a strategy is reachable, so none may be missing."""
    for i in range(len(steps)):
        with pytest.raises(Refused):
            check_strategy(game, [s], radius, steps[:i] + steps[i + 1 :], policy)
    for i, step in enumerate(steps):
        changed = step._replace(action="no such action" if step.action is None or i % 2 else None)
        with pytest.raises(Refused):
            check_strategy(game, [s], radius, [*steps[:i], changed, *steps[i + 1 :]], policy)


def tamper_refutation(game: Game, s: int, radius: int | None, lines: list[Answer], policy: Policy) -> None:
    if not lines:
        assert game.is_unsafe(s)
        return
    with pytest.raises(Refused):
        check_refutation(game, [s], radius, lines[:-1], policy)
    for i, line in enumerate(lines):
        for action in line.outcomes:
            rest = line._replace(outcomes={a: o for a, o in line.outcomes.items() if a != action})
            with pytest.raises(Refused):
                check_refutation(game, [s], radius, [*lines[:i], rest, *lines[i + 1 :]], policy)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_deciders_agree_with_the_fixed_point(chunk: int) -> None:
    rng = random.Random(SEED * CHUNKS + chunk)
    for number in range(GAMES // CHUNKS):
        nodes = random_game(rng)
        counted = deviations(nodes, counted=True, cap=5)
        plain = deviations(nodes, counted=False, cap=1)
        game = reference_game(nodes)
        native = ExplicitGame([node.spec() for node in nodes])
        queries = [(s, r) for s in range(len(nodes)) for r in RADII]
        for algorithm in ALGORITHMS:
            order = rng.choice(("shared", "last-first", "first-first"))
            decider = Decider(native, algorithm, outcome_order=order)
            for s, r in rng.sample(queries, min(len(queries), 12)):
                truth = "safe" if (plain[s] == 0 if r is None else counted[s] <= r) else "unsafe"
                if rng.random() < 0.3:
                    verdict, reason, expanded, _ = decider.decide(
                        s, r, budget=Budget(expansions=rng.randint(0, 3))
                    )
                    assert (verdict == "unknown") == (reason == "expansions")
                    assert verdict in (truth, "unknown"), (chunk, number, algorithm, s, r)
                    assert expanded <= 3
                verdict, *_ = decider.decide(s, r)
                assert verdict == truth, (chunk, number, algorithm, s, r)
                if ALL_CERTIFICATES or number % 8 == 0 or rng.random() < 0.05:
                    check_certificate(nodes, game, decider, s, r)
            s = rng.randrange(len(nodes))
            least = None if plain[s] or counted[s] > 4 else counted[s]
            assert decider.minimal_radius(s, most=4) == least


BOTTOM = 9


def tiny(*states: dict[int, tuple[int, ...]]) -> list[Node]:
    """States with their choices; outcome 9 is an unsafe state added at the end."""
    bottom = len(states)
    nodes = [
        Node(
            tuple((label, tuple(bottom if t == BOTTOM else t for t in ts)) for label, ts in choices.items()),
            policy=0,
        )
        for choices in states
    ]
    return [*nodes, Node((), unsafe=True)]


COUNTEREXAMPLES = {
    # Stale stack entries after a failed branch make a classic Tarjan call r safe.
    "CE1": (tiny({0: (1,), 1: (2,)}, {0: (2, BOTTOM)}, {0: (1, 0)}), [1, 1, 1, 1]),
    # A low link that is reset without cleaning poisons the yes-cache of 3 for the next query.
    "CE2": (tiny({0: (1,)}, {0: (2, BOTTOM)}, {0: (3, BOTTOM), 1: (3,)}, {0: (1,)}), [1, 1, 1, 1, 1]),
    # Marking without cleaning: sibling 1 stays on the stack although the move that led there failed.
    "CE3": (tiny({0: (1, 2), 1: (0,)}, {0: (2,)}, {0: (1, 3)}, {0: (BOTTOM,)}), [0, 1, 1, 1, 1]),
}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_counterexamples(name: str, algorithm: str) -> None:
    nodes, lost = COUNTEREXAMPLES[name]
    assert deviations(nodes, counted=False, cap=1) == lost
    decider = Decider(ExplicitGame([node.spec() for node in nodes]), algorithm)
    for s in (*range(len(nodes)), *reversed(range(len(nodes)))):
        assert decider.decide(s, None)[0] == ("unsafe" if lost[s] else "safe")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_budgets(algorithm: str) -> None:
    cycle = tiny({0: (0, BOTTOM)})  # the policy's own loop can fail: never safe
    assert Decider(ExplicitGame([n.spec() for n in cycle]), algorithm).decide(0, 3)[0] == "unsafe"
    free = tiny({0: (0,), 1: (0,)})  # looping by the policy costs nothing
    assert Decider(ExplicitGame([n.spec() for n in free]), algorithm).decide(0, 0)[0] == "safe"
    paid = tiny({0: (BOTTOM,), 1: (0,)})  # a deviation inside a cycle: safe, but with no finite radius
    decider = Decider(ExplicitGame([n.spec() for n in paid]), algorithm)
    assert [decider.decide(0, r)[0] for r in (None, 0, 1, 50)] == ["safe", "unsafe", "unsafe", "unsafe"]
    assert decider.minimal_radius(0) is None


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_unsafe_comes_before_goal_and_dead_end(algorithm: str) -> None:
    nodes = [Node((), unsafe=True, goal=True), Node((), unsafe=True), Node((), goal=True), Node(())]
    decider = Decider(ExplicitGame([n.spec() for n in nodes]), algorithm)
    assert [decider.decide(s, None)[0] for s in range(4)] == ["unsafe", "unsafe", "safe", "safe"]


def chain(n: int) -> list[Node]:
    """s_i: a -> {s_{i+1}, y}, b -> {s_{i+1}}; s_n -> s_0; y -> unsafe: exponential as published."""
    y, bottom = n + 1, n + 2
    nodes = [Node(((0, (i + 1, y)), (1, (i + 1,)))) for i in range(n)]
    return [*nodes, Node(((0, (0,)),)), Node(((0, (bottom,)),)), Node((), unsafe=True)]


@pytest.mark.parametrize("algorithm", ["level", "tarjan", "policy-iteration"])
def test_the_exponential_chain(algorithm: str) -> None:
    game = ExplicitGame([node.spec() for node in chain(1000)])
    decider = Decider(game, algorithm)
    verdict, _, expanded, _ = decider.decide(0, None)
    assert verdict == "safe"
    assert expanded <= 1003  # each state once; benchmarks/safety_deciders.py has the time


def test_limits_are_said() -> None:
    game = ExplicitGame([node.spec() for node in chain(1000)])
    decider = Decider(game)
    assert decider.decide(0, None, budget=Budget(expansions=10))[:3] == ("unknown", "expansions", 10)
    assert decider.decide(0, None, budget=Budget(seconds=0))[:2] == ("unknown", "seconds")
    assert decider.decide(0, None)[0] == "safe"
    assert decider.expanded <= 1003
