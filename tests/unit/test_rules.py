"""When a test that found bugs counts as failed."""

import math

import pytest

from misstep.bound import NEVER, Bound
from misstep.errors import InputError
from misstep.events import Family, Finished, Judged, Ran, Started
from misstep.judge import Verdict
from misstep.record.record import Record
from misstep.reports.report import Report
from misstep.reports.rules import Rules
from misstep.tally import Tally


def report(gaps: list[float | None], families: tuple[Family, ...] = ()) -> Report:
    """One state for each gap; None is a cleared state."""
    tally = Tally()
    tally.add(Started(task="p.pddl", policy="made by hand", seed=0, oracles=()))
    for number, gap in enumerate(gaps):
        is_never = gap == math.inf
        cost = NEVER if is_never else Bound(3 + (gap or 0), 3 + (gap or 0))
        tally.add(
            Judged(
                id=number,
                verdict=Verdict.CLEARED if gap is None else Verdict.BUG,
                outcome="loop" if is_never else "solved",
                cost=cost,
                best=Bound(3, 3),
                gap=Bound(gap or 0, gap or 0),
                oracle=None,
                steps=1,
            )
        )
    tally.add(Finished(**tally.counts(), families=families))
    return Report(Record.in_memory(), tally=tally)


def test_the_rate_is_that_of_proven_bugs_in_all_problems() -> None:
    reports = [report([1, None, None, None]), report([2, 2, None, None])]  # 3 of 8
    assert Rules(max_bug_rate=0.375).broken(reports) == {}
    assert Rules(max_bug_rate=0.37).broken(reports) == {
        "max_bug_rate": "3 of 8 states are bugs (38 %), more than 37 %"
    }
    assert Rules(max_bug_rate=0.0).broken([report([])]) == {}


def test_a_model_has_a_rate_of_runs() -> None:
    tally = Tally(started=Started(task="m.jani", policy="p", seed=0, oracles=(), kind="model"))
    for number in range(4):
        tally.add(Ran(run=number, outcome="unsafe" if number else "goal", steps=1))
    tally.add(Finished(**tally.counts()))
    found = Rules(max_bug_rate=0.5).broken([Report(Record.in_memory(), tally=tally)])
    assert found == {"max_bug_rate": "3 of 4 runs are unsafe (75 %), more than 50 %"}


def test_the_gap_is_that_of_the_worst_bug() -> None:
    assert Rules(max_gap=4).broken([report([1, 4, None])]) == {}
    (why,) = Rules(max_gap=3).broken([report([1, 4, 5, None])]).values()
    assert why.startswith("in 2 states the policy pays more than 3 too much")
    assert why.endswith("in bug 2 of p.pddl it pays 5 too much")
    (why,) = Rules(max_gap=1000).broken([report([1, math.inf])]).values()
    assert why.endswith("in bug 1 of p.pddl it never reaches the goal")


def test_new_families() -> None:
    family = Family(outcome="loop", schema="drive", region=3, members=(0,), representative=0)
    reports = [report([math.inf], (family,))]
    assert Rules(new_families=True).broken(reports, {("loop", "drive")}) == {}
    assert Rules(new_families=False).broken(reports) == {}
    assert Rules(new_families=True).broken(reports, {("loop", "load")}) == {
        "new_families": "1 family not known before: the policy runs in a loop (drive)"
    }


def test_what_is_typed_goes_before_the_table() -> None:
    made = Rules.of(["max_bug_rate=0.2", "new_families"], {"max_bug_rate": 0.1, "max_gap": 7})
    assert made == Rules(max_bug_rate=0.2, max_gap=7, new_families=True)
    assert Rules.of(["new_families=false"], {"new_families": True}) == Rules()


@pytest.mark.parametrize(
    ("texts", "table", "message"),
    [
        (["max_bugrate=1"], {}, "unknown rule `max_bugrate`; did you mean `max_bug_rate`"),
        (["max_gap=much"], {}, "--fail-on max_gap=much: this is no number"),
        (["max_bug_rate=7"], {}, "rule `max_bug_rate` is 7.0; it must lie between 0 and 1"),
        (["max_gap"], {}, "rule `max_gap`: expected a number, found True"),
        ([], {"max_gap": -1}, "rule `max_gap` is -1.0; it must be 0 or more"),
        ([], {"new_families": "yes"}, "rule `new_families`: expected true or false, found 'yes'"),
    ],
)
def test_rules_that_make_no_sense(texts: list[str], table: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Rules.of(texts, table)
    assert message in str(caught.value)
