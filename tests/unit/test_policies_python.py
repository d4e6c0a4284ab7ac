"""`python:...`: which code is found, how it is used, and what is said where it does not fit."""

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep import Action, State, StateBatch, Task, load
from misstep._core import HeuristicPolicy, PolicyGraph
from misstep.answers.guard import bind_guarded
from misstep.errors import InputError, PolicyError
from misstep.plugins import make_policy_part
from misstep.policies.python import Python
from misstep.policy import bind_policy, per_state
from tests.conftest import COURIER

CODE = '''
"""Policies of a user."""
import functools
from dataclasses import dataclass

from misstep import Action, State, StateBatch, Task
from misstep._core import HeuristicPolicy
from misstep.policy import per_state
import helper_of_the_policy

def first(state: State) -> Action:
    return state.task.applicable(state)[0]

def text_annotation(one: "State"):
    return first(one)

def dotted_annotation(one: "misstep.State"):
    return first(one)

def many(states: StateBatch):
    return [first(state) for state in states]

def text_batch(all_of_them: "StateBatch"):
    return many(all_of_them)

def by_name(state):
    return first(state)

def by_name_many(states):
    return many(states)

def by_attribute(x):
    return many(x)
by_attribute.takes = "states"

hidden = functools.partial(lambda _, x: first(x), None)
hidden.takes = "state"

@per_state
def decorated(anything):
    return first(anything)

def factory(task, *, depth=3):
    return first

def annotated_factory(for_this: Task):
    return many

def native(task):
    return HeuristicPolicy(task, "ff")

class WithTask:
    best_batch = 7

    def __init__(self, task):
        self.task = task

    def __call__(self, states: StateBatch):
        return [self.task.applicable(state)[0] for state in states]

class WithoutTask:
    def __call__(self, state):
        return first(state)

    def other(self, states):
        return many(states)

@dataclass
class Data:
    task: Task
    takes = "state"

    def __call__(self, x):
        return first(x)

an_object = WithoutTask()

class Space:
    inner = staticmethod(first)

def unclear(x):
    return first(x)

def nothing():
    return None

def two(task, extra):
    return first

async def later(states):
    return many(states)

class Needs:
    def __init__(self, path):
        pass

class Breaks:
    def __init__(self, task):
        raise OSError("no weights")

def makes_nothing(task):
    return None

def wrong_takes(x):
    return first(x)
wrong_takes.takes = "all"

number = 5
'''
WORKING = [
    "first",
    "text_annotation",
    "dotted_annotation",
    "many",
    "text_batch",
    "by_name",
    "by_name_many",
    "by_attribute",
    "hidden",
    "decorated",
    "factory",
    "annotated_factory",
    "WithTask",
    "WithoutTask",
    "Data",
    "an_object",
    "an_object.other",
    "Space.inner",
]


@pytest.fixture(scope="module")
def task() -> Task:
    return load(*COURIER)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A directory with the user's code, and the interpreter's state put back afterwards."""
    (tmp_path / "policies_of_a_user.py").write_text(CODE)
    (tmp_path / "helper_of_the_policy.py").write_text("loaded = []")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if "policy" in name or "user" in name:
            del sys.modules[name]


@pytest.mark.parametrize("name", WORKING)
@pytest.mark.parametrize("place", ["policies_of_a_user", "policies_of_a_user.py", "./policies_of_a_user.py"])
def test_every_form_of_policy(task: Task, here: Path, place: str, name: str) -> None:
    policy: Any = bind_guarded(make_policy_part(f"python:{place}:{name}"), task)
    states = task.batch([task.initial_state, *(s for _, s in task.successors(task.initial_state))])
    assert policy(states) == [task.applicable(state)[0] for state in states]
    assert not policy.failures


def test_batch_size_of_a_class_is_kept(task: Task, here: Path) -> None:
    policy: Any = bind_guarded(Python("policies_of_a_user:WithTask"), task)
    assert policy.best_batch == 7


def test_a_factory_may_give_a_native_policy(task: Task, here: Path) -> None:
    assert isinstance(bind_guarded(Python("policies_of_a_user:native"), task), HeuristicPolicy)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("", "write `python:MODULE:NAME`"),
        ("policies_of_a_user", "write `python:MODULE:NAME`"),
        ("policies_of_a_user:", "write `python:MODULE:NAME`"),
        (":first", "write `python:MODULE:NAME`"),
        ("policies_of_a_user:frist", "has no `frist`; did you mean `first`?"),
        ("policies_of_a_user:Space.outer", "has no `Space.outer`"),
        ("no_such_module_at_all:f", "there is no module `no_such_module_at_all`"),
        ("policies_of_a_user.sub:f", "policies_of_a_user.sub"),
        ("not-a-module:f", "is no module name"),
        ("missing.py:f", "missing.py: cannot read the policy's code: No such file"),
        ("policies_of_a_user:unclear", "does its parameter `x` stand for one state or many? annotate it"),
        ("policies_of_a_user:nothing", "shows no first parameter"),
        ("policies_of_a_user:two", "missing a required argument: 'extra'"),
        ("policies_of_a_user:later", "is a coroutine"),
        ("policies_of_a_user:Needs", "missing a required argument: 'path'"),
        ("policies_of_a_user:Breaks", "making it failed: OSError: no weights (policies_of_a_user.py:"),
        ("policies_of_a_user:makes_nothing", "is a NoneType, which cannot be called"),
        ("policies_of_a_user:number", "is a int, which cannot be called"),
        ("policies_of_a_user:wrong_takes", "`takes` is 'all'; it is 'state' or 'states'"),
        ("policies_of_a_user:dataclass", "one state or many"),
    ],
)
def test_mistakes(task: Task, here: Path, target: str, words: str) -> None:
    with pytest.raises((InputError, PolicyError)) as caught:
        Python(target).bind(task)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("1 +", "SyntaxError"),
        ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("x = 1\nraise ValueError('boom')", "ValueError: boom (broken_user.py:2)"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
    ],
)
@pytest.mark.parametrize("place", ["broken_user", "broken_user.py"])
def test_code_that_cannot_be_imported(task: Task, here: Path, place: str, code: str, words: str) -> None:
    (here / "broken_user.py").write_text(code)
    with pytest.raises(PolicyError) as caught:
        Python(f"{place}:f").bind(task)
    assert "importing the policy failed" in str(caught.value)
    assert words in str(caught.value)


def test_a_file_is_run_once_and_again_when_it_changed(task: Task, here: Path) -> None:
    path = here / "counting_user.py"
    path.write_text("import helper_of_the_policy as h\nh.loaded.append(1)\ndef f(state): return None\n")
    for _ in range(2):
        Python(f"{path}:f").bind(task)
    import helper_of_the_policy

    assert helper_of_the_policy.loaded == [1]
    path.write_text(path.read_text().replace("append(1)", "append(2)"))
    import os

    os.utime(path, ns=(1, 1))
    Python(f"{path}:f").bind(task)
    assert helper_of_the_policy.loaded == [1, 2]


def test_neighbours_hide_nothing_that_is_installed(task: Task, here: Path) -> None:
    (here / "numpy.py").write_text("raise SystemExit('the wrong numpy')")
    (here / "json.py").write_text("raise SystemExit('the wrong json')")
    (here / "careful_user.py").write_text("import json, numpy\njson.dumps, numpy.zeros\ndef f(state): pass\n")
    Python("careful_user:f").bind(task)
    assert sys.path[-1] == str(here)


def test_it_runs(task: Task, here: Path) -> None:
    code = """
        def greedy(state):
            task = state.task
            return min(task.successors(state), key=lambda pair: (len(task.goal), pair[0].index))[0]
    """
    (here / "running_user.py").write_text(textwrap.dedent(code))
    policy = bind_guarded(Python("running_user:greedy"), task)
    (run,) = PolicyGraph(task, policy).run(task.batch([task.initial_state]))
    assert run.outcome in ("loop", "solved", "dead-end")


def of_one(state: State) -> Action:
    task: Any = state.task
    first: Action = task.applicable(state)[0]
    return first


def named_state(state):  # type: ignore[no-untyped-def]
    return of_one(state)


class OfOne:
    takes = "state"
    best_batch = 7

    def __call__(self, anything: Any) -> Action:
        return of_one(anything)


def unsaid(one):  # type: ignore[no-untyped-def]
    return of_one(one)


def of_many(states: StateBatch) -> list[Action]:
    return [of_one(state) for state in states]


@pytest.mark.parametrize("policy", [of_one, named_state, OfOne(), of_many, per_state(unsaid)])
def test_the_library_takes_what_the_command_line_takes(task: Task, policy: Any) -> None:
    batch = task.batch([task.initial_state] * 2)
    bound = bind_policy(policy, task)
    assert list(bound(batch)) == [of_one(task.initial_state)] * 2
    assert getattr(bound, "best_batch", None) == getattr(policy, "best_batch", None)


def test_a_function_of_one_state_that_does_not_say_so_is_named(task: Task) -> None:
    for policy in (unsaid, lambda one: "(nonsense)"):
        report = misstep.test(task, policy, pool=3)
        assert report.failed == 3
        assert "if it is a function of one state, lift it with misstep.per_state" in repr(report)
