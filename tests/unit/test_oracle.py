"""The panel: oracles are asked in order, the one that settles a case is the last and is credited."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from misstep._core import HeuristicPolicy, PolicyGraph, State, search
from misstep.claim import Claim, plan_claim, search_claim
from misstep.errors import InputError
from misstep.judge import Verdict
from misstep.lab import Lab
from misstep.objectives.cost import Quantitative
from misstep.oracle import Case, Oracle, Panel, make_oracles, open_case
from misstep.pool import PoolEntry
from misstep.task import Task
from tests.unit.core_tasks import delivery


@dataclass
class Scripted:
    """Says what it is told to say, and notes that it was asked."""

    claims_of: list[Claim[State]] = field(default_factory=list)
    asked: int = 0
    said: int = 0

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        self.asked += 1
        for claim in self.claims_of:
            self.said += 1
            yield claim


@pytest.fixture
def task() -> Task:
    return Task(delivery().sas)


def lab_of(task: Task) -> Lab:
    return Lab(task=task, graph=PolicyGraph(task, HeuristicPolicy(task, "blind")))


def case_of(lab: Lab) -> Case:
    start = lab.task.initial_state
    return open_case(lab, PoolEntry(0, start), lab.run([start])[0])


def panel(lab: Lab, *oracles: Oracle[Case], gap: bool = False, effort: float = 1.0) -> Panel[State, Case]:
    named = [(str(number), oracle) for number, oracle in enumerate(oracles)]
    return Panel(lab, named, objective=Quantitative(), gap=gap, effort=effort)


def test_the_oracle_that_settles_a_case_ends_it(task: Task) -> None:
    lab = lab_of(task)
    case, plan = case_of(lab), search(task, "astar:blind").plan
    silent, first, second = Scripted(), Scripted([plan_claim(case.state, plan, "first")] * 3), Scripted()
    judgement, known = panel(lab, silent, first, second).test(case)
    assert case.run.outcome != "solved" and judgement.verdict is Verdict.BUG
    assert known.upper is not None and known.upper.oracle == "first"
    assert (silent.asked, first.said, second.asked) == (1, 1, 0)


def test_a_case_that_is_settled_already_asks_nobody(task: Task) -> None:
    lab = lab_of(task)
    case, oracle = case_of(lab), Scripted()
    lab.enter(plan_claim(case.state, search(task, "astar:blind").plan, "earlier"))
    assert panel(lab, oracle).test(case)[0].verdict is Verdict.BUG
    assert oracle.asked == 0


def test_an_oracle_may_speak_to_the_lab_itself(task: Task) -> None:
    """As `landmarks` does: nothing is yielded, but the case is judged again before the next one is asked."""
    lab = lab_of(task)
    case = case_of(lab)

    class Direct(Scripted):
        def claims(self, case: Case, /) -> Iterator[Claim[State]]:
            lab.enter(plan_claim(case.state, search(task, "astar:blind").plan, "direct"))
            return iter(())

    after = Scripted()
    assert panel(lab, Direct(), after).test(case)[0].verdict is Verdict.BUG
    assert after.asked == 0


def test_with_gap_a_bug_is_not_enough(task: Task) -> None:
    lab = Lab(task=task, graph=PolicyGraph(task, HeuristicPolicy(task, "ff")), max_steps=1)
    case, plan = case_of(lab), search(task, "astar:blind").plan
    better, bound = (
        Scripted([plan_claim(case.state, plan, "b")]),
        Scripted([search_claim(case.state, 4, "s", 1, "l")]),
    )
    panel(lab, better, bound, gap=True).test(case)
    assert bound.asked == 1


def test_names_and_order() -> None:
    assert [part.name for part in make_oracles(["landmarks+lookahead:depth=1", "perfect"])] == [
        "landmarks", "lookahead", "perfect",
    ]  # fmt: skip
    for text in ("", "landmarks+", "+landmarks", "no-such-oracle"):
        with pytest.raises(InputError):
            make_oracles([text])


@dataclass
class Tireless(Scripted):
    """Can do with more effort, and spends what it is told to in every round."""

    lab: Lab | None = None
    spends: float = 0.0
    is_anytime: bool = True
    may_exceed: bool = True

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        if self.lab is not None:
            self.lab.spend(self.spends)
        yield from super().claims(case)


@pytest.mark.parametrize("spends", [0.0, 1.0])
def test_rounds_end_where_more_effort_makes_no_difference(task: Task, spends: float) -> None:
    lab = lab_of(task)
    asked, case = panel(lab, Tireless(lab=lab, spends=spends)), case_of(lab)
    lab.is_extended = True
    rounds = 0
    while asked.begin_round(rounds + 1, left=1):
        rounds += 1
        asked.test(case)
    assert rounds == (4 if spends == 0 else 28)  # up to the oracles' own effort in any case, never for ever
    assert lab.scale <= 2**24


@pytest.mark.parametrize(
    ("effort", "spends", "falls", "rounds", "scale"),
    [
        (1.0, 1.0, True, 4, 1.0),
        (32.0, 1.0, True, 9, 32.0),  # up to the effort of the panel
        (20.0, 1.0, True, 8, 16.0),
        (32.0, 1.0, False, 8, 16.0),  # four with more than the oracles' own effort settled nothing
        (64.0, 1e8, True, 5, 2.0),  # all is spent: 64 times 8e6 for the only state
        (64.0, 1e9, True, 4, 1.0),  # up to the oracles' own effort, whatever that is
    ],
)
def test_rounds_go_on_while_they_settle_something_and_effort_is_left(
    task: Task, effort: float, spends: float, falls: bool, rounds: int, scale: float
) -> None:
    lab = lab_of(task)
    asked, case, number = panel(lab, Tireless(lab=lab, spends=spends), effort=effort), case_of(lab), 0
    asked.test(case)
    while asked.begin_round(number + 1, left=100 - number if falls else 100):
        number += 1
        asked.test(case)
    assert (number, lab.scale) == (rounds, scale)


def test_nobody_is_asked_for_more_than_there_is_to_be_spent(task: Task) -> None:
    """Within a round, too; what goes on in time that is left is not bounded so."""
    lab = lab_of(task)
    oracle = Tireless(lab=lab, spends=1.2e8)
    asked, case = panel(lab, oracle, effort=64.0), case_of(lab)
    for number in range(1, 5):
        asked.begin_round(number, left=1)
    asked.test(case)
    lab.round = 0
    asked.test(case)  # now there is one state
    assert asked.begin_round(5, left=1)
    for _ in range(9):
        asked.test(case)
    assert oracle.asked == 5  # the fifth went beyond 5.12e8, and was the last
    lab.is_extended = True
    assert asked.begin_round(6, left=1)
    asked.test(case)
    assert oracle.asked == 6


def test_some_are_never_asked_for_more_than_their_own_effort(task: Task) -> None:
    lab = lab_of(task)
    first, second = Tireless(lab=lab, spends=1.0), Tireless(lab=lab, spends=1.0, may_exceed=False)
    asked, case = panel(lab, first, second, effort=4.0), case_of(lab)
    asked.test(case)
    for number in range(1, 7):
        assert asked.begin_round(number, left=9 - number)
        asked.test(case)
    assert (first.asked, second.asked) == (7, 5)
    lab.is_extended = True
    assert asked.begin_round(7, left=1)
    asked.test(case)
    assert (first.asked, second.asked) == (8, 6)
    alone = panel(lab_of(task), Tireless(may_exceed=False), effort=4.0)
    assert alone.begin_round(4, left=1) and not alone.begin_round(5, left=1)
