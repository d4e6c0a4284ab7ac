"""What oracles claim is checked before it counts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from misstep._core import HeuristicPolicy, PolicyGraph, State, search
from misstep.bound import Bound
from misstep.budget import Budget, StopFlag
from misstep.claim import Claim, Exhausted, Landmarks, Plan, plan_claim, search_claim
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


@dataclass
class Listener:
    """Learns every claim and makes one of its own about the initial state, once."""

    start: State
    follows: Claim[State] | None = None
    heard: list[Claim[State]] = field(default_factory=list)

    def learn(self, claim: Claim[State], /) -> list[Claim[State]]:
        self.heard.append(claim)
        follows, self.follows = self.follows, None
        return [] if follows is None else [follows]


def test_the_door_tells_learners_and_marks_states(setting: Setting) -> None:
    lab, start = setting.lab, setting.task.initial_state
    plan = search(setting.task, "astar:blind").plan
    after = setting.task.apply(start, plan[0])
    listener = Listener(start, follows=plan_claim(start, plan, "listener"))
    lab.learners.append(listener)
    assert lab.enter(plan_claim(after, plan[1:], "somebody"))
    assert lab.changed == {start, after}, "what follows from a claim comes in by the same door"
    assert lab.upper(start).oracle == "listener" and lab.upper(after).oracle == "somebody"
    assert [claim.state for claim in listener.heard] == [after], "nobody is told what they said themselves"
    assert not lab.enter(plan_claim(after, plan[1:], "late")), "no news"
    assert len(listener.heard) == 1


def test_whoever_is_asked_is_not_told(setting: Setting) -> None:
    lab, start = setting.lab, setting.task.initial_state
    plan = search(setting.task, "astar:blind").plan
    asked, other = Listener(start), Listener(start)
    lab.learners += [asked, other]
    lab.consult("0", lambda: [plan_claim(start, plan, "asked")], speaker=asked)
    assert not asked.heard and len(other.heard) == 1


def test_enough_is_asked_where_there_is_news(setting: Setting) -> None:
    lab, start = setting.lab, setting.task.initial_state
    plan = search(setting.task, "astar:blind").plan
    after = setting.task.apply(start, plan[0])
    asked = 0

    def enough() -> bool:
        nonlocal asked
        asked += 1
        return True

    claims = [
        plan_claim(after, plan[1:], "o"),
        plan_claim(start, plan, "o"),
        search_claim(start, 4, "s", 1, "o"),
    ]
    lab.consult("0", lambda: claims, about=start, enough=enough)
    assert asked == 1 and lab.best(start) == Bound(0, 4), "the third claim was not wanted any more"


def test_answers_are_kept_and_repeated(setting: Setting) -> None:
    lab, start = Lab(task=setting.task, graph=setting.lab.graph, memory=Told()), setting.task.initial_state
    plan = search(setting.task, "astar:blind").plan
    lab.consult("0 planner", lambda: [plan_claim(start, plan, "p"), search_claim(start, 4, "s", 9, "p")])
    lab.spend(3)
    (answer,) = lab.take_answers()
    assert lab.take_answers() == []
    again = Lab(task=lab.task, graph=lab.graph, memory=Told(json.loads(json.dumps(answer))))

    def nobody() -> list[Claim[State]]:
        raise AssertionError("asked although the answer is known")

    again.consult("0 planner", nobody)
    assert again.best(start) == lab.best(start) == Bound(4, 4)
    assert again.plan(start) == lab.plan(start) and again.lower(start) == lab.lower(start)
    again.consult("1 planner", list)  # nothing is left to be recalled


class Told:
    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)

    def recall(self, key: str, /) -> dict[str, Any] | None:
        return self.answers.pop(0) if self.answers and self.answers[0]["key"] == key else None


def test_an_answer_that_was_cut_short_is_not_kept(setting: Setting) -> None:
    stop = StopFlag()
    lab = Lab(task=setting.task, graph=setting.lab.graph, budget=Budget(stop=stop), memory=Told())

    def ask() -> Iterator[Claim[State]]:
        stop.set()
        yield plan_claim(setting.task.initial_state, search(setting.task, "astar:blind").plan, "o")

    lab.consult("0", ask)
    assert lab.take_answers() == []


def test_impossible_bounds_and_unknown_evidence_are_refused(setting: Setting) -> None:
    start = setting.task.initial_state
    with pytest.raises(UnsoundClaim, match="no value lies between"):
        setting.lab.enter(Claim(start, Bound(5, 3), Exhausted("s", 1), "odd"))

    class Feeling:
        kind = "feeling"

        def as_json(self, bound: Bound, /) -> dict[str, Any]:
            return {}

    with pytest.raises(UnsoundClaim, match="`odd`: evidence of the kind"):
        setting.lab.enter(Claim(start, Bound(1, 3), Feeling(), "odd"))


def test_that_there_are_no_landmarks_is_known_once(setting: Setting) -> None:
    """As in a goal state: the bound of 0 says nothing new, but need not be computed again."""
    goal = setting.task.state(
        [*setting.task.initial_state.facts[:1], "(at parcel b)", *setting.task.initial_state.facts[2:]]
    )
    assert setting.task.is_goal(goal)
    assert setting.lab.claim_landmarks(goal) == Bound()
    known = setting.lab.lower(goal)
    assert known is not None and isinstance(known.evidence, Landmarks)
    setting.lab.claim_landmarks(goal)
    assert setting.lab.lower(goal) is known


def test_a_limit_is_told_with_the_answer_that_met_it_only(setting: Setting) -> None:
    lab = setting.lab
    lab.memory = Told()
    for met in ("a: seconds", "a: seconds", "b: memory"):

        def ask(met: str = met) -> list[Claim[State]]:
            lab.limits_hit.add(met)
            return []

        lab.consult(met, ask)
    told = [answer["limits_hit"] for answer in lab.take_answers()]
    assert told == [["a: seconds"], [], ["b: memory"]]


def test_a_limit_that_was_told_before_a_stop_is_not_told_again(setting: Setting) -> None:
    lab = setting.lab
    lab.memory = Told({"key": "first", "claims": [], "effort": 5.0, "limits_hit": ["a: seconds"]})
    lab.consult("first", lambda: pytest.fail("it was answered before"))
    assert (lab.effort, lab.limits_hit) == (5.0, {"a: seconds"})
    lab.consult("second", list)
    (answer,) = lab.take_answers()
    assert (answer["key"], answer["limits_hit"], answer["effort"]) == ("second", [], 5.0)
