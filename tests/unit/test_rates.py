"""Rates in words; the expected bounds are those of printed tables (Clopper and Pearson) or worked out by hand."""

import math

import pytest

from misstep.explain.rates import Rate, bounds_words, percent, share_words
from misstep.statistics import Interval, rate_bounds


def rate(bad: int, good: int, unknown: int, *, effective: float | None = None, of_runs: bool = False) -> Rate:
    bounds = rate_bounds(bad, good, unknown, effective=effective)
    return Rate(bad, good, unknown, bounds, 0.95, effective, of_runs=of_runs)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        # Of 7 in 40, tables give 7.3 to 32.8 %.
        (rate(7, 33, 0), "18 % (7 of 40); 95 %: 7.3 to 33 %"),
        # Between 7 and 10 of 40 are bugs: the lower bound is that of 7, the upper one that of 10 (41.2 %).
        (rate(7, 30, 3), "18 to 25 % (7 of 40, 3 unknown); 95 %: 7.3 to 42 %"),
        # 1 - 0.025 ** (1 / 40) is 8.81 %.
        (rate(0, 40, 0), "0 % (0 of 40); 95 %: at most 8.9 %"),
        (rate(40, 0, 0), "100 % (40 of 40); 95 %: at least 91 %"),
        (rate(0, 0, 40), "0 to 100 % (0 of 40, 40 unknown): nothing can be said yet"),
        (rate(0, 0, 0), "nothing can be said: no states were tested"),
        (
            rate(10, 17, 3, of_runs=True),
            "33 to 43 % (10 of 30 runs, 3 without an answer); 95 %: 17 to 63 %",
        ),
        (
            Rate(7, 33, 0, Interval(0.00047, 0.797), 0.95, 2.6),
            "18 % (7 of 40); 95 %: 0.04 to 80 %, because these states say as much as 3 independent ones",
        ),
        (
            Rate(1, 39, 0, Interval(0.0, 0.98), 0.99, 1.2),
            "2.5 % (1 of 40); 99 %: at most 98 %, because these states say as much as 1 independent one",
        ),
        # All of them say as much as all of them: there is nothing to explain.
        (Rate(7, 33, 0, Interval(0.07, 0.33), 0.95, 39.9), "18 % (7 of 40); 95 %: 7 to 33 %"),
    ],
)
def test_a_rate_is_a_sentence(found: Rate, words: str) -> None:
    assert str(found) == words


def test_halves_go_up() -> None:
    assert [share_words(hits, 200) for hits in (33, 35, 37)] == ["17 %", "18 %", "19 %"]


@pytest.mark.parametrize(
    ("share", "down", "up"),
    [
        (0.0, "0 %", "0 %"),
        (0.00047, "0.04 %", "0.05 %"),
        (0.0000023, "0.0002 %", "0.0003 %"),
        (0.001, "0.1 %", "0.1 %"),
        (0.07, "7 %", "7 %"),
        (0.0701, "7 %", "7.1 %"),
        (0.2, "20 %", "20 %"),
        (0.129, "12 %", "13 %"),
        (0.9, "90 %", "90 %"),
        (0.997, "99.7 %", "99.7 %"),
        (0.99996, "99.996 %", "99.996 %"),
        (0.999963, "99.996 %", "99.997 %"),
        (1.0, "100 %", "100 %"),
    ],
)
def test_small_shares_are_not_rounded_to_nothing_nor_large_ones_to_all(
    share: float, down: str, up: str
) -> None:
    assert (percent(share, math.floor), percent(share, math.ceil)) == (down, up)


def test_bounds_that_say_nothing_are_left_out() -> None:
    assert bounds_words((0.0, 0.07)) == "at most 7 %"
    assert bounds_words((0.4, 1.0)) == "at least 40 %"
    assert bounds_words((1e-12, 1.0)) == bounds_words((0.0, 1.0)) == "0 to 100 %"


def test_a_share_of_nothing_is_no_number() -> None:
    assert share_words(0, 0) == "?"
    assert share_words(1, 2000) == "0.05 %"
    assert rate(0, 0, 0).brief == "?"
    assert rate(0, 40, 0).brief == "0 % (at most 8.9 %)"
