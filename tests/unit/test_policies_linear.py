"""`linear:FILE` and `zoo:NAME`: features by their definition, ties, errors with their place."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from misstep import load, load_sas
from misstep._core import Heuristic, PolicyGraph
from misstep.errors import InputError, PolicyError
from misstep.plugins import make_policy_part
from misstep.policies.linear import FEATURES, FORMAT, ActionFeatures, Linear, LinearPolicy
from misstep.reference import fdr
from misstep.task import Task
from misstep.testing.random_tasks import random_task, random_walk, to_sas
from tests.conftest import COURIER


@pytest.fixture(scope="module")
def task() -> Task:
    return load(*COURIER)


def written(path: Path, weights: Any, **more: Any) -> Any:
    path.write_text(json.dumps({"format": FORMAT, "weights": weights} | more))
    return path


def by_definition(task: Any, state: Any, native: Task) -> Any:
    """The features of each applicable action by its number, from the reference task."""
    heuristic = Heuristic(native, "ff")
    here = native.state_from_values(state)
    relaxed = {action.index for action in heuristic.relaxed_plan(here) or ()}
    ready = [action for at, action in enumerate(task.actions) if at in relaxed and action.applicable(state)]
    rows = {}
    for at, action in enumerate(task.actions):
        if not action.applicable(state):
            continue
        after = action.apply(state)
        reached = [(state[v] == value, after[v] == value) for v, value in task.goal.items()]
        change = heuristic(native.state_from_values(after)), heuristic(here)
        rows[at] = {
            "any": 1,
            "achieves": reached.count((False, True)),
            "destroys": reached.count((True, False)),
            "relaxed": at in relaxed,
            "spoils": sum(not other.applicable(after) for other in ready if other is not action),
            "cost": action.cost,
            "closer": change[0] < change[1],
            "further": change[0] > change[1],
        }
    return rows


@pytest.mark.parametrize("seed", range(60))
def test_features_by_definition(seed: int) -> None:
    rng = random.Random(f"linear {seed}")
    reference = random_task(rng)
    sas = to_sas(reference)
    task, reference = Task(sas, source="random"), fdr.parse(sas)
    states = [reference.initial, *(random_walk(reference, 4, rng) for _ in range(4))]
    found = ActionFeatures(task)(task.batch([task.state_from_values(state) for state in states]))
    for state, (actions, table) in zip(states, found, strict=True):
        expected = by_definition(reference, state, task)
        # The translator splits some actions into several of one name, and so do random tasks.
        names = {at: task.actions[at].name for at in expected}
        assert [action.index for action in actions] == sorted(expected, key=lambda at: (names[at], at))
        assert table.shape == (len(actions), len(FEATURES))
        for action, row in zip(actions, table, strict=True):
            assert dict(zip(FEATURES, row, strict=True)) == expected[action.index]


def test_the_company_of_a_state_changes_nothing(task: Task) -> None:
    policy = make_policy_part("zoo:courier").bind(task)
    states = [task.initial_state, *(state for _, state in task.successors(task.initial_state))]
    together = policy.scores(task.batch(states))
    for state, (actions, scores) in zip(states, together, strict=True):
        ((alone, same),) = policy.scores(task.batch([state]))
        assert alone == actions
        assert np.array_equal(scores, same)
    assert policy(task.batch(states)) == [policy(task.batch([state]))[0] for state in states]
    assert policy(task.batch([])) == []


def test_the_highest_score_wins_and_names_break_ties(task: Task) -> None:
    state = task.batch([task.initial_state])
    indifferent = {schema: {} for schema in ("drive", "load", "unload")}
    names = sorted(action.name for action in task.applicable(task.initial_state))
    assert LinearPolicy(task, indifferent, source="x")(state)[0].name == names[0]
    cheap = indifferent | {"drive": {"cost": -1.0, "any": 5}, "load": {"any": 3.5}}
    assert LinearPolicy(task, cheap, source="x")(state)[0].name == "(drive blue harbour mill)"


def test_no_applicable_action_no_answer(tmp_path: Path) -> None:
    file = tmp_path / "stuck.sas"
    facts = (("(a)", "(b)"),)
    task = fdr.Task(facts, (0,), {0: 1}, (fdr.Action("(go)", {0: 1}, {0: 0}, 1),))
    file.write_text(to_sas(task))
    native = load_sas(file)
    policy = LinearPolicy(native, {"go": {"any": 1.0}}, source="x")
    assert policy(native.batch([native.initial_state])) == [None]


BAD_FILES = {
    "": ":1:1: this is not JSON",
    '{"format":\n  oops}': ":2:3: this is not JSON",
    "[" * 100_000: "this JSON cannot be read",
    "[]": f'`"format": "{FORMAT}"` was expected, not None',
    '{"format": "other"}': "was expected, not 'other'",
    json.dumps({"format": FORMAT}): "its weights are written",
    json.dumps({"format": FORMAT, "weights": {"drive": [1, 2]}}): "its weights are written",
    json.dumps(
        {"format": FORMAT, "weights": {"drive": {"closr": 1}}}
    ): "of `drive`: unknown feature `closr`; did",
    json.dumps(
        {"format": FORMAT, "weights": {"drive": {"cost": "x"}}}
    ): 'weight of `cost` is "x"; write a finite',
    json.dumps({"format": FORMAT, "weights": {"drive": {"cost": True}}}): "weight of `cost` is true",
    json.dumps({"format": FORMAT, "weights": {"drive": {"cost": float("nan")}}}): "weight of `cost` is NaN",
    json.dumps({"format": FORMAT, "weights": {"drive": {"cost": 10**200}}}): "write a finite number",
}


@pytest.mark.parametrize("text", BAD_FILES, ids=lambda text: text[:40])
def test_bad_files(task: Task, tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        Linear(file).bind(task)
    assert str(error.value).startswith(str(file))
    assert BAD_FILES[text] in str(error.value)


def test_files_that_are_not_there(task: Task, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file; a linear policy file was expected"):
        Linear(tmp_path / "none.json").bind(task)
    with pytest.raises(InputError, match="did you mean `courier`"):
        make_policy_part("zoo:curier").bind(task)
    with pytest.raises(InputError, match="needs a value; write `zoo:NAME`"):
        make_policy_part("zoo")


def test_another_domain_is_refused(task: Task, tmp_path: Path) -> None:
    file = written(tmp_path / "w.json", {"drive": {"any": 1}, "board": {}}, extra="is ignored")
    with pytest.raises(PolicyError, match=r"no weights for the action schema `load` .* for board, drive"):
        Linear(file).bind(task)


def test_the_bundled_policy_solves_the_bundled_task(task: Task) -> None:
    policy = make_policy_part("zoo:courier").bind(task)
    (run,) = PolicyGraph(task, policy).run(task.batch([task.initial_state]))
    assert run.outcome == "solved"
