"""GNN policies: native evaluation against plain numpy, the batch rule, no-ops, errors, known plan lengths."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import misstep
from misstep import State, Task
from misstep._core import PolicyGraph
from misstep.answers.answer import NO_NUMBER, NO_SUCH_ACTION
from misstep.errors import InputError, UnsupportedFeature
from misstep.pddl.noop_actions import noop_actions
from misstep.plugins import make_part
from misstep.policies.gnn import Gnn, identifier
from tests.unit.gnn_models import PREDICATES, ferry, random_checkpoint
from tests.unit.gnn_reference import ReferenceGnn

TOLERANCE = 1e-3


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return misstep.load(*ferry(tmp_path_factory.mktemp("ferry")))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "epoch=1-step=2.ckpt"


def batch(task: Task, states: Any) -> Any:
    registry = misstep.StateRegistry(task)
    return registry.batch([registry.insert(state) for state in states])


def walk(task: Task, count: Any, seed: int) -> Any:
    chance, state, found = random.Random(seed), task.initial_state, []
    while len(found) < count:
        found.append(state)
        state = task.apply(state, chance.choice(task.applicable(state)))
    return found


def assert_same_values(policy: Any, reference: Any, state: State) -> None:
    ours, expected = policy.values(state), reference.values(state)
    assert [identifier(name) for name, _ in ours] == [name for name, _ in expected]
    np.testing.assert_allclose([v for _, v in ours], [v for _, v in expected], atol=TOLERANCE, rtol=1e-5)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("hidden", [8, 16, 24, 64])
def test_native_equals_numpy(task: Task, path: Path, seed: int, hidden: int) -> None:
    part = Gnn(random_checkpoint(path, seed=seed, hidden=hidden, solvable=seed % 2 == 0))
    policy, reference = part.bind(task), ReferenceGnn(task, part.model)
    for state in walk(task, 20, seed):
        assert_same_values(policy, reference, state)


def test_unsolvable_states_come_last(task: Task, path: Path) -> None:
    bias = {f"solvable_readout.post.2.{kind}": np.zeros(shape) for kind, shape in WEIGHTS}
    part = Gnn(random_checkpoint(path, tensors=bias))  # A logit of 0 is rounded to unsolvable.
    plain = Gnn(random_checkpoint(path.with_name("plain.ckpt"), solvable=False))
    state = task.initial_state
    for (_, high), (_, low) in zip(
        part.bind(task).values(state), plain.bind(task).values(state), strict=True
    ):
        assert high == pytest.approx(low + 1e5, abs=0.02)


WEIGHTS = [("weight", (1, 16)), ("bias", (1,))]


def test_the_least_value_is_chosen_and_the_first_of_equals(task: Task, path: Path) -> None:
    policy = Gnn(random_checkpoint(path, seed=3)).bind(task)
    for state in walk(task, 30, 1):
        values = policy.values(state)
        assert [identifier(name) for name, _ in values] == sorted(identifier(name) for name, _ in values)
        least = min(values, key=lambda pair: pair[1])[0]
        [action] = policy(batch(task, [state]))
        assert action is None if (least == "(sail b b)") else action.name == least
    flat = {f"readout.post.2.{kind}": np.zeros(shape) for kind, shape in WEIGHTS}
    [action] = Gnn(random_checkpoint(path, solvable=False, tensors=flat)).bind(task)(
        batch(task, [task.initial_state])
    )
    assert action.name == "(board k a)"


def test_states_asked_together_get_the_answers_they_get_alone(task: Task, path: Path) -> None:
    policy = Gnn(random_checkpoint(path, seed=2)).bind(task)
    states = walk(task, 40, 5)
    alone = [policy(batch(task, [state]))[0] for state in states]
    assert policy(misstep.StateBatch(task, np.array([s.values for s in states], np.int32))) == alone
    assert [policy(batch(task, [state]))[0] for state in states] == alone


def test_actions_that_change_nothing_are_successors_too(task: Task, path: Path) -> None:
    assert [noop.name for noop in noop_actions(task.pddl)] == ["(sail b b)"]
    assert "(sail b b)" not in {action.name for action in task.actions}
    at_b = task.apply(task.initial_state, task.action("(sail a b)"))
    policy = Gnn(random_checkpoint(path)).bind(task)
    assert "(sail b b)" in [name for name, _ in policy.values(at_b)]
    assert "(sail b b)" not in [name for name, _ in policy.values(task.initial_state)]


def test_a_policy_that_prefers_to_stay_has_no_action(task: Task, path: Path) -> None:
    at_b = task.apply(task.initial_state, task.action("(sail a b)"))
    for seed in range(200):
        policy = Gnn(random_checkpoint(path, seed=seed)).bind(task)
        if min(policy.values(at_b), key=lambda pair: pair[1])[0] == "(sail b b)":
            assert policy(batch(task, [at_b])) == [NO_SUCH_ACTION]
            (run,) = PolicyGraph(task, policy).run(batch(task, [at_b]))
            assert run.outcome == "illegal"
            return
    raise AssertionError("no network stays")


def test_overflow_is_no_choice(task: Task, path: Path) -> None:
    policy = Gnn(random_checkpoint(path, scale=1e6, iterations=30)).bind(task)
    assert all(np.isnan(value) for _, value in policy.values(task.initial_state))
    assert policy(batch(task, [task.initial_state])) == [NO_NUMBER]
    (run,) = PolicyGraph(task, policy).run(batch(task, [task.initial_state]))
    assert run.outcome == "failed"


def test_no_successors(tmp_path: Path, path: Path) -> None:
    domain, problem = ferry(tmp_path)
    problem.write_text(
        "(define (problem p) (:domain ferry) (:objects a b - place k - car)"
        "(:init (at-ferry a) (linked a b) (at k a)) (:goal (at-ferry b)))"
    )
    task = misstep.load(domain, problem)
    stuck = task.apply(task.initial_state, task.action("(sail a b)"))
    policy = Gnn(random_checkpoint(path)).bind(task)
    assert policy.values(stuck) == []
    assert policy(batch(task, [stuck])) == [None]


def test_as_a_part(task: Task, path: Path) -> None:
    """File names of checkpoints have `=` in them."""
    random_checkpoint(path)
    for text in (f"gnn:{path}", f"gnn:file={path}"):
        part = make_part("policy", text)
        assert part == Gnn(path)
        assert len(part.bind(task)(batch(task, [task.initial_state]))) == 1
    with pytest.raises(InputError, match="needs the option `file`"):
        make_part("policy", "gnn")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"predicates": PREDICATES[1:]}, "does not know `linked` of domain `ferry`"),
        ({"predicates": [*PREDICATES, ("sunk", 1)]}, "expects the predicate `sunk`"),
        (
            {"predicates": [("on", 2), *(p for p in PREDICATES if p[0] != "on")]},
            "`on` has arity 2 in the network",
        ),
        ({"options": {"hidden_size": 17}}, "has the shape (32, 32), not (34, 34)"),
        ({"options": {"hidden_size": "x"}}, "`hidden_size` is no number"),
        ({"options": {"iterations": 10**6}}, "`iterations` is no number from 1 to 1000"),
        ({"options": {"predicates": [("a b", 1)]}}, "entry 0 of `predicates`"),
        ({"options": {"predicates": [("a", 1), ("a", 1)]}}, "twice"),
        ({"options": {"aggregation": "add"}}, "aggregation `add`"),
        ({"hidden": 12}, "multiples of 8"),
        ({"tensors": {"readout.post.2.bias": None}}, "`readout.post.2.bias` is missing"),
        ({"tensors": {"extra.weight": np.ones(3)}}, "`extra.weight` belongs to no network"),
        ({"tensors": {"readout.post.2.bias": np.array([np.nan])}}, "infinite or undefined"),
    ],
)
def test_networks_that_do_not_fit(task: Task, path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        Gnn(random_checkpoint(path, **changes)).bind(task)
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_tasks_that_do_not_fit(tmp_path: Path, task: Task, path: Path) -> None:
    part = Gnn(random_checkpoint(path))
    with pytest.raises(InputError, match="load the PDDL files"):
        part.bind(misstep.Task(task.sas))
    domain, problem = ferry(tmp_path)
    text = problem.read_text()
    problem.write_text(text.replace("(at l b) (at m b)", "(not (at l b))"))
    with pytest.raises(UnsupportedFeature, match="cannot see it"):
        part.bind(misstep.load(domain, problem))
