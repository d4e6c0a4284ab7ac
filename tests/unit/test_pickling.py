"""Tasks, states, actions and batches survive pickling, copying and other processes, and say what they are."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from misstep import State, StateBatch, load, load_sas
from misstep import _core as core
from misstep.errors import InputError
from misstep.task import Task
from misstep.testing.random_tasks import random_sas
from tests.conftest import COURIER


@pytest.fixture(scope="module")
def task() -> Task:
    return load(*COURIER)


def states_of(task: Task) -> list[Any]:
    return [task.initial_state, *(state for _, state in task.successors(task.initial_state))]


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_round_trip(task: Task, protocol: int) -> None:
    states = states_of(task)
    content = (task, states, list(task.actions), task.batch(states))
    again, again_states, actions, batch = pickle.loads(pickle.dumps(content, protocol=protocol))
    assert type(again) is Task and again is not task
    assert again == task and hash(again) == hash(task) and again.sas == task.sas
    assert (again.source, again.warnings, again.name) == (task.source, task.warnings, task.name)
    assert again.problem.objects == task.problem.objects and again.problem.goal == task.problem.goal
    assert again.pddl.static_atoms == task.pddl.static_atoms
    assert again_states == states and set(again_states) == set(states)
    assert actions == list(task.actions) and set(actions) == set(task.actions)
    assert type(batch) is StateBatch and np.array_equal(batch.values, task.batch(states).values)
    assert all(thing.task is again for thing in (*again_states, *actions, batch)), "one task for all"
    assert again.apply(again_states[0], actions[again.applicable(again_states[0])[0].index]) in again_states
    assert task.is_goal(again_states[0]) is False, "they can be used with the first task too"


def test_each_alone(task: Task) -> None:
    state, action = states_of(task)[1], task.actions[3]
    assert pickle.loads(pickle.dumps(state)) == state
    assert pickle.loads(pickle.dumps(action)) == action
    assert pickle.loads(pickle.dumps(action)).name == action.name
    empty = pickle.loads(pickle.dumps(task.batch([])))
    assert len(empty) == 0 and empty.values.shape == (0, task.num_variables)


def test_many_states_cost_one_task(task: Task) -> None:
    one, many = (len(pickle.dumps(states_of(task)[:1] * 1 + states)) for states in ([], states_of(task)))
    assert many - one < 200 * len(states_of(task))


def test_tasks_from_sas(task: Task, tmp_path: Path) -> None:
    (tmp_path / "courier.sas").write_text(task.sas)
    sas = load_sas(tmp_path / "courier.sas")
    again = pickle.loads(pickle.dumps(sas))
    assert again == sas == task, "tasks are what their SAS text says"
    assert again.problem is None and again.source == sas.source
    assert load(*COURIER, unit_cost=True) != task
    native = core.Task(task.sas)
    assert pickle.loads(pickle.dumps(native)) == native
    assert task != "courier" and task is not None


@pytest.mark.parametrize("seed", range(60))
def test_random_tasks(seed: int) -> None:
    """The text that a task writes is a fixed point, so tasks stay equal however often they travel."""
    task = Task(random_sas(seed))
    again = pickle.loads(pickle.dumps(task))
    assert again == task and again.sas == task.sas
    assert pickle.loads(pickle.dumps(task.initial_state)) == task.initial_state


def test_copies_are_the_thing_itself(task: Task) -> None:
    state, action = task.initial_state, task.actions[0]
    for thing in (task, state, action):
        assert copy.copy(thing) is thing
        assert copy.deepcopy(thing) is thing
    assert copy.deepcopy({"states": [state, state]})["states"][0] is state
    batch = task.batch([state])
    copied = copy.deepcopy(batch)
    assert np.array_equal(copied.values, batch.values) and copied.task is task


CHILD = """
import pickle, sys
task, states, action = pickle.load(sys.stdin.buffer)
assert states[0].task is task and action.task is task
reached = [task.apply(states[0], applicable) for applicable in task.applicable(states[0])]
assert set(reached) >= set(states[1:])
pickle.dump((repr(task), reached, task.pddl.objects, action), sys.stdout.buffer)
"""


def test_other_processes(task: Task) -> None:
    states = states_of(task)
    ended = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=pickle.dumps((task, states, task.actions[7])),
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )
    shown, reached, objects, action = pickle.loads(ended.stdout)
    assert shown == repr(task)
    assert reached == states[1:]
    assert objects == task.pddl.objects
    assert action == task.actions[7]


def test_damaged_pickles_are_refused(task: Task) -> None:
    for values in ([], [99] * task.num_variables, [-1] * task.num_variables):
        with pytest.raises(InputError):
            State.__new__(State).__setstate__((task, values))
    with pytest.raises(InputError, match="not of its task"):
        core.Action.__new__(core.Action).__setstate__((task, len(task.actions)))


def test_what_is_shown(task: Task) -> None:
    assert repr(task) == "<Task courier-1: 64 actions, 7 variables>"
    first = ", ".join(f"'{fact}'" for fact in task.initial_state.facts[:6])
    assert repr(task.initial_state) == f"State({first}, ... 1 more)"
    action = task.actions[0]
    assert repr(action) == f"Action('{action.name}', cost={action.cost})"
    batch = task.batch(states_of(task))
    assert repr(batch) == f"<StateBatch: {len(batch)} states of {task!r}>"


def test_long_states_are_shortened() -> None:
    variables = "".join(
        f"begin_variable\nvar{v}\n-1\n2\nAtom p(x{v})\nNegatedAtom p(x{v})\nend_variable\n" for v in range(9)
    )
    text = (
        f"begin_version\n3\nend_version\nbegin_metric\n0\nend_metric\n9\n{variables}0\nbegin_state\n"
        + "0\n" * 9
        + "end_state\nbegin_goal\n1\n0 1\nend_goal\n1\nbegin_operator\ngo\n0\n1\n0 0 0 1\n"
        + "1\nend_operator\n0\n"
    )
    task = Task(text, source="many.sas")
    shown = ", ".join(f"'(p x{v})'" for v in range(6))
    assert repr(task.initial_state) == f"State({shown}, ... 3 more)"
    assert repr(task) == "<Task many: 1 actions, 9 variables>"
