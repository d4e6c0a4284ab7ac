"""The panel: oracles are asked in order, the one that settles a case is the last and is credited."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from misstep._core import HeuristicPolicy, PolicyGraph, State, search
from misstep.bound import Bound
from misstep.budget import Budget
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


def panel(
    lab: Lab, *oracles: Oracle[Case], gap: bool = False, exact: bool = False, effort: float = 1.0
) -> Panel[State, Case]:
    named = [(str(number), oracle) for number, oracle in enumerate(oracles)]
    return Panel(lab, named, objective=Quantitative(), gap=gap, exact=exact, effort=effort)


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


def test_what_each_oracle_brought_is_counted(task: Task) -> None:
    lab = lab_of(task)
    case, plan = case_of(lab), search(task, "astar:blind").plan
    asked = panel(lab, Scripted(), Scripted([plan_claim(case.state, plan, "1")]), Scripted())
    assert [(use.name, use.asked, use.settled) for use in asked.uses()] == [
        ("0", 0, 0),
        ("1", 0, 0),
        ("2", 0, 0),
    ]
    asked.test(case)
    assert [(use.name, use.asked, use.settled) for use in asked.uses()] == [
        ("0", 1, 0),
        ("1", 1, 1),
        ("2", 0, 0),
    ]
    asked.test(case)  # it is settled already
    assert [(use.name, use.asked, use.settled) for use in asked.uses()] == [
        ("0", 1, 0),
        ("1", 1, 1),
        ("2", 0, 0),
    ]


@pytest.mark.parametrize(("among", "share"), [(0, 500_000), (1, 500_000), (5, 100_000), (1000, 500)])
def test_cases_share_half_of_the_time_that_is_left(task: Task, among: int, share: float) -> None:
    """Of a million seconds, so that those that pass meanwhile do not matter."""
    lab = Lab(task=task, graph=PolicyGraph(task, HeuristicPolicy(task, "blind")), budget=Budget(seconds=1e6))
    left = list[float]()

    class Watching(Scripted):
        def claims(self, case: Case, /) -> Iterator[Claim[State]]:
            assert lab.turn.seconds_left is not None
            left.append(lab.turn.seconds_left)
            return iter(())

    panel(lab, Watching()).test(case_of(lab), among=among)
    assert len(left) == 1 and 0.8 * share < left[0] <= share


@dataclass
class Spending(Scripted):
    """Notes when it is asked, spends, and settles one case if it has a plan of it."""

    lab: Lab | None = None
    spends: float = 0.0
    name: str = ""
    log: list[str] = field(default_factory=list)
    is_anytime: bool = True

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        assert self.lab is not None
        self.lab.spend(self.spends)
        self.log.append(self.name)
        yield from (claim for claim in self.claims_of if claim.state == case.state)


def test_later_rounds_ask_in_the_order_of_what_was_settled_for_the_effort(task: Task) -> None:
    """After the first round, cases settled plus one for the effort plus one: 1/101, 1/2, 1/11, and 1/2 again."""
    lab, log = lab_of(task), list[str]()
    case = case_of(lab)
    spent = {"a": 100.0, "b": 1.0, "c": 10.0, "d": 1.0}
    asked = panel(
        lab, *(Spending(lab=lab, spends=effort, name=name, log=log) for name, effort in spent.items())
    )
    asked.test(case)
    assert log == ["a", "b", "c", "d"]
    assert asked.begin_round(1, left=2)
    log.clear()
    asked.test(case)
    assert log == ["b", "d", "c", "a"]  # of equals the first one first


def other_case(lab: Lab) -> Case:
    """Another state that the policy does not solve either."""
    state = lab.task.apply(lab.task.initial_state, lab.task.action("(drive lorry a b)"))
    case = open_case(lab, PoolEntry(1, state), lab.run([state])[0])
    assert case.run.outcome == case_of(lab).run.outcome != "solved"
    return case


def test_settled_cases_make_an_oracle_come_first(task: Task) -> None:
    lab, log = lab_of(task), list[str]()
    case, other = case_of(lab), other_case(lab)
    plan = plan_claim(other.state, search(task, "astar:blind", state=other.state).plan, "b")
    cheap = Spending(lab=lab, spends=9.0, name="a", log=log)
    good = Spending([plan], lab=lab, spends=15.0, name="b", log=log)
    asked = panel(lab, cheap, good)
    asked.test(other)
    asked.test(case)
    assert asked.begin_round(1, left=2)
    log.clear()
    asked.test(case)
    assert log == ["b", "a"]  # 2/31 for the one that settled a case, 1/19 for the other


def test_an_oracle_that_spends_in_vain_waits_for_the_next_round(task: Task) -> None:
    """It is not asked again in a round once it has spent 10^9 there since it settled a case."""
    lab, log = lab_of(task), list[str]()
    case, other = case_of(lab), other_case(lab)
    plan = plan_claim(other.state, search(task, "astar:blind", state=other.state).plan, "a")
    asked = panel(lab, Spending([plan], lab=lab, spends=0.4e9, name="a", log=log))
    assert asked.begin_round(1, left=2)
    for _ in range(2):
        asked.test(case)
    asked.test(other)
    assert log == ["a"] * 3
    for _ in range(5):  # 0.4, 0.8, 1.2 times 10^9 since then
        asked.test(case)
    assert log == ["a"] * 6
    assert asked.begin_round(2, left=2)
    asked.test(case)
    assert log == ["a"] * 7


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
