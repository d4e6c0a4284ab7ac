"""The sampler's distribution, by chi-square tests: negative, zero, infinite and mixed weights."""

import math
from collections import Counter

import pytest

from misstep import InputError, _core

DRAWS = 20_000

# 99.99 % quantiles of chi-square for 1 .. 5 degrees of freedom: with fixed seeds a failure is no accident.
CRITICAL = {1: 15.14, 2: 18.42, 3: 21.11, 4: 23.51, 5: 25.74}


def chi_square(weights: list[float], shares: list[float], *, seed: int) -> float:
    counts = Counter(_core.weighted_select(weights, seed, DRAWS))
    assert all(share > 0 or counts[index] == 0 for index, share in enumerate(shares))
    total = sum(shares)
    expected = [DRAWS * share / total for share in shares]
    return sum((counts[i] - e) ** 2 / e for i, e in enumerate(expected) if e > 0)


@pytest.mark.parametrize(
    ("weights", "shares"),
    [
        ([1.0, 2.0, 3.0], [1, 2, 3]),
        ([0.0, 1.0, 3.0], [0, 1, 3]),
        ([0.0, 0.0, 0.0], [1, 1, 1]),
        ([-1.0, 0.0, 2.0], [0, 1, 3]),
        ([-4.0, -3.0, -1.0], [0, 1, 3]),
        ([-2.0, -2.0], [1, 1]),
        ([-2.0, -2.0, -math.inf], [1, 1, 0]),
        ([math.inf, 5.0, math.inf, -math.inf], [1, 0, 1, 0]),
        ([math.inf, math.inf, math.inf], [1, 1, 1]),
        ([-math.inf, 3.0, 1.0], [0, 3, 1]),
        ([-math.inf, 0.0, 0.0, 0.0], [0, 1, 1, 1]),
        ([0.1, 0.2, 0.3, 0.4, 1.0], [1, 2, 3, 4, 10]),
        ([1e6, 2e6, 1e6], [1, 2, 1]),
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_distribution(weights: list[float], shares: list[float], seed: int) -> None:
    freedom = sum(share > 0 for share in shares) - 1
    assert chi_square(weights, shares, seed=seed) < CRITICAL[freedom]


def test_the_check_can_fail() -> None:
    assert chi_square([1.0, 2.0, 3.0], [1, 2, 3.5], seed=1) > CRITICAL[2]


@pytest.mark.parametrize("weights", [[], [-math.inf], [-math.inf, -math.inf]])
def test_nothing_to_choose(weights: list[float]) -> None:
    assert _core.weighted_select(weights, 0, 3) == [None] * 3


def test_not_a_number() -> None:
    with pytest.raises(InputError, match="not a number"):
        _core.weighted_select([1.0, math.nan], 0, 1)
