"""Algorithm 1 on small policy graphs, and the fuzzers as parts."""

from __future__ import annotations

import pytest

from misstep._core import ExplicitGame, SafetyFuzzer
from misstep.errors import InputError
from misstep.plugins import make_part


def test_a_cycle_ends_every_strategy() -> None:
    """0 -> 1 -> 0: unlimited look-ahead sees that nothing is left, the others stop at their step limit."""
    spec = [([(0, [1])], False, False, 0), ([(0, [0])], False, False, 0)]
    for strategy, depth, end in (
        ("uniform", 1, "max_steps"),
        ("greedy", 1, "max_steps"),
        ("greedy", None, "exhausted"),
        ("sampling", None, "exhausted"),
    ):
        fuzzer = SafetyFuzzer(ExplicitGame(spec), strategy, depth=depth, max_steps=10, seed=0)
        assert fuzzer.run(0)[0] == end


def test_unlimited_depth_finds_the_one_bad_leaf() -> None:
    """A policy tree of depth 8 with one unsafe leaf among 256: random runs miss it, look-ahead does not."""
    size = 2**9 - 1
    spec = [
        ([(0, [2 * i + 1, 2 * i + 2])] if 2 * i + 2 < size else [], i == size - 1, False, 0)
        for i in range(size)
    ]
    game = ExplicitGame(spec)
    assert SafetyFuzzer(game, "greedy", depth=None, seed=0).run(0) == (
        "unsafe",
        [0, 2, 6, 14, 30, 62, 126, 254, 510],
    )
    found = sum(SafetyFuzzer(game, "uniform", seed=i).run(0)[0] == "unsafe" for i in range(50))
    assert found < 5
    assert SafetyFuzzer(game, "greedy", depth=None, max_lookahead=20, seed=0).run(0)[0] == "max_lookahead"


def test_bad_options_are_refused() -> None:
    game = ExplicitGame([([], False, False, None)])
    for options in ({"depth": 0}, {"temperature": 0.0}):
        with pytest.raises(InputError):
            SafetyFuzzer(game, "greedy", seed=0, **options)
    with pytest.raises(InputError, match="unknown strategy"):
        SafetyFuzzer(game, "bold", seed=0)


@pytest.mark.parametrize(
    ("text", "end"),
    [("uniform", "max_steps"), ("greedy:depth=2", "max_steps"), ("sampling:depth=inf", "exhausted")],
)
def test_fuzzers_are_parts(text: str, end: str) -> None:
    game = ExplicitGame([([(0, [1])], False, False, 0), ([(0, [0])], False, False, 0)])
    assert make_part("safety-fuzzer", text).bind(game, max_steps=10, seed=0).run(0)[0] == end


@pytest.mark.parametrize(
    "text", ["greedy:depth=0", "greedy:depth=-1", "sampling:depth=x", "uniform:depth=1", "bold"]
)
def test_bad_fuzzers_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        make_part("safety-fuzzer", text)
