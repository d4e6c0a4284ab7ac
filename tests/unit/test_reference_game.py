"""Strategies and refutations on games of one or two states; random games are in tests/property."""

from __future__ import annotations

import pytest

from misstep.reference.checked import Refused
from misstep.reference.game import Answer, Choice, check_refutation, check_strategy
from tests.property.safety_games import Node
from tests.property.test_reference_games import game_of


def test_a_state_with_two_lines_is_refused() -> None:
    nodes = [Node(((0, (0,)),), policy=0)]
    line = Choice(0, 0, 0)
    check_strategy(game_of(nodes), [0], 0, [line], lambda _: 0)
    with pytest.raises(Refused, match="two lines"):
        check_strategy(game_of(nodes), [0], 0, [line, line], lambda _: 0)


def test_a_refutation_must_not_argue_in_a_circle() -> None:
    nodes = [Node(((0, (1,)),), policy=0), Node(((0, (0,)),), policy=0)]
    circle = [Answer(0, 0, {0: 1}), Answer(1, 0, {0: 0})]
    with pytest.raises(Refused, match="not refuted before"):
        check_refutation(game_of(nodes), [0], 0, circle, lambda _: 0)


def test_negative_budgets_refute_nothing() -> None:
    nodes = [Node(((0, (0,)),), policy=1)]
    with pytest.raises(Refused, match="negative"):
        check_refutation(game_of(nodes), [0], 0, [Answer(0, -1, {})], lambda _: 1)
    with pytest.raises(Refused, match="negative"):
        check_strategy(game_of(nodes), [0], 0, [Choice(0, 0, 0)], lambda _: 1)
