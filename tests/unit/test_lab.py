"""What oracles claim is checked before it counts."""

from dataclasses import dataclass

import pytest

from misstep._core import HeuristicPolicy, PolicyGraph, search
from misstep.bound import Bound
from misstep.claim import Claim, Plan, plan_claim, search_claim
from misstep.lab import Lab, UnsoundClaim
from misstep.task import Task
from tests.unit.core_tasks import delivery


@dataclass(frozen=True)
class Setting:
    lab: Lab
    task: Task


@pytest.fixture
def setting() -> Setting:
    task = Task(delivery().sas)
    return Setting(Lab(task=task, graph=PolicyGraph(task, HeuristicPolicy(task, "ff"))), task)


def test_a_plan_bounds_the_cost(setting: Setting) -> None:
    start = setting.task.initial_state
    actions = search(setting.task, "astar:blind").plan
    assert setting.lab.enter(plan_claim(start, actions, "test"))
    assert not setting.lab.enter(plan_claim(start, actions, "test"))
    assert setting.lab.best(start).hi == 4
    assert setting.lab.plan(start) == tuple(actions)


def test_no_plan_is_refused(setting: Setting) -> None:
    start = setting.task.initial_state
    actions = search(setting.task, "astar:blind").plan
    with pytest.raises(UnsoundClaim, match="does not end in a goal"):
        setting.lab.enter(plan_claim(start, actions[:-1], "test"))
    with pytest.raises(UnsoundClaim, match="step 2"):
        setting.lab.enter(plan_claim(start, actions[1:], "test"))


def test_an_upper_bound_off_by_one_is_refused(setting: Setting) -> None:
    start = setting.task.initial_state
    actions = tuple(search(setting.task, "astar:blind").plan)
    with pytest.raises(UnsoundClaim, match="costs more"):
        setting.lab.enter(Claim(start, Bound(0, 3), Plan(actions), "test"))


def test_contradictions_are_noticed(setting: Setting) -> None:
    start = setting.task.initial_state
    actions = search(setting.task, "astar:blind").plan
    setting.lab.enter(plan_claim(start, actions, "one"))
    with pytest.raises(UnsoundClaim, match="other claims a value of at least"):
        setting.lab.enter(search_claim(start, 5, "astar", 0, "other"))


def test_landmarks_are_claimed_once(setting: Setting) -> None:
    start = setting.task.initial_state
    first = setting.lab.claim_landmarks(start)
    claim = setting.lab.lower(start)
    assert first.lo > 0
    setting.lab.claim_landmarks(start)
    assert setting.lab.lower(start) is claim
