"""The panel: oracles are asked in order, the one that settles a case is the last and is credited."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from misstep._core import HeuristicPolicy, PolicyGraph, State, search
from misstep.bound import Bound
from misstep.claim import Claim, plan_claim, search_claim
from misstep.errors import InputError
from misstep.judge import Verdict
from misstep.lab import Lab
from misstep.objectives.cost import Quantitative
from misstep.oracle import Case, Oracle, Panel, make_oracles, open_case
from misstep.oracles.planner import Perfect
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


def panel(lab: Lab, *oracles: Oracle[Case], gap: bool = False, exact: bool = False) -> Panel[State, Case]:
    named = [(str(number), oracle) for number, oracle in enumerate(oracles)]
    return Panel(lab, named, objective=Quantitative(), gap=gap, exact=exact)


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


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("is_known", [False, True])
def test_perfect_finds_the_best_cost_of_what_is_known_to_be_a_bug(
    task: Task, gap: bool, is_known: bool
) -> None:
    lab = lab_of(task)
    case, plan, never = case_of(lab), search(task, "astar:blind").plan, Scripted()
    if is_known:
        lab.enter(plan_claim(case.state, plan, "earlier"))
    found = panel(lab, never, Perfect().bind(lab), never, gap=gap, exact=True)
    judgement, known = found.test(case)
    cost = sum(action.cost for action in plan)
    assert case.cost.hi == math.inf and judgement.is_bug and found.seeks_exact
    assert known.bound == Bound(cost, cost)
    assert never.asked == (not is_known)
    lab.enter(plan_claim(case.state, plan, "again"))
    before = lab.effort
    found.test(case)
    assert lab.effort == before  # it is known now


def test_without_exact_a_bug_is_enough_for_perfect(task: Task) -> None:
    lab = lab_of(task)
    case = case_of(lab)
    found = panel(lab, Perfect().bind(lab))
    judgement, known = found.test(case)
    assert judgement.is_bug and not known.bound.is_exact and not found.seeks_exact


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

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        if self.lab is not None:
            self.lab.spend(self.spends)
        yield from super().claims(case)


@pytest.mark.parametrize("spends", [0.0, 1.0])
def test_rounds_end_where_more_effort_makes_no_difference(task: Task, spends: float) -> None:
    lab = lab_of(task)
    asked, case = panel(lab, Tireless(lab=lab, spends=spends)), case_of(lab)
    rounds = 0
    while asked.begin_round(rounds + 1, is_extended=True):
        rounds += 1
        asked.test(case)
    assert rounds == (4 if spends == 0 else 28)  # up to the usual effort in any case, never for ever
    assert lab.scale <= 2**24
