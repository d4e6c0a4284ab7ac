"""Strategies and refutations against the fixed point: accepted means true, true means provable."""

from __future__ import annotations

import random
from typing import Any

import pytest

from misstep.reference.checked import Refused
from misstep.reference.game import Answer, Choice, Game, check_refutation, check_strategy
from tests.property.safety_games import Node, deviations, random_game

RADII = (0, 1, 2, None)


def game_of(nodes: list[Node]) -> Game:
    tables = [{label: set(outcomes) for label, outcomes in node.choices} for node in nodes]
    return Game(
        lambda s: tables[s].keys(),
        lambda s, label: tables[s].get(label, set()),
        lambda s: nodes[s].unsafe,
        lambda s: nodes[s].goal and not nodes[s].unsafe,
    )


def needed(nodes: list[Node], radius: int | None) -> list[int]:
    """Deviations that each state needs, or with radius None whether it is lost; 9 is more than any radius."""
    plain = deviations(nodes, counted=False, cap=1)
    return [9 * lost for lost in plain] if radius is None else deviations(nodes, counted=True, cap=9)


def strategy_of(nodes: list[Node], radius: int | None) -> list[Choice]:
    """All states that can be kept safe, each with its best action."""
    value, lines = needed(nodes, radius), []
    for s, node in enumerate(nodes):
        if value[s] >= 9:
            continue
        if node.goal or not node.choices:
            lines.append(Choice(s, value[s], None))
            continue
        counted = radius is not None
        costs = [(int(counted and a != node.policy) + max(value[t] for t in ts), a) for a, ts in node.choices]
        lines.append(Choice(s, value[s], min(costs)[1]))
    return lines


def refutation_of(nodes: list[Node], radius: int | None) -> list[Answer]:
    """Round by round, everything that can be refuted with what was refuted before."""
    lines: list[Answer] = []
    refuted: dict[int, int] = {}
    counted, changed = radius is not None, True
    while changed:
        changed = False
        for s, node in enumerate(nodes):
            for budget in range((radius or 0) + 1):
                if node.unsafe or node.goal or not node.choices or refuted.get(s, -1) >= budget:
                    continue
                answers = {}
                for action, outcomes in node.choices:
                    left = budget - int(counted and action != node.policy)
                    lost = [t for t in outcomes if nodes[t].unsafe or refuted.get(t, -1) >= left]
                    if left >= 0 and lost:
                        answers[action] = lost[0]
                    elif left >= 0:
                        break
                else:
                    lines.append(Answer(s, budget, answers))
                    refuted[s] = budget
                    changed = True
    return lines


@pytest.mark.parametrize("radius", RADII)
def test_what_is_true_can_be_proven(radius: int | None) -> None:
    rng = random.Random(f"proven {radius}")
    for _ in range(300):
        nodes = random_game(rng)
        game, value, limit = game_of(nodes), needed(nodes, radius), radius or 0
        safe = [s for s in range(len(nodes)) if value[s] <= limit]
        lost = [s for s in range(len(nodes)) if value[s] > limit]
        policies = [node.policy for node in nodes]
        check_strategy(game, safe, radius, strategy_of(nodes, radius), policies.__getitem__)
        check_refutation(game, lost, radius, refutation_of(nodes, radius), policies.__getitem__)


@pytest.mark.parametrize("radius", RADII)
def test_what_is_accepted_is_true(radius: int | None) -> None:
    """Proofs with random damage, and random starts: what is accepted must be true."""
    rng = random.Random(f"accepted {radius}")
    accepted = 0
    for _ in range(1500):
        nodes = random_game(rng)
        game, value, limit = game_of(nodes), needed(nodes, radius), radius or 0
        strategy, refutation = strategy_of(nodes, radius), refutation_of(nodes, radius)
        for lines in (strategy, refutation):
            if lines and rng.random() < 0.8:
                i = rng.randrange(len(lines))
                lines[i] = damaged(lines[i], rng, len(nodes))
        start = rng.randrange(len(nodes))
        if passes(check_strategy, game, start, radius, strategy, nodes):
            assert value[start] <= limit
            accepted += 1
        if passes(check_refutation, game, start, radius, refutation, nodes):
            assert value[start] > limit
            accepted += 1
    assert accepted > 100


def damaged(line: Any, rng: random.Random, size: int) -> Any:
    state = rng.choice((line.state, rng.randrange(size)))
    if isinstance(line, Choice):
        return Choice(state, line.value + rng.choice((-1, 0, 1)), rng.choice((line.action, None, *range(5))))
    answers = {
        a: rng.choice((t, rng.randrange(size))) for a, t in line.outcomes.items() if rng.random() < 0.8
    }
    return Answer(state, line.budget + rng.choice((-1, 0, 1)), answers)


def passes(check: Any, game: Any, start: Any, radius: Any, lines: Any, nodes: Any) -> bool:
    try:
        check(game, [start], radius, lines, lambda s: nodes[s].policy)
    except Refused:
        return False
    return True
