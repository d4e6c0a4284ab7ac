"""Other people's objectives, oracles and policies: they work, and their defects are called theirs."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep import Bound
from misstep.claim import Claim, DeadEnd, Exhausted, Landmarks, plan_claim
from misstep.errors import PartError
from misstep.judge import Verdict, judge, objective_values
from misstep.lab import Lab, UnsoundClaim
from misstep.oracle import bind_oracle
from misstep.record.verify import verify_record
from misstep.task import Task
from tests.unit import broken_parts as broken
from tests.unit.core_tasks import delivery

WHO = "of the module tests.unit.broken_parts"


@pytest.fixture
def lab() -> Lab:
    task = Task(delivery().sas)
    policy = misstep.per_state(lambda state: None)
    return Lab(task=task, graph=misstep.PolicyGraph(task, policy))


def run_test(**parts: Any) -> misstep.Report:
    folder = Path(misstep.__file__).parent / "bundled" / "courier"
    return misstep.test(
        (folder / "domain.pddl", folder / "problem.pddl"), "heuristic:ff", pool=12, seed=1, **parts
    )


def test_an_objective_of_ones_own_is_verified() -> None:
    report = run_test(objective=broken.Doubling())
    plain = run_test()
    assert len(report.bugs) == len(plain.bugs) > 0
    found = verify_record(report.record)
    assert found.valid == found.certificates > 0
    assert any("objective doubling" in word for word in found.words)
    assert [bug.gap.lo for bug in report.bugs] == [2 * bug.gap.lo for bug in plain.bugs]


@pytest.mark.parametrize(
    ("objective", "words"),
    [
        (
            broken.Falling(),
            "is not monotone: it gives the cost 800 the value 800, but the cost infinity",
        ),
        (broken.Negative(), "gives the cost 0 the value -5"),
        (broken.Unknowing(), "gives the cost infinity the value None"),
    ],
)
def test_objectives_that_are_none(objective: Any, words: str) -> None:
    with pytest.raises(PartError) as caught:
        judge(Bound(800, math.inf), Bound(0, 5), objective=objective)
    assert words in str(caught.value)
    assert f"objective `doubling` {WHO}" in str(caught.value)


def test_the_two_intervals_are_compared_with_each_other() -> None:
    """Each interval alone is fine, but a larger cost in the other one has a smaller value."""
    with pytest.raises(PartError, match="not monotone"):
        judge(Bound(1000, 1000), Bound(5, 5), objective=broken.Falling())
    assert judge(Bound(7, 7), Bound(5, 5), objective=broken.Falling()).verdict is Verdict.BUG


def test_values_may_be_numbers_of_any_kind() -> None:
    import numpy

    @dataclass(frozen=True)
    class Numpy(broken.Doubling):
        def value(self, cost: float, /) -> Any:
            return numpy.float32(cost)

    assert all(type(value) is float for _, value in objective_values(Numpy(), [1, 5, math.inf]))


def test_an_objective_without_a_value() -> None:
    with pytest.raises(PartError, match="has no `value`; every objective needs `name`, `value`"):
        run_test(objective=broken.Unbound())


@pytest.mark.parametrize(
    ("oracle", "words"),
    [
        (broken.Raising(), "raised ZeroDivisionError"),
        (broken.NoClaim(), "yielded 3, which is no Claim"),
        (broken.Unbound(), "has no `bind`; every oracle needs `name`, `bind`"),
    ],
)
def test_what_an_oracle_raises_is_its_fault(oracle: Any, words: str) -> None:
    with pytest.raises(PartError) as caught:
        run_test(oracle=oracle)
    assert words in str(caught.value)
    assert f"oracle `{oracle.name}` {WHO}" in str(caught.value)


@dataclass(frozen=True)
class Bindless:
    """Its `bind` returns nothing."""

    name = "bindless"

    def bind(self, lab: Lab, /) -> Any:
        return None


@dataclass(frozen=True)
class Stumbling:
    """Its `bind` raises."""

    name = "stumbling"

    def bind(self, lab: Any, /) -> Any:
        raise LookupError("no table")


def test_oracles_that_cannot_be_bound(lab: Lab) -> None:
    with pytest.raises(PartError, match="what `bind` returns has no method `claims`"):
        bind_oracle(Bindless(), lab)
    with pytest.raises(PartError, match=r"raised LookupError: no table .* when it was bound to the lab"):
        bind_oracle(Stumbling(), lab)


def test_policies_that_cannot_be_bound() -> None:
    folder = Path(misstep.__file__).parent / "bundled" / "courier"
    files = (folder / "domain.pddl", folder / "problem.pddl")
    with pytest.raises(PartError, match=r"raised LookupError: no table .* when it was bound to the task"):
        misstep.test(files, Stumbling())
    with pytest.raises(PartError, match="can neither be called nor bound"):
        misstep.test(files, broken.Unbound())


class Learning(broken.SayingOracle):
    """Raises when it hears something."""

    def learn(self, claim: Any, /) -> Any:
        raise LookupError("no idea")


@dataclass(frozen=True)
class Pupil(broken.Saying):
    """Cannot learn."""

    def bind(self, lab: Lab, /) -> Learning:
        return Learning(self, lab)


def test_what_a_learner_raises_is_its_fault(lab: Lab) -> None:
    oracle: Any = bind_oracle(Pupil(), lab)
    lab.learners.append(oracle)
    plan = misstep.search(lab.task, "astar:blind").plan
    with pytest.raises(PartError, match=r"raised LookupError: no idea .* when it was told about the state"):
        lab.enter(plan_claim(lab.task.initial_state, plan, "another"))


def test_an_unknown_kind_of_evidence_names_the_oracle_and_says_what_to_do() -> None:
    with pytest.raises(UnsoundClaim, match=r"oracle `saying`: evidence of the kind Feeling\(\) is not known"):
        run_test(oracle=broken.NewEvidence())


@pytest.mark.parametrize(
    ("bound", "evidence", "words"),
    [
        (Bound(2, 3), DeadEnd(), "proves infinity at most"),
        (Bound(2), Landmarks(()), "of the kind landmarks proves 0 to infinity at most"),
        (Bound(0, 9), Landmarks(()), "claims a cost of 0 to 9"),
        (Bound(2, 9), Exhausted("mine", 1), "of the kind search proves 2 to infinity at most"),
    ],
)
def test_evidence_carries_no_more_than_it_proves(lab: Lab, bound: Bound, evidence: Any, words: str) -> None:
    with pytest.raises(UnsoundClaim, match=words):
        lab.enter(Claim(lab.task.initial_state, bound, evidence, "mine"))


def test_a_plan_bounds_from_above_only(lab: Lab) -> None:
    plan = plan_claim(lab.task.initial_state, misstep.search(lab.task, "astar:blind").plan, "mine")
    with pytest.raises(UnsoundClaim, match="of the kind plan proves 0 to 4 at most"):
        lab.enter(Claim(plan.state, Bound(4, 4), plan.evidence, "mine"))
    assert lab.enter(plan)


def test_claims_of_somebody_else_are_remembered_as_they_were(lab: Lab) -> None:
    """A test that goes on later reads what an oracle said, not what LM-cut would say."""
    state, actions = lab.task.initial_state, tuple(lab.task.applicable(lab.task.initial_state))
    for claim in (
        Claim(state, Bound(2), Landmarks(((actions, 2),)), "mine"),
        Claim(state, Bound(math.inf), DeadEnd(), "mine"),
        Claim(state, Bound(2), Exhausted("mine", 7), "mine"),
        plan_claim(state, misstep.search(lab.task, "astar:blind").plan, "mine"),
    ):
        written = json.loads(json.dumps(lab.write_claim(claim)))
        assert lab.read_claim(written) == claim
