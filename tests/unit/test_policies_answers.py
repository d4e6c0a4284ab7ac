"""Answers: names, probabilities by choice, and the texts of policies with options."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import misstep
from misstep import load
from misstep._core import HeuristicPolicy, PolicyGraph
from misstep.answers.answer import ActionNames, BadAnswer, likeliest, read_answer
from misstep.answers.guard import Guard, bind_guarded, reason_of_run
from misstep.errors import InputError
from misstep.plugins import make_policy_part, split_options
from misstep.policies.python import Python
from misstep.policies.torch import Torch
from misstep.policy import argmax, per_state
from misstep.task import Task
from tests.conftest import COURIER


@pytest.fixture(scope="module")
def task() -> Task:
    return load(*COURIER)


def read(task: Task, answer: Any, how: Any = read_answer) -> Any:
    return how(answer, task.initial_state, ActionNames(task))


# Two actions of one name with different preconditions, as the translator makes them of disjunctions.
SPLIT = """begin_version
3
end_version
begin_metric
0
end_metric
1
begin_variable
var0
-1
3
Atom at(a)
Atom at(b)
Atom at(c)
end_variable
0
begin_state
1
end_state
begin_goal
1
0 2
end_goal
2
begin_operator
go
0
1
0 0 0 2
1
end_operator
begin_operator
go
0
1
0 0 1 2
1
end_operator
0
"""


def test_of_several_actions_of_one_name_the_applicable_one_counts() -> None:
    task = Task(SPLIT)
    names = ActionNames(task)
    assert len({action.name for action in task.actions}) == 1 and len(task.actions) == 2
    for values, index in (([0], 0), ([1], 1), ([2], 0)):
        assert names.find("GO", task.state_from_values(values)) == task.actions[index]


def test_probabilities_need_a_choice(task: Task) -> None:
    answer = {task.actions[0]: 0.5, task.actions[1]: 0.5}
    refused = read(task, answer)
    assert refused.outcome == "failed"
    assert "`python:FILE.py:NAME,argmax=true`" in refused.reason and "misstep.argmax" in refused.reason


def test_the_likeliest_action(task: Task) -> None:
    a, b, c = task.actions[5], task.actions[3], task.actions[9]
    for answer, expected in (
        ({a: 0.2, b: 0.5, c: 0.3}, b),
        ({a: 0.4, b: 0.4, c: 0.2}, b),
        ({c: 0.4, a: 0.4, b: 0.2}, a),
        ({a.name: 0.9, b.name.upper(): 0.1}, a),
        ({a: 0.3, a.name: 0.3, b: 0.4}, a),
        ({a: np.float32(0.25), b: np.array(0.75)}, b),
        ({a: 1}, a),
        ({a: 0.0, b: 0.0}, None),
        ({}, None),
        (None, None),
        (c, c),
        (c.name, c),
    ):
        assert read(task, answer, likeliest) == expected


@pytest.mark.parametrize("value", [math.nan, -0.1, 1.1, math.inf, "0.5", None, True, [0.5, 0.5]])
def test_numbers_that_are_no_probabilities(task: Task, value: Any) -> None:
    answer = read(task, {task.actions[0]: 0.1, task.actions[1]: value}, likeliest)
    assert answer.outcome == "failed"
    assert "a number from 0 to 1" in answer.reason


def test_probabilities_of_what_is_no_action(task: Task) -> None:
    assert read(task, {3: 0.5, task.actions[0]: 0.2}, likeliest).outcome == "failed"
    assert read(task, {None: 0.5}, likeliest).outcome == "failed"
    assert read(task, {"fly": 0.5, task.actions[0]: 0.2}, likeliest).outcome == "illegal"
    assert read(task, {"fly": 0.5, task.actions[0]: 0.5}, likeliest) == task.actions[0]


def soft(task: Task) -> Any:
    """The heuristic's choice with most of the probability, the others share the rest."""
    greedy = HeuristicPolicy(task, "ff")

    def policy(states: Any) -> Any:
        answers = []
        for state, best in zip(states, greedy(states), strict=True):
            actions = task.applicable(state)
            answers.append({action.name: 0.6 if action == best else 0.4 / len(actions) for action in actions})
        return answers

    return policy


def test_a_stochastic_policy_is_tested_as_its_argmax(task: Task) -> None:
    start = task.batch([task.initial_state])
    (expected,) = PolicyGraph(task, HeuristicPolicy(task, "ff")).run(start)
    (run,) = PolicyGraph(task, Guard(misstep.argmax(soft(task)), task)).run(start)
    assert (run.outcome, run.actions) == (expected.outcome, expected.actions)
    (run,) = PolicyGraph(task, guard := Guard(soft(task), task)).run(start)
    assert run.outcome == "failed" and "argmax=true" in reason_of_run(guard, run)
    with pytest.raises(InputError, match="native policy gives no probabilities"):
        argmax(HeuristicPolicy(task, "ff"))


@pytest.mark.parametrize("whole", [None, {}, "text", [], [None, None], iter([None] * 9)])
def test_wrong_lists_of_probabilities_are_failed(task: Task, whole: Any) -> None:
    guard = Guard(argmax(lambda states: whole), task)
    (answer,) = guard(task.batch([task.initial_state]))
    assert isinstance(answer, BadAnswer) and answer.outcome == "failed"


def test_the_option_of_python_policies(task: Task, tmp_path: Path) -> None:
    file = tmp_path / "mine,seed=3.py"
    file.write_text(
        "def choose(state):\n"
        "    names = [action.name for action in state.task.applicable(state)]\n"
        "    return {name: (at + 1) / 100 for at, name in enumerate(names)}\n"
        "choose.best_batch = 3\n"
    )
    part = make_policy_part(f"python:{file}:choose,argmax=true")
    assert part == Python(f"{file}:choose", argmax=True)
    policy: Any = bind_guarded(part, task)
    assert policy.best_batch == 3
    assert policy(task.batch([task.initial_state])) == [task.applicable(task.initial_state)[-1]]
    (answer,) = bind_guarded(make_policy_part(f"python:{file}:choose"), task)(
        task.batch([task.initial_state])
    )
    assert "argmax=true" in answer.reason


@pytest.mark.parametrize(
    ("text", "file", "options"),
    [
        ("net.pt", "net.pt", {}),
        ("net.pt,activation=tanh", "net.pt", {"activation": "tanh"}),
        ("a,b=c.pt,activation=tanh", "a,b=c.pt", {"activation": "tanh"}),
        ("epoch=3,activation=x.pt", "epoch=3", {"activation": "x.pt"}),
        ("net.pt,other=1", "net.pt,other=1", {}),
        ("net.pt,other=1,activation=elu", "net.pt,other=1", {"activation": "elu"}),
        ("net.pt,activation=elu,other=1", "net.pt,activation=elu,other=1", {}),
        ("net.pt,max-seconds=3,activation= elu ", "net.pt", {"max_seconds": "3", "activation": "elu"}),
        ("activation=elu", "activation=elu", {}),
        ("", "", {}),
    ],
)
def test_options_after_a_file(text: str, file: str, options: dict[str, Any]) -> None:
    assert split_options(text, ["activation", "max_seconds"], where="x") == (file, options)


def test_texts_of_policies_with_options() -> None:
    assert make_policy_part("torch:x,y.pt,activation=leaky-relu") == Torch(
        make_policy_part("torch:x,y.pt").file, "leaky-relu"
    )
    with pytest.raises(InputError, match=r"`tanhh` is not one of relu, tanh, .*tanh"):
        make_policy_part("torch:x.pt,activation=tanhh")
    with pytest.raises(InputError, match="given twice"):
        make_policy_part("torch:x.pt,activation=tanh,activation=relu")
    with pytest.raises(InputError, match="neither true nor false"):
        make_policy_part("python:x:y,argmax=maybe")
    assert [field.name for field in dataclasses.fields(Torch)] == ["file", "activation"]


def test_per_state_policies_may_answer_with_names(task: Task) -> None:
    by_name: Any = lambda state: task.applicable(state)[0].name  # noqa: E731
    guard = Guard(per_state(by_name), task)
    assert guard(task.batch([task.initial_state])) == [task.applicable(task.initial_state)[0]]


def test_a_graph_takes_names_as_tests_do(task: Task) -> None:
    """Names made every run `failed` at its first step."""
    start = task.batch([task.initial_state])
    greedy = HeuristicPolicy(task, "ff")
    (expected,) = PolicyGraph(task, greedy).run(start)
    for written in (str, str.upper, lambda name: name.strip("()"), lambda name: f"  {name}  "):

        def named(states: Any, written: Any = written) -> Any:
            return [None if best is None else written(best.name) for best in greedy(states)]

        (run,) = PolicyGraph(task, named).run(start)
        assert (run.outcome, run.actions) == (expected.outcome, expected.actions) and run.steps > 1
    first = str(task.applicable(task.initial_state)[0])
    (run,) = PolicyGraph(task, per_state(lambda state: first)).run(start)
    assert run.outcome == "illegal" and run.steps == 1 and run.answer is not None and run.answer.name == first
    given: list[tuple[Any, str]] = [
        ("fly away", "illegal"),
        ("", "illegal"),
        (None, "stuck"),
        (0, "failed"),
        (b"x", "failed"),
    ]
    for answer, outcome in given:

        def same(states: Any, answer: Any = answer) -> Any:
            return [answer] * len(states)

        for policy in (same, Guard(same, task)):
            (run,) = PolicyGraph(task, policy).run(start)
            assert run.outcome == outcome


def test_a_name_in_a_graph_is_the_action_that_applies(tmp_path: Path) -> None:
    """Where the translator split an action, its name stands for the one that applies."""
    split = Task(SPLIT)
    same = [action for action in split.actions if action.name == split.actions[0].name]
    assert len(same) == 2
    (run,) = PolicyGraph(split, lambda states: [same[0].name] * len(states)).run(
        split.batch([split.initial_state])
    )
    assert run.steps >= 1 and run.actions[0] in split.applicable(split.initial_state)


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("policy", "courier", "did you mean `zoo:courier`"),
        ("policy", "ferri", "did you mean `zoo:ferry`"),
        ("policy", "asnett", "did you mean `asnet`"),
        ("policy", "nothing-like-it", "known: asnet"),
        ("safety-policy", "two_way_line", "did you mean `zoo:two_way_line`"),
        ("safety-policy", "zooo", "did you mean `zoo`"),
    ],
)
def test_policies_of_the_zoo_are_suggested(kind: str, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make_policy_part(text, kind=kind)


def test_a_file_without_its_kind_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.asnet"
    file.touch()
    with pytest.raises(
        InputError, match=r"mine\.asnet` is a file: write KIND:.*mine\.asnet, where KIND is one of asnet"
    ):
        make_policy_part(str(file))
