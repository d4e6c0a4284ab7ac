"""What became of states, from records that are written by hand."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from misstep.bound import NEVER, Bound
from misstep.config import Config
from misstep.errors import InputError
from misstep.events import Family, Finished, Judged, Ran, Started
from misstep.judge import Verdict
from misstep.record.record import POOL, Record
from misstep.reports.difference import KINDS, difference
from misstep.reports.difference_lines import difference_lines
from misstep.reports.report import Report
from misstep.statistics import rate_bounds, sign_test, signed_rank_test

BUG, CLEARED, UNKNOWN = Verdict.BUG, Verdict.CLEARED, Verdict.UNKNOWN
OPEN = Bound(7, math.inf)


def exactly(cost: float) -> Bound:
    return Bound(cost, cost)


def report(
    states: Mapping[str, tuple[Verdict, Bound]], *, digest: str = "a", families: tuple[Family, ...] = ()
) -> Report:
    """The report of a test that judged these states, named by their only fact."""
    record = Record.in_memory()
    record.begin(Config().to_toml(), environment={"task_sha256": digest}, files={})
    record.event(Started(task="p.pddl", policy="made by hand", seed=0, oracles=()))
    for number, (fact, (verdict, cost)) in enumerate(states.items()):
        record.store.append(POOL, {"id": number, "facts": [fact]})
        record.event(
            Judged(
                id=number,
                verdict=verdict,
                outcome="loop" if cost == NEVER else "cut-off" if cost == OPEN else "solved",
                cost=cost,
                best=exactly(3),
                gap=exactly(0),
                oracle=None,
                steps=1,
            )
        )
    made = Report(record)
    record.event(Finished(**made.tally.counts(), families=families))
    return Report(record)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ((CLEARED, exactly(3)), (BUG, exactly(5)), "new"),
        ((UNKNOWN, exactly(4)), (BUG, exactly(5)), "new"),
        ((UNKNOWN, exactly(5)), (BUG, exactly(5)), "same"),  # it is proven now, but no worse
        ((UNKNOWN, exactly(6)), (BUG, exactly(5)), "better"),
        ((BUG, exactly(5)), (CLEARED, exactly(3)), "fixed"),
        ((BUG, exactly(5)), (UNKNOWN, exactly(4)), "better"),
        ((BUG, exactly(5)), (UNKNOWN, exactly(5)), "same"),
        ((BUG, exactly(5)), (UNKNOWN, exactly(6)), "worse"),
        ((BUG, exactly(5)), (BUG, NEVER), "worse"),
        ((BUG, NEVER), (BUG, exactly(5)), "better"),
        ((BUG, NEVER), (BUG, NEVER), "same"),
        ((CLEARED, exactly(3)), (CLEARED, exactly(3)), "same"),
        ((CLEARED, exactly(3)), (CLEARED, exactly(4)), "same"),  # where only reaching the goal counts
        ((UNKNOWN, OPEN), (UNKNOWN, exactly(9)), "undecided"),
        ((UNKNOWN, OPEN), (UNKNOWN, exactly(6)), "better"),
    ],
)
def test_what_became_of_a_state(old: Any, new: Any, kind: str) -> None:
    found = difference([(report({"(s)": old}), report({"(s)": new}))])
    assert [change.kind for change in found.changes] == [kind]
    assert found.as_json()[kind] == 1 == sum(found.as_json()[each] for each in KINDS)
    assert found.is_worse == (kind in ("new", "worse"))


def test_states_are_matched_by_what_they_are() -> None:
    old = report({"(a)": (CLEARED, exactly(3)), "(b)": (BUG, exactly(5)), "(c)": (BUG, exactly(5))})
    new = report({"(d)": (BUG, exactly(5)), "(b)": (CLEARED, exactly(3)), "(a)": (BUG, exactly(4))})
    found = difference([(old, new)])
    assert (found.only_old, found.only_new, len(found.changes)) == (1, 1, 2)
    assert [change.as_json() for change in found.changes] == [
        {"kind": "new", "task": "p.pddl", "old": 0, "new": 2},
        {"kind": "fixed", "task": "p.pddl", "old": 1, "new": 1},
    ]
    assert found.old_rate.bounds == rate_bounds(2, 1, 0) and found.new_rate.bounds == rate_bounds(2, 1, 0)
    text = "\n".join(difference_lines([(old, new)], found))
    assert "2 states tested in both (1 only in the old test, 1 only in the new one)" in text
    assert "pays 4, before: pays 3; misstep show memory 2" in text


def test_several_tasks_add_up() -> None:
    old, new = report({"(a)": (CLEARED, exactly(3))}), report({"(a)": (BUG, exactly(4))})
    fixed = report({"(a)": (BUG, exactly(9))}), report({"(a)": (CLEARED, exactly(3))})
    found = difference([(old, new)] * 5 + [fixed])
    assert (found.count("new"), found.count("fixed")) == (5, 1)
    assert found.chance_of_bugs == sign_test(5, 1)
    assert found.chance_of_costs == signed_rank_test([1, 1, 1, 1, 1, -6])
    assert found.old_rate.bounds == rate_bounds(1, 5, 0) and found.new_rate.bounds == rate_bounds(5, 1, 0)


def test_families_are_compared_without_their_regions() -> None:
    def family(schema: str, region: int) -> Family:
        return Family(outcome="loop", schema=schema, region=region, members=(0,), representative=0)

    state = {"(a)": (BUG, NEVER)}
    old = report(state, families=(family("drive", 0), family("load", 1)))
    new = report(state, families=(family("drive", 7), family("drive", 8), family("unload", 0)))
    found = difference([(old, new)])
    assert found.families_new == (("loop", "unload"),) and found.families_gone == (("loop", "load"),)


def test_other_tasks_are_refused() -> None:
    old, new = report({"(a)": (BUG, NEVER)}), report({"(a)": (BUG, NEVER)}, digest="b")
    with pytest.raises(InputError, match="about different tasks"):
        difference([(old, new)])


@pytest.mark.parametrize("line", [{"id": 0}, {"id": {}, "facts": []}, {"id": 0, "facts": [{}]}, 7])
def test_damaged_states_are_refused(line: Any) -> None:
    """As in a safety record whose certificate had an object for its `id` (found by damaging records)."""
    old, new = report({"(a)": (BUG, NEVER)}), report({"(a)": (BUG, NEVER)})
    old.record.store.append(POOL, line)
    with pytest.raises(InputError, match="missing or damaged"):
        difference([(old, new)])


def model_report(outcomes: list[str], bugs: Mapping[int, float]) -> Report:
    """The report of a test of a model whose runs ended so; its bugs by the number of the state."""
    record = Record.in_memory()
    record.begin(Config().to_toml(), environment={"model_sha256": "a"}, files={})
    record.event(Started(task="m.jani", policy="made by hand", seed=0, oracles=(), kind="model"))
    for number, outcome in enumerate(outcomes):
        record.event(
            Ran(run=number, outcome=outcome, steps=1, reason="gone" if outcome == "failed" else None)
        )
    for number, (place, cost) in enumerate(bugs.items()):
        record.bug(str(number), {"id": str(number), "state": {"place": place}, "step": None})
        judged = Judged(
            id=number,
            verdict=BUG,
            outcome="unsafe",
            cost=exactly(cost),
            best=exactly(0),
            gap=exactly(cost),
            oracle="level",
            steps=1,
        )
        record.event(judged)
    record.event(Finished(**Report(record).tally.counts(), extra={"outcomes": dict(Counter(outcomes))}))
    return Report(record)


@pytest.mark.parametrize(("outcomes", "fixed"), [(["goal", "goal"], 1), (["failed", "goal"], 0)])
def test_a_policy_that_gives_no_answers_has_fixed_nothing(outcomes: list[str], fixed: int) -> None:
    pairs = [(model_report(["unsafe"], {3: math.inf}), model_report(outcomes, {}))]
    found = difference(pairs)
    assert (found.count("fixed"), found.only_old) == (fixed, 1 - fixed)
    assert bool(found.unanswered) is not bool(fixed)
    if not fixed:
        assert found.as_json()["unanswered"] == [difference_lines(pairs, found)[0]]
        assert found.unanswered[0].endswith("nothing was tested: no usable answer in 1 of 2 runs; gone")
