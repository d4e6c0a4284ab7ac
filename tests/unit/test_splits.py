"""An action with an `or` is several operators of one name: every way to answer means the one that applies."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep import State, StateBatch
from misstep._core import Action
from misstep.answers.answer import BadAnswer
from misstep.answers.guard import guarded, reason_of_run
from misstep.record.verify import verify_record
from misstep.reference import fdr
from misstep.remote.client import _likeliest
from misstep.remote.correspondence import Correspondence
from misstep.task import actions_named
from misstep.testing.random_tasks import to_sas
from misstep.training.bug_labels import BugLabels
from misstep.training.episodes import Episodes
from misstep.training.labels import only_good

DOMAIN = """(define (domain d) (:requirements :strips :disjunctive-preconditions)
 (:predicates (p) (q) (r) (g) (h))
 (:action sw :parameters () :precondition (p) :effect (and (not (p)) (q)))
 (:action ws :parameters () :precondition (q) :effect (and (not (q)) (p)))
 (:action stop :parameters () :precondition (h) :effect (and (not (p)) (not (q)) (r)))
 (:action rest :parameters () :precondition (r) :effect (p))
 (:action go :parameters () :precondition (or (p) (q)) :effect (g)))"""
PROBLEM = "(define (problem x) (:domain d) (:init (p) (h)) (:goal (g)))"


@pytest.fixture(scope="module")
def task() -> misstep.Task:
    return misstep.load(DOMAIN, PROBLEM)


def splits(task: misstep.Task, state: State) -> tuple[Action, Action]:
    """The split that applies in a state, and the other one."""
    both = [action for action in task.actions if action.name == "(go)"]
    (right,) = (action for action in both if action in task.applicable(state))
    (wrong,) = (action for action in both if action != right)
    return right, wrong


def states(task: misstep.Task) -> list[State]:
    """With p, with q, with neither."""
    first = task.initial_state
    return [first, task.apply(first, task.action("(sw)")), task.apply(first, task.action("(stop)"))]


def always(answer: Action, _: State) -> Action:
    return answer


def test_what_is_meant(task: misstep.Task) -> None:
    assert task.has_splits and set(task.splits) == {"(go)"}
    with_p, with_q, neither = states(task)
    for state in (with_p, with_q):
        right, wrong = splits(task, state)
        assert task.meant(state, wrong) == task.meant(state, right) == right
    lowest = min((action for action in task.actions if action.name == "(go)"), key=lambda each: each.index)
    assert all(task.meant(neither, action) == lowest for action in splits(task, with_p))
    assert task.meant(with_p, task.action("(ws)")) == task.action(
        "(ws)"
    )  # alone of its name, if not applicable


def test_of_several_that_apply_it_is_the_first() -> None:
    """In any order of asking; they do the same, or they would have names of their own."""
    steps = [fdr.Action("(go)", {at: 0}, {2: 1}, 1) for at in (0, 1, 0)]
    facts = tuple((f"(at {variable} 0)", f"(at {variable} 1)") for variable in range(3))
    task = misstep.Task(to_sas(fdr.Task(facts, (0, 0, 0), {2: 1}, tuple(steps))))
    assert [task.meant(task.initial_state, action).index for action in task.actions] == [0, 0, 0]
    assert [task.meant(task.state_from_values([1, 0, 0]), action).index for action in task.actions] == [1] * 3


@pytest.mark.parametrize("answer", ["action", "name", "argmax", "stateful"])
@pytest.mark.parametrize("is_guarded", [True, False])
def test_a_policy_that_answers_with_the_other_split(
    task: misstep.Task, answer: str, is_guarded: bool
) -> None:
    asked = 0

    def choose(state: State) -> Any:
        nonlocal asked
        asked += 1
        right, wrong = splits(task, state)
        if answer == "argmax":  # together they are likelier than what else applies
            return {wrong: 0.35, right: 0.25, task.applicable(state)[0]: 0.4}
        split = right if answer == "stateful" and asked % 2 else wrong
        return "( GO )" if answer == "name" and is_guarded else split

    policy: Any = misstep.per_state(choose)
    policy = misstep.argmax(policy) if answer == "argmax" else policy
    policy = guarded(policy, task) if is_guarded else policy
    graph = misstep.PolicyGraph(task, policy)
    runs = graph.run(task.batch(states(task)[:2]))
    assert [(run.outcome, run.spent) for run in runs] == [("solved", 1), ("solved", 1)]
    assert [run.actions[0] for run in runs] == [splits(task, run.states[0])[0] for run in runs]


def test_where_no_split_applies_all_are_named(task: misstep.Task) -> None:
    neither, reason = states(task)[2], "which is not applicable: (p); nor (q) does not hold"
    for action in splits(task, task.initial_state):
        policy = guarded(misstep.per_state(partial(always, action)), task)
        (run,) = misstep.PolicyGraph(task, policy).run(task.batch([neither]))
        assert run.outcome == "illegal" and run.answer == task.action("(go)")
        assert reason in str(reason_of_run(policy, run))


@pytest.mark.parametrize("isolate", [True, False])
def test_the_published_repro(tmp_path: Path, isolate: bool) -> None:
    """Two states, solved in one step by PDDL; they were called bugs, with certificates that are refused."""
    (tmp_path / "domain.pddl").write_text(DOMAIN.replace("(:action stop", "; (:action stop", 1))
    (tmp_path / "problem.pddl").write_text(PROBLEM.replace(" (h)", ""))
    (tmp_path / "policy.py").write_text(
        "def make(task):\n"
        "    gos = [a for a in task.actions if a.name == '(go)']\n"
        "    def choose(state):\n"
        "        applicable = {a.index for a in task.applicable(state)}\n"
        "        return next((a for a in gos if a.index not in applicable), gos[0])\n"
        "    choose.takes = 'state'\n"
        "    return choose\n"
    )
    files = (tmp_path / "domain.pddl", tmp_path / "problem.pddl")
    report = misstep.test(files, f"python:{tmp_path}/policy.py:make", pool=5, isolate=isolate)
    assert len(report.tally.judged) == report.cleared == 2
    found = verify_record(report.record)
    assert found.is_sound and found.valid == 2


def test_many_splits_have_one_name() -> None:
    """`exists` over 70 objects: beyond the 64th they were told apart, and their name meant the others only."""
    things = " ".join(f"o{number}" for number in range(70))
    domain = """(define (domain d) (:requirements :adl) (:types thing) (:predicates (on ?x - thing) (g))
     (:action go :parameters (?y - thing) :precondition (exists (?x - thing) (on ?x)) :effect (and (g) (on ?y)))
     (:action pass :parameters (?x ?y - thing) :precondition (on ?x) :effect (and (not (on ?x)) (on ?y))))"""
    problem = f"(define (problem x) (:domain d) (:objects {things} - thing) (:init (on o69)) (:goal (g)))"
    task = misstep.load(domain, problem)
    assert sum(action.name == "(go o1)" for action in task.actions) == 70
    assert not any("#" in action.name for action in task.actions)
    report = misstep.test(task, misstep.per_state(lambda _: "(go o1)"), pool=3)
    assert report.cleared == len(report.tally.judged) == 3


def test_operators_that_do_different_things_are_told_apart() -> None:
    """A SAS file of somebody else may call any operators alike; 200 of them, of which one costs more."""
    facts = tuple((f"(at {variable} 0)", f"(at {variable} 1)") for variable in range(3))
    steps = [fdr.Action("(go)", {at % 2: at // 2 % 2}, {2: 1}, 1 + (at == 150)) for at in range(200)]
    task = misstep.Task(to_sas(fdr.Task(facts, (0, 0, 0), {2: 1}, tuple(steps))))
    assert [action.name for action in task.actions if action.name != "(go)"] == ["(go #150)"]


def test_an_operator_number_of_a_server(task: misstep.Task) -> None:
    """Where the server has the same task, and where it has another translation of it."""
    moved = misstep.Task(
        to_sas(
            fdr.Task(
                (parsed := fdr.parse(task.sas)).facts,
                parsed.initial,
                parsed.goal,
                tuple(reversed(parsed.actions)),
            )
        )
    )
    for there in (task, moved):
        mapping = Correspondence(task, there, source="x")
        for state in states(task)[:2]:
            right, _ = splits(task, state)
            for operator in (action.index for action in there.actions if action.name == "(go)"):
                answer = mapping.action(state, operator)
                assert isinstance(answer, Action) and task.meant(state, answer) == right


def test_probabilities_of_splits_count_together() -> None:
    shares = [(0, 0.3), (1, 0.4), (2, 0.3)]
    assert _likeliest(shares, ["(go)", "(sw)", "(go)"]) == 0
    assert _likeliest(shares, []) == 1
    assert _likeliest([(2, 0.5), (7, 0.6)], ["(go)", "(sw)", "(go)"]) == 7  # no operator: illegal later
    assert _likeliest([], ["(go)"]) is None
    assert isinstance(_likeliest([(0, float("nan"))], ["(go)"]), BadAnswer)


def test_an_episode_takes_the_split_that_applies(task: misstep.Task) -> None:
    for state in states(task)[:2]:
        for action in splits(task, state):
            episode = Episodes(task, starts=[state])
            assert episode.step(action.index) == (10.0 - 1, True) and episode.cost == 1


def test_all_splits_of_a_good_action_are_good() -> None:
    facts = tuple((f"(at {variable} 0)", f"(at {variable} 1)") for variable in range(3))
    steps = [
        *(fdr.Action("(go)", {at: 0}, {2: 1}, 1) for at in (0, 1)),
        fdr.Action("(stay)", {0: 0}, {0: 1}, 1),
    ]
    task = misstep.Task(to_sas(fdr.Task(facts, (0, 0, 0), {2: 1}, tuple(steps))))
    stay = task.action("(stay)").index
    wanted = [(0, 0.0), (1, 0.0), (stay, float("inf"))]
    assert only_good(task, task.initial_state, task.actions[0]).regrets == wanted
    rule = BugLabels("plan", task, ["astar"], 100)
    (sample,) = rule.of_bug(task.initial_state, plan=["(go)"], run=[])
    assert sample.regrets == wanted


def test_plans_by_name(task: misstep.Task) -> None:
    found = actions_named(task, task.initial_state, ["(sw)", "(go)"])
    assert found[1] == splits(task, states(task)[1])[0]


def test_a_native_policy_answers_with_what_applies(task: misstep.Task) -> None:
    batch: StateBatch = task.batch(states(task)[:2])
    for state, answer in zip(batch, misstep._core.HeuristicPolicy(task, "ff")(batch), strict=True):
        assert answer == splits(task, state)[0]
