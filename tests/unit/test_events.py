"""Events read back as the same objects, and add up."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.bound import Bound
from misstep.errors import InputError
from misstep.events import (
    Event,
    Family,
    Finished,
    Judged,
    Misstep,
    PoolGrown,
    Ran,
    Started,
    Warned,
    from_json,
    timeless,
)
from misstep.judge import Verdict
from misstep.tally import Tally

costs = st.integers(0, 10**6).map(float) | st.just(math.inf)
bounds = st.tuples(costs, costs).map(lambda ends: Bound(min(ends), max(ends)))
texts = st.text(max_size=5)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(Started, task=texts, policy=texts, seed=st.integers(0, 9), oracles=st.tuples(texts)),
    st.builds(Warned, text=texts),
    st.builds(PoolGrown, pool=st.integers(0, 9), size=st.none() | st.integers(0, 9)),
    st.builds(Ran, run=st.integers(0, 9), outcome=texts, steps=st.integers(0, 9)),
    st.builds(
        Judged,
        id=st.integers(0, 99),
        verdict=st.sampled_from(Verdict),
        outcome=texts,
        cost=bounds,
        best=bounds,
        gap=bounds,
        oracle=st.none() | texts,
        steps=st.integers(0, 9),
        fault=st.none() | st.builds(Misstep, step=st.integers(0, 9), action=texts, better=st.none() | texts),
        effort=st.floats(0, 1e9),
        at=st.floats(0, 1e9),
    ),
    st.builds(
        Finished,
        pool=st.integers(0, 9),
        families=st.lists(
            st.builds(Family, outcome=texts, schema=st.none() | texts, region=st.integers(0, 9),
                      members=st.lists(st.integers(0, 9)).map(tuple), representative=st.integers(0, 9))
        ).map(tuple),
        limits_hit=st.lists(texts).map(tuple),
        seconds=st.dictionaries(texts, st.floats(0, 1e3), max_size=2),
    ),
)  # fmt: skip


@given(events)
def test_events_read_back(event: Event) -> None:
    assert from_json(json.loads(json.dumps(event.as_json()))) == event


def test_bad_lines() -> None:
    good = Warned(text="x").as_json()
    for line in (
        {**good, "event": "nonsense"},
        {**good, "more": 1},
        {"event": "warning"},
        {**good, "text": 3},
    ):
        with pytest.raises(InputError, match=r"unknown event|damaged event"):
            from_json(line)


def test_times_are_left_out() -> None:
    assert timeless(Warned(text="x", at=3.0).as_json()) == timeless(Warned(text="x", at=4.0).as_json())


def judged(number: int, verdict: Verdict, outcome: str = "solved") -> Judged:
    cost = Bound(3, 3) if outcome == "solved" else Bound(math.inf, math.inf)
    return Judged(id=number, verdict=verdict, outcome=outcome, cost=cost, best=Bound(2, 2), gap=Bound(1, 1),
                  oracle="o", steps=1)  # fmt: skip


def test_the_last_word_counts() -> None:
    tally = Tally()
    for event in (
        Started(task="t", policy="p", seed=0, oracles=()),
        PoolGrown(pool=4),
        judged(0, Verdict.UNKNOWN),
        judged(1, Verdict.BUG),
        judged(2, Verdict.BUG, "loop"),
        judged(0, Verdict.CLEARED),
        judged(3, Verdict.UNKNOWN, "failed"),
        Ran(run=0, outcome="unsafe", steps=3),
    ):
        tally.add(event)
    counts = tally.counts()
    assert (counts["tested"], counts["bugs"], counts["qualitative"], counts["quantitative"]) == (4, 2, 1, 1)
    assert (counts["cleared"], counts["unknown"], counts["failed"], counts["pool"]) == (1, 1, 1, 4)
    assert (counts["runs"], counts["unsafe_runs"]) == (1, 1)
    assert [event.id for event in tally.bugs] == [1, 2]
