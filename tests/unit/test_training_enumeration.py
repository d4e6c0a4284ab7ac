"""Enumerated state spaces against brute force in Python, and what becomes of them as samples."""

from pathlib import Path

import pytest

import misstep
from misstep._core import enumerate_states
from misstep.training.asnet_config import AsnetConfig
from misstep.training.asnet_data import make_data
from misstep.training.asnet_init import initial_model

TASKS = Path(__file__).parents[1] / "tasks"


def load(domain: str, problem: str, *, unit_cost: bool = False) -> misstep.Task:
    return misstep.load(
        TASKS / domain / "domain.pddl", TASKS / domain / f"{problem}.pddl", unit_cost=unit_cost
    )


def brute_force(task: misstep.Task) -> dict[misstep.State, float]:
    """Every reachable state with the cost of its best plan, by sweeping until nothing changes."""
    values = {task.initial_state: float("inf")}
    todo = [task.initial_state]
    while todo:
        for _, successor in task.successors(todo.pop()):
            if successor not in values:
                values[successor] = float("inf")
                todo.append(successor)
    for state in values:
        if task.is_goal(state):
            values[state] = 0.0
    changed = True
    while changed:
        changed = False
        for state, old in values.items():
            new = min((a.cost + values[s] for a, s in task.successors(state)), default=float("inf"))
            if not task.is_goal(state) and new < old:
                values[state] = new
                changed = True
    return values


@pytest.mark.parametrize(
    ("domain", "problem"), [("gripper", "p01"), ("spanner", "p01"), ("transport", "p01"), ("tyre", "p01")]
)
def test_values_and_regrets(domain: str, problem: str) -> None:
    task = load(domain, problem)
    expected = brute_force(task)
    found = enumerate_states(task, max_states=len(expected))
    assert found.complete
    assert len(found) == len(expected)
    assert found.state(0) == task.initial_state
    for number, value in enumerate(found.values()):
        state = found.state(number)
        assert value == expected[state]
        if 0 < value < float("inf"):
            regrets = {(a.index, regret) for a, regret in found.regrets(number)}
            assert regrets == {(a.index, a.cost + expected[s] - value) for a, s in task.successors(state)}


def test_too_many_states_give_nothing() -> None:
    task = load("gripper", "p01")
    count = len(brute_force(task))
    assert not enumerate_states(task, max_states=count - 1).complete
    view = task.pddl
    assert view is not None
    model = initial_model(view, hidden=8, layers=1, init="xavier", seed=0)
    data = make_data(model, [task], (), AsnetConfig(threads=1))
    assert data.trainer.add_state_space(0, max_states=count - 1, max_samples=10, seed=0) is None
    assert data.trainer.num_samples(0) == 0
    assert data.trainer.add_state_space(0, max_states=count, max_samples=4, seed=0) == 4
    assert data.trainer.num_samples(0) == 4


def test_samples_are_solvable_states_that_are_no_goals() -> None:
    task = load("spanner", "p01")
    wanted = sum(0 < value < float("inf") for value in brute_force(task).values())
    view = task.pddl
    assert view is not None
    model = initial_model(view, hidden=8, layers=1, init="xavier", seed=0)
    data = make_data(model, [task], (), AsnetConfig(threads=1))
    assert data.trainer.add_state_space(0, max_states=10**6, max_samples=10**6, seed=0) == wanted
