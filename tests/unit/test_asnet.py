"""The native evaluation of ASNets against plain numpy, on tasks and random networks of our own."""

import dataclasses
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from misstep import InputError, Task, load, load_sas
from misstep._core import AsnetPolicy, PolicyGraph
from misstep.answers.answer import NO_NUMBER
from misstep.answers.guard import reason_of_run
from misstep.formats.asnet_model import compound_types, domain_hash
from misstep.formats.asnet_policy import write_asnet
from misstep.plugins import make_policy_part
from misstep.policies.asnet import Asnet, bind_asnet, ground_net
from tests.conftest import COURIER
from tests.unit.asnet_reference import AsnetReference, random_model, walked_states

# Facts that never exist (`broken`, `at` some places), slots without operators, an action with more changing
# atoms than tables are made for, two of the same objects.
DOMAIN = """(define (domain odd) (:requirements :adl :typing) (:types place)
(:predicates (at ?p - place) (next ?p ?q - place) (broken ?p - place) (done) (unused)
  (a) (b) (c) (d) (e) (f) (g) (h) (i) (j) (k))
(:action go :parameters (?p ?q - place) :precondition (and (at ?p) (next ?p ?q) (not (broken ?q)))
  :effect (and (not (at ?p)) (at ?q)))
(:action shift :parameters (?p - place) :precondition (and (at ?p) (a))
  :effect (and (not (a)) (b) (not (c)) (d) (not (e)) (f) (not (g)) (h) (not (i)) (j) (not (k)) (done)))
(:action back :parameters () :precondition (b)
  :effect (and (a) (not (b)) (c) (not (d)) (e) (not (f)) (g) (not (h)) (i) (not (j)) (k))))"""
PROBLEM = """(define (problem p) (:domain odd) (:objects p1 p2 p3 p4 island - place)
(:init (at p1) (a) (c) (e) (g) (i) (next p1 p2) (next p2 p1) (next p2 p3) (next p3 p1)
  (next p1 p4) (next p4 p1))
(:goal (and (at p3) (done) (next p1 p2))))"""


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("odd")
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "problem.pddl").write_text(PROBLEM)
    return {
        "courier": load(*COURIER, unit_cost=True),
        "odd": load(folder / "domain.pddl", folder / "problem.pddl"),
    }


def assert_like_reference(model: Any, task: Task, states: Any, *, tolerance: float = 1e-4) -> None:
    policy = bind_asnet(model, task)
    net = ground_net(model, task)
    batch = task.batch(states)
    expected, applicable = AsnetReference(model, net, task).scores(batch)
    chosen = policy(batch)
    for row, scored in enumerate(policy.scores(batch)):
        number = {int(action): at for at, action in enumerate(net.operators)}
        assert len(scored) == applicable[row].sum()
        for action, score in scored:
            assert score == pytest.approx(expected[row, number[action.index]], abs=tolerance, rel=tolerance)
        best = max((score for _, score in scored), default=None)
        assert chosen[row] == next((action for action, score in scored if score == best), None)


@pytest.mark.parametrize("name", ["courier", "odd"])
@pytest.mark.parametrize(
    ("hidden", "num_layers"), [(16, 2), (16, 1), (16, 3), (1, 2), (8, 2), (11, 2), (24, 3), (40, 2), (64, 1)]
)
def test_native_equals_numpy(tasks: Any, name: str, hidden: int, num_layers: int) -> None:
    task = tasks[name]
    for seed in range(3):
        model = random_model(task.pddl, hidden=hidden, num_layers=num_layers, seed=seed)
        assert_like_reference(model, task, walked_states(task, 20, seed=seed))


@pytest.mark.parametrize("name", ["courier", "odd"])
@pytest.mark.parametrize("num_layers", [1, 2])
def test_landmark_inputs_equal_numpy(tasks: Any, name: str, num_layers: int) -> None:
    task = tasks[name]
    states = walked_states(task, 20)
    model = random_model(task.pddl, num_layers=num_layers, seed=1, landmarks=True)
    assert_like_reference(model, task, states)
    bits = AsnetReference(model, ground_net(model, task), task).landmarks(task.batch(states))
    assert (bits.sum(axis=2) == 1).all()
    assert bits.any(axis=(0, 1)).sum() >= 2  # of the three cases


def test_large_weights_saturate(tasks: Any) -> None:
    task = tasks["courier"]
    model = random_model(task.pddl)
    for layer in model.action_modules:
        for module in layer:
            module.weights[...] *= 100
    assert_like_reference(model, task, walked_states(task, 20), tolerance=1e-3)


def test_ground_net_of_the_odd_task(tasks: Any) -> None:
    task = tasks["odd"]
    net = ground_net(random_model(task.pddl), task)
    names = [task.actions[int(action)].name for action in net.operators]
    assert sorted(names)[:2] == ["(back)", "(go p1 p2)"]
    assert not any("island" in name for name in names)
    go = net.slot_facts[0]
    assert go.shape == (6, 4)
    assert (go[:, 2] == -1).all(), "no place is ever broken"
    assert (go[:, [0, 1, 3]] >= 0).all()
    assert (net.fact_variables[go[:, 1]] == -1).all(), "next never changes"
    assert net.goal[go[:, 1]].sum() == 1, "goals that always hold are goals"


@pytest.mark.parametrize("name", ["courier", "odd"])
def test_answers_do_not_depend_on_the_batch(tasks: Any, name: str) -> None:
    task = tasks[name]
    policy = bind_asnet(random_model(task.pddl, seed=5), task)
    states = walked_states(task, 256)
    together = policy.scores(task.batch(states))
    assert together == [policy.scores(task.batch([state]))[0] for state in states]
    assert policy(task.batch(states)) == [policy(task.batch([state]))[0] for state in states]
    assert policy.scores(task.batch(states[::-1])) == together[::-1]


def test_equal_scores_go_to_the_first_action(tasks: Any) -> None:
    task = tasks["courier"]
    model = random_model(task.pddl)
    for module in model.action_modules[-1]:
        module.weights[...] = 0
        module.bias[...] = 1
    policy = bind_asnet(model, task)
    for state in walked_states(task, 10):
        assert policy(task.batch([state])) == task.applicable(state)[:1]


def test_probabilities(tasks: Any) -> None:
    task = tasks["courier"]
    policy = bind_asnet(random_model(task.pddl), task)
    batch = task.batch(walked_states(task, 5))
    for scores, probabilities in zip(policy.scores(batch), policy.probabilities(batch), strict=True):
        weights = np.exp([score for _, score in scores])
        assert [share for _, share in probabilities] == pytest.approx(weights / weights.sum(), rel=1e-5)
    assert policy(task.batch([])) == policy.scores(task.batch([])) == []


def test_scores_that_are_no_numbers_are_no_decision(tasks: Any) -> None:
    task = tasks["courier"]
    model = random_model(task.pddl)
    for module in model.action_modules[-1]:
        module.weights[...] = 3e38
        module.weights[1::2] = -3e38
    for module in model.action_modules[-2]:
        module.weights[...] = 0
        module.bias[...] = 3e38
    policy, start = bind_asnet(model, task), task.batch([task.initial_state])
    assert policy(start) == [NO_NUMBER]
    (run,) = PolicyGraph(task, policy).run(start)
    assert run.outcome == "failed"
    assert reason_of_run(policy, run) == NO_NUMBER.reason


def test_part(tasks: Any, tmp_path: Path) -> None:
    task = tasks["courier"]
    model = random_model(task.pddl)
    write_asnet(tmp_path / "a=b,c:net.safetensors", model)
    part = make_policy_part(f"asnet:{tmp_path / 'a=b,c:net.safetensors'}")
    assert part == Asnet(tmp_path / "a=b,c:net.safetensors")
    assert part.unit_cost
    batch = task.batch(walked_states(task, 5))
    assert part.bind(task)(batch) == bind_asnet(model, task)(batch)
    with pytest.raises(InputError, match="needs a value; write `asnet:FILE`"):
        make_policy_part("asnet")


def test_another_domain_is_refused(tasks: Any, tmp_path: Path) -> None:
    model = random_model(tasks["odd"].pddl)
    with pytest.raises(InputError, match=r"trained for another domain: its actions are go, shift, back"):
        bind_asnet(model, tasks["courier"])
    changed = DOMAIN.replace("(not (broken ?q))", "(not (done))")
    (tmp_path / "domain.pddl").write_text(changed)
    (tmp_path / "problem.pddl").write_text(PROBLEM)
    with pytest.raises(InputError, match=r"predicate `broken` is used 1 times in the policy and 0 times"):
        bind_asnet(model, load(tmp_path / "domain.pddl", tmp_path / "problem.pddl"))
    (tmp_path / "domain.pddl").write_text(DOMAIN.replace("(not (broken ?q))", ""))
    with pytest.raises(InputError, match=r"action `go` has 4 atoms in the policy and 3"):
        bind_asnet(model, load(tmp_path / "domain.pddl", tmp_path / "problem.pddl"))
    (tmp_path / "task.sas").write_text(tasks["odd"].sas)
    with pytest.raises(InputError, match="needs the PDDL"):
        bind_asnet(model, load_sas(tmp_path / "task.sas"))


def test_another_hash_is_a_warning(tasks: Any) -> None:
    """All names and sizes fit: the policy is used, and the user is told."""
    task = tasks["odd"]
    model = dataclasses.replace(random_model(task.pddl), domain_hash="0" * 64)
    policy = bind_asnet(model, task, source="net.policy")
    (warning,) = policy.warnings
    assert warning.startswith(
        "net.policy: the policy was trained for a domain with other types than object, place;"
    )
    batch = task.batch(walked_states(task, 5))
    assert policy(batch) == bind_asnet(random_model(task.pddl), task)(batch)
    names = domain_hash(
        task.pddl.supertypes, task.problem.domain.predicates, [s.name for s in task.pddl.schemas]
    )
    assert bind_asnet(dataclasses.replace(model, domain_hash=names), task).warnings == []
    assert bind_asnet(dataclasses.replace(model, domain_hash=None), task).warnings == []


EITHER = """(define (domain cars)
 (:requirements :strips :typing)
 (:types truck van place - object)
 (:predicates (at ?x - (either van truck) ?p - place) (near ?x ?y - (either truck van))
  (free ?p - (either van place)))
 (:action go :parameters (?t - truck ?p - place ?q - place)
  :precondition (at ?t ?p) :effect (and (at ?t ?q) (not (at ?t ?p)))))"""


def test_types_made_of_others_are_part_of_the_hash(tmp_path: Path) -> None:
    """Each `either` joins the types once, as a name with sorted members, when it is first met."""
    (tmp_path / "domain.pddl").write_text(EITHER)
    (tmp_path / "problem.pddl").write_text(
        "(define (problem p) (:domain cars) (:objects t - truck a b - place)"
        "(:init (at t a)) (:goal (at t b)))"
    )
    task = load(tmp_path / "domain.pddl", tmp_path / "problem.pddl")
    text = "objecttruckvanplace(either truck van)(either place van)=atnearfreego"
    model = dataclasses.replace(
        random_model(task.pddl), domain_hash=hashlib.sha256(text.encode()).hexdigest()
    )
    assert bind_asnet(model, task).warnings == []
    assert compound_types([["a"], ["b", "a"], ["c", "b"], ["a", "b"], []]) == ["(either a b)", "(either b c)"]


def test_order_of_declarations_does_not_matter(tasks: Any, tmp_path: Path) -> None:
    task = tasks["odd"]
    model = random_model(task.pddl)
    start, back = DOMAIN.index("(:action go"), DOMAIN.index("(:action back")
    moved = DOMAIN[:start] + DOMAIN[back:-1] + DOMAIN[start:back] + ")"
    (tmp_path / "domain.pddl").write_text(moved.replace("(done) (unused)", "(unused) (done)"))
    (tmp_path / "problem.pddl").write_text(PROBLEM)
    other = load(tmp_path / "domain.pddl", tmp_path / "problem.pddl")
    for state in walked_states(task, 20):
        same = other.state(state.facts)
        scores = {a.name: score for a, score in bind_asnet(model, task).scores(task.batch([state]))[0]}
        assert scores == {
            a.name: score for a, score in bind_asnet(model, other).scores(other.batch([same]))[0]
        }


def damaged_calls(task: Task) -> Iterator[Any]:
    """Arguments of the native class with one thing wrong, and what is said."""
    model = random_model(task.pddl)
    net = ground_net(model, task)
    good = {
        "hidden": 16,
        "operators": net.operators,
        "schema_start": net.schema_start,
        "slot_facts": list(net.slot_facts),
        "predicate_start": net.predicate_start,
        "fact_variables": net.fact_variables,
        "fact_values": net.fact_values,
        "goal": net.goal.astype(np.uint8),
        "predicate_slots": [list(slots) for slots in net.predicate_slots],
        "action_modules": [list(map(tuple, modules)) for modules in model.action_modules],
        "predicate_modules": [list(map(tuple, modules)) for modules in model.predicate_modules],
    }
    empty = (np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.float32))
    yield good, None
    yield good | {"hidden": 0}, "hidden dimension"
    yield good | {"hidden": 65}, "hidden dimension"
    yield good | {"hidden": 15}, "biases, not 15"
    yield good | {"operators": net.operators + 1000}, "no action 10"
    yield good | {"operators": net.operators[:-1]}, "operators do not cover"
    yield good | {"schema_start": net.schema_start[::-1].copy()}, "operators do not cover"
    yield good | {"predicate_start": net.predicate_start[:-1]}, "facts do not cover"
    yield good | {"fact_variables": net.fact_variables + 50}, "no fact"
    yield good | {"fact_values": net.fact_values + 50}, "no fact"
    yield good | {"goal": np.zeros(1, dtype=np.uint8)}, "goal bit"
    yield good | {"slot_facts": [facts + 1 for facts in net.slot_facts]}, "slot of another predicate"
    yield good | {"slot_facts": [facts[:-1] for facts in net.slot_facts]}, "not one for each operator"
    yield good | {"slot_facts": list(net.slot_facts)[:-1]}, "lacks modules"
    yield good | {"predicate_slots": [[] for _ in net.predicate_slots]}, "weights, not 0 times 16"
    yield good | {"action_modules": good["action_modules"][:-1]}, "one action layer more"
    yield good | {"action_modules": [[], [], []]}, "lacks modules"
    yield good | {"predicate_modules": [[empty] * len(net.predicate_slots)] * 2}, "0 biases, not 16"
    yield good | {"predicate_modules": [], "action_modules": []}, "at least one"


def test_wrong_shapes_are_refused(tasks: Any) -> None:
    task = tasks["courier"]
    for arguments, said in damaged_calls(task):
        if said is None:
            AsnetPolicy(task, **arguments)
            continue
        with pytest.raises(InputError, match=said):
            AsnetPolicy(task, **arguments)


def test_a_batch_of_another_task_is_refused(tasks: Any) -> None:
    task, other = tasks["courier"], tasks["odd"]
    policy = bind_asnet(random_model(task.pddl), task)
    for ask in (policy, policy.scores, policy.probabilities):
        with pytest.raises(InputError, match="belongs to another task"):
            ask(other.batch([other.initial_state]))
