"""Training by imitation: random problems, the perceptron, and the shipped policy byte for byte."""

import random
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from misstep import search
from misstep.errors import InputError
from misstep.policies.linear import FEATURES, LinearPolicy
from misstep.training.courier import CourierSizes, courier_problem
from misstep.training.imitation import Example, courier_tasks, examples, main, train


@pytest.fixture(scope="module")
def tasks() -> Any:
    return list(courier_tasks(4, CourierSizes(), seed=5))


def test_random_problems_are_solvable_and_repeatable(tasks: Any) -> None:
    for task in tasks:
        result = search(task, "astar:lmcut")
        assert result.outcome == "solved"
        assert result.plan  # every parcel has to go somewhere else
    texts = [courier_problem(random.Random(seed), CourierSizes()) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_examples_are_the_decisions_of_an_optimal_plan(tasks: Any) -> None:
    for task in tasks:
        shown = examples(task)
        plan = search(task, "astar:lmcut").plan
        assert [example.schemas[example.taken] for example in shown] == [
            action.name.strip("()").split()[0] for action in plan
        ]
    assert examples(tasks[0], max_expansions=0) == []


def test_the_perceptron_learns_what_can_be_separated() -> None:
    rng = random.Random(0)
    hidden = np.array([[rng.randint(-3, 3) for _ in FEATURES] for _ in range(2)])
    given = []
    while len(given) < 200:
        schemas = [rng.randrange(2) for _ in range(5)]
        features = np.array([[float(rng.randint(0, 3)) for _ in FEATURES] for _ in schemas])
        scores = (hidden[schemas] * features).sum(axis=1)
        best, second = sorted(scores)[-1], sorted(scores)[-2]
        if best > second + 2:
            given.append(Example(tuple(f"s{s}" for s in schemas), features, int(scores.argmax())))
    trained = train(given, epochs=60, seed=1)
    assert trained.agreement == 1
    assert trained == train(given, epochs=60, seed=1)
    assert trained.weights != train(given, epochs=60, seed=2).weights


def test_agreement_is_what_the_policy_does(tasks: Any) -> None:
    trained = train([example for task in tasks for example in examples(task)], epochs=5)
    same = total = 0
    for task in tasks:
        policy = LinearPolicy(task, trained.weights, source="trained")
        state = task.initial_state
        for action in search(task, "astar:lmcut").plan:
            same += policy(task.batch([state])) == [action]
            total += 1
            state = task.apply(state, action)
    assert trained.agreement == round(same / total, 3)


def test_nothing_to_learn_from() -> None:
    with pytest.raises(InputError, match="nothing to learn from"):
        train([])


def test_the_shipped_policy_is_made_again_byte_for_byte(tmp_path: Path) -> None:
    file = tmp_path / "courier.json"
    assert main(["--out", str(file)]) == 0
    assert file.read_bytes() == (files("misstep") / "bundled" / "zoo" / "courier.linear.json").read_bytes()
