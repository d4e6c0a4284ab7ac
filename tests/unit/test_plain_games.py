"""The plain solver on games whose values are known by hand, and the comparison with misstep on some games."""

from __future__ import annotations

import random

import pytest

from benchmarks.safety_truth import Compared, compare, random_document
from misstep.bundled.models import generate
from misstep.testing.plain_games import PlainGame


def game(moves: dict[int, dict[str, list[int]]], unsafe: set[int], *goals: int) -> PlainGame:
    found = PlainGame.explore(
        range(max(moves) + 1),
        lambda s: list(moves[s].items()),
        is_unsafe=lambda s: s in unsafe,
        is_goal=lambda s: s in goals,
        max_states=100,
    )
    assert found is not None
    return found


def test_deviations_are_counted_along_the_worst_play() -> None:
    """0 must leave the policy once, 1 twice on the way through 0; in 3 no number of deviations helps."""
    made = game(
        {0: {"p": [4], "x": [2]}, 1: {"p": [3], "x": [0]}, 2: {"p": [2]}, 3: {"p": [4], "x": [4]}, 4: {}}, {4}
    )
    assert list(made.needed(["p"] * 5, cap=5)) == [1, 2, 0, 5, 5]
    assert list(made.needed(None, cap=1)) == [0, 0, 0, 1, 1]
    assert list(made.can_fail(["p"] * 5)) == [True, True, False, True, True]


def test_unsafe_comes_before_goal_and_dead_ends_are_safe() -> None:
    made = game({0: {}, 1: {}, 2: {"p": [1]}, 3: {"p": [1, 0]}}, {0}, 0, 1)
    assert list(made.needed(None, cap=1)) == [1, 0, 0, 1]


def test_too_many_states_are_refused() -> None:
    outcomes = [("p", [1])]
    assert (
        PlainGame.explore(
            [0],
            lambda s: outcomes if s == 0 else [("p", [s + 1])],
            is_unsafe=bool,
            is_goal=bool,
            max_states=1,
        )
        is None
    )


def test_misstep_agrees_on_random_games_and_a_model() -> None:
    rng, compared = random.Random(1), Compared()
    for number in range(60):
        document, chosen = random_document(rng)
        assert compare(compared, document, chosen, f"game {number}", 100) is not None
    model = generate("two_way_line")
    assert compare(compared, model, "zoo:two_way_line", "two_way_line", 100_000) == 174
    for what in ("decisions", "minimal radii", "bugs", "faults", "alternatives"):
        assert compared.counts[what] > 20


def test_a_wrong_answer_is_seen() -> None:
    with pytest.raises(SystemExit, match="misstep says safe, the plain solver unsafe"):
        Compared().same("decisions", "safe", "unsafe", "somewhere")
