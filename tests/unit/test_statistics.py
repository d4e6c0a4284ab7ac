"""Bounds and tests against brute force, scipy, and simulated tests whose truth is known."""

import functools
import itertools
import math
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.errors import InputError
from misstep.statistics import (
    Interval,
    beta_cdf,
    beta_quantile,
    cluster_correlation,
    clustered_size,
    confidence_below,
    effective_size,
    rate_bounds,
    running_bounds,
    sign_test,
    signed_rank_test,
)

COUNTS = st.integers(0, 40)
FEW = settings(deadline=None, max_examples=25)


def at_least(hits: int, trials: int, rate: Fraction) -> Fraction:
    """The chance of so many hits or more, summed up exactly."""
    return sum(
        (math.comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(hits, trials + 1)),
        Fraction(0),
    )


@FEW
@given(st.integers(1, 30), st.integers(0, 30), st.integers(1, 99))
def test_the_beta_function_is_a_binomial_tail(hits: int, more: int, percent: int) -> None:
    trials, rate = hits + more, Fraction(percent, 100)
    tail = float(at_least(hits, trials, rate))
    assert beta_cdf(percent / 100, hits, more + 1) == pytest.approx(tail, rel=1e-10, abs=1e-14)


def test_beta_as_scipy_has_it() -> None:
    special = pytest.importorskip("scipy.special")
    rng = random.Random(0)
    for _ in range(50):
        a, b = 10 ** rng.uniform(-1, 5), 10 ** rng.uniform(-1, 5)
        x = rng.betavariate(a, b)
        assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), abs=1e-9)
        p = rng.random()
        assert beta_quantile(p, a, b) == pytest.approx(special.betaincinv(a, b, p), abs=1e-9)
    assert beta_cdf(-1, 2, 3) == 0 and beta_cdf(2, 2, 3) == 1
    with pytest.raises(ValueError, match="two positive numbers"):
        beta_cdf(0.5, 0, 1)


@FEW
@given(st.integers(0, 30), st.integers(0, 30))
def test_bounds_are_where_the_tails_are_small(bugs: int, cleared: int) -> None:
    tested = bugs + cleared
    bounds = rate_bounds(bugs, cleared, 0)
    assert 0 <= bounds.lo <= bounds.hi <= 1
    if tested == 0:
        assert bounds == Interval(0, 1)
        return
    if bugs:  # at the lower bound, so many bugs are just unlikely enough
        assert float(at_least(bugs, tested, Fraction(bounds.lo))) == pytest.approx(0.025, rel=1e-6)
    if cleared:
        few = 1 - at_least(bugs + 1, tested, Fraction(bounds.hi))
        assert float(few) == pytest.approx(0.025, rel=1e-6)


@FEW
@given(st.integers(1, 25), st.floats(0.01, 0.99))
def test_bounds_hold_as_often_as_they_say(tested: int, rate: float) -> None:
    holds = 0.0
    for bugs in range(tested + 1):
        chance = math.comb(tested, bugs) * rate**bugs * (1 - rate) ** (tested - bugs)
        lo, hi = rate_bounds(bugs, tested - bugs, 0, confidence=0.9)
        holds += chance * (lo <= rate <= hi)
    assert holds >= 0.9 - 1e-9


@FEW
@given(COUNTS, COUNTS, COUNTS)
def test_the_unknown_count_both_ways(bugs: int, cleared: int, unknown: int) -> None:
    for bounds in (rate_bounds, running_bounds):
        both = bounds(bugs, cleared, unknown)
        assert both.lo == pytest.approx(bounds(bugs, cleared + unknown, 0).lo)
        assert both.hi == pytest.approx(bounds(bugs + unknown, cleared, 0).hi)


@FEW
@given(COUNTS, st.integers(1, 40), COUNTS, st.floats(0.02, 0.98))
def test_confidence_below_is_where_the_bound_is(bugs: int, cleared: int, unknown: int, rate: float) -> None:
    sure = confidence_below(rate, bugs, cleared, unknown)
    if 0.51 < sure < 0.999:  # half of what a two-sided interval leaves out lies above it
        assert rate_bounds(bugs, cleared, unknown, confidence=2 * sure - 1).hi == pytest.approx(rate)
    assert confidence_below(rate, bugs, 0, unknown) == 0


def test_known_numbers() -> None:
    assert rate_bounds(0, 100, 0).hi == pytest.approx(0.0362167, abs=1e-6)
    assert confidence_below(0.03, 0, 100, 0) == pytest.approx(1 - 0.97**100)
    assert rate_bounds(3, 97, 0) == pytest.approx((0.0062300, 0.0851761), abs=1e-6)


def test_a_confidence_is_a_share() -> None:
    with pytest.raises(InputError, match=r"the confidence is 95; it must lie between 0 and 1"):
        rate_bounds(1, 1, 0, confidence=95)


@pytest.mark.parametrize("confidence", [-0.1, 0, 0.0, 1, 1.0, 1.5, math.nan])
def test_a_confidence_is_neither_0_nor_1(confidence: float) -> None:
    """Bounds that are surely right are 0 and 1, and any are right with a confidence of 0: both say nothing."""
    for ask in (rate_bounds, running_bounds):
        with pytest.raises(InputError, match="must lie between 0 and 1"):
            ask(1, 1, 0, confidence=confidence)


def test_running_bounds_hold_at_every_look() -> None:
    exact = functools.cache(rate_bounds)
    running = functools.cache(running_bounds)
    rng = random.Random(7)
    rate, broken, tests = 0.3, 0, 60
    for _ in range(tests):
        bugs = 0
        for tested in range(1, 101):
            bugs += rng.random() < rate
            lo, hi = running(bugs, tested - bugs, 0, confidence=0.9)
            if not lo <= rate <= hi:
                broken += 1
                break
    assert broken <= 0.1 * tests
    # The exact bounds of a test of fixed size do not survive being looked at so often.
    broken = 0
    for _ in range(30):
        bugs = 0
        for tested in range(1, 101):
            bugs += rng.random() < rate
            lo, hi = exact(bugs, tested - bugs, 0, confidence=0.9)
            if not lo <= rate <= hi:
                broken += 1
                break
    assert broken > 4


@FEW
@given(COUNTS, COUNTS)
def test_running_bounds_are_those_of_the_bet(bugs: int, cleared: int) -> None:
    tested = bugs + cleared
    bounds = running_bounds(bugs, cleared, 0)
    for percent in range(1, 100):
        rate = Fraction(percent, 100)
        stake = Fraction(1, (tested + 1) * math.comb(tested, bugs)) / (rate**bugs * (1 - rate) ** cleared)
        assert (bounds.lo <= rate <= bounds.hi) == (stake < 20)


def chain(verdicts: str) -> tuple[dict[int, bool], dict[int, int | None]]:
    """States of one long walk: every one starts in the one before."""
    bugs = {at: letter == "b" for at, letter in enumerate(verdicts)}
    return bugs, {at: at - 1 if at else None for at in bugs}


def test_states_without_walks_are_independent() -> None:
    bugs, _ = chain("bbbb....")
    assert effective_size(bugs, dict.fromkeys(bugs)) == 8
    assert effective_size({}, {}) == 0


def test_members_of_a_cluster_are_alike_or_not() -> None:
    assert cluster_correlation([[(9, 9), (0, 5), (7, 7)]]) == 1.0
    assert cluster_correlation([[(5, 10), (5, 10), (5, 10)]]) == 0.0
    for nothing in ([], [[]], [[(3, 9)]], [[(0, 9), (0, 9)]], [[(1, 1), (0, 1)]], [[(0, 0), (4, 8)]]):
        assert cluster_correlation(nothing) is None
    assert clustered_size([10, 10, 0], 0.0) == 20
    assert clustered_size([10, 10, 0], 1.0) == pytest.approx(2)
    assert clustered_size([], 0.5) == 0


@pytest.mark.parametrize("tasks", [2, 3, 8])
def test_bounds_from_few_clusters_hold(tasks: int) -> None:
    """Rates of tasks are uniform, so the truth is one half. Without a margin, 77 % hold for 2 tasks."""
    rng, held, trials = random.Random(tasks), {0.0: 0, 2.0: 0}, 300
    for _ in range(trials):
        rates = [rng.random() for _ in range(tasks)]
        column = [(sum(rng.random() < rate for _ in range(20)), 20) for rate in rates]
        bugs = sum(hits for hits, _ in column)
        for margin in held:
            alike = cluster_correlation([column], standard_errors=margin)
            effective = clustered_size([20] * tasks, 1.0 if alike is None else alike)
            rate = rate_bounds(bugs, 20 * tasks - bugs, 0, effective=effective)
            held[margin] += rate.lo <= 0.5 <= rate.hi
    assert held[2.0] >= 0.92 * trials
    assert held[2.0] > held[0.0]


def test_unknown_states_that_lie_together_say_little() -> None:
    """Bugs are spread evenly over two walks; all that is unknown lies on one of them."""
    parents = {state: None if state % 20 == 0 else state - 1 for state in range(40)}
    is_bug = {state: state % 10 == 5 for state in range(40)}
    unknown = {state for state in range(20) if not is_bug[state]}
    alone, together = effective_size(is_bug, parents), effective_size(is_bug, parents, unknown=unknown)
    assert alone > 25
    assert (
        together == effective_size({state: state < 20 or bad for state, bad in is_bug.items()}, parents) < 10
    )
    assert effective_size(is_bug, parents, unknown=()) == alone


@given(
    st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=2, max_size=6).filter(
        lambda clusters: len({bit for bits in clusters for bit in bits}) == 2
    )
)
def test_clusters_of_one_size_are_alike_as_their_pairs_are(clusters: list[list[bool]]) -> None:
    """The analysis of variance agrees with counting: members of one cluster that differ, and members of two."""
    own = [one != other for bits in clusters for one, other in itertools.combinations(bits, 2)]
    across = [
        one != other
        for bits, others in itertools.combinations(clusters, 2)
        for one in bits
        for other in others
    ]
    inside, outside = sum(own) / len(own), sum(across) / len(across)
    expected = max(0.0, 1 - inside / outside) if outside else 0.0
    found = cluster_correlation([[(sum(bits), len(bits)) for bits in clusters]])
    assert found == pytest.approx(expected, abs=1e-12)


def test_states_of_one_walk_say_less() -> None:
    alike, mixed = chain("b" * 50 + "." * 50), chain("b." * 50)
    assert effective_size(*alike) < 5
    # Nothing is alike there, but one standard error of what is not known is added: 0.1 for 99 walks.
    assert 75 < effective_size(*mixed) < 90


@FEW
@given(st.lists(st.booleans(), min_size=2, max_size=12), st.data())
def test_the_sum_over_the_tree_is_that_over_all_pairs(verdicts: list[bool], data: st.DataObject) -> None:
    bugs = dict(enumerate(verdicts))
    parents = {at: data.draw(st.one_of(st.none(), st.integers(0, at - 1))) if at else None for at in bugs}
    found = effective_size(bugs, parents)
    edges = [(bugs[parent], bugs[at]) for at, parent in parents.items() if parent is not None]
    if not edges:
        assert found == len(bugs)
        return
    mean = sum(verdicts) / len(verdicts)
    variance = mean * (1 - mean)
    together = sum((one - mean) * (two - mean) for one, two in edges) / len(edges)
    r = min(1, (max(0, together / variance) if variance else 0) + 1 / math.sqrt(len(edges)))
    gaps = [distance(parents, one, two) for one in bugs for two in bugs]
    total = sum(r**gap for gap in gaps if gap is not None)
    assert found == pytest.approx(min(len(bugs), max(1, len(bugs) ** 2 / total)))


def distance(parents: dict[int, int | None], one: int, two: int) -> int | None:
    def above(state: int | None) -> list[int]:
        found = []
        while state is not None:
            found.append(state)
            state = parents[state]
        return found

    first, second = above(one), above(two)
    shared = set(first) & set(second)
    return None if not shared else len(first) + len(second) - 2 * len(shared)


@FEW
@given(st.integers(0, 14), st.integers(0, 14))
def test_sign_test_counts_all_ways(ups: int, downs: int) -> None:
    coins = ups + downs
    few = min(ups, downs)
    uneven = sum(math.comb(coins, k) for k in range(coins + 1) if min(k, coins - k) <= few)
    assert sign_test(ups, downs) == pytest.approx(uneven / 2**coins)


@FEW
@given(st.lists(st.sampled_from([-math.inf, -3, -1, -1, 0, 1, 2, 3, 5, math.inf]), max_size=9))
def test_signed_rank_test_counts_all_signs(differences: list[float]) -> None:
    given_ = [value for value in differences if value]
    sizes = sorted(abs(value) for value in given_)
    ranks = [2 * sizes.index(abs(value)) + sizes.count(abs(value)) + 1 for value in given_]
    up = sum(rank for rank, value in zip(ranks, given_, strict=True) if value > 0)
    few = min(up, sum(ranks) - up)
    signs = list(itertools.product((0, 1), repeat=len(ranks)))
    sums = [sum(rank for rank, sign in zip(ranks, chosen, strict=True) if sign) for chosen in signs]
    expected = min(1, 2 * sum(total <= few for total in sums) / len(signs))
    assert signed_rank_test(differences) == pytest.approx(expected)


def test_signed_rank_test_as_scipy_has_it() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = random.Random(1)
    differences = [rng.gauss(0.4, 1) for _ in range(40)]
    assert signed_rank_test(differences) == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue)
