"""GNN policies of our own training: native evaluation against plain numpy, files, domains that do not fit."""

import random
from pathlib import Path

import numpy as np
import pytest

import misstep
from misstep import State, Task
from misstep.errors import InputError
from misstep.formats.gnn_file import read_arrays, read_gnn, write_gnn
from misstep.formats.gnn_model import GnnKind, GnnShape
from misstep.formats.safetensors import write_safetensors
from misstep.policies.gnn import Gnn, identifier, native_network, native_policy, relations_of
from tests.unit.gnn_models import DOMAIN, PROBLEM, ferry
from tests.unit.gnn_own import OwnReference, random_gnn

KINDS: tuple[GnnKind, ...] = ("value", "q")


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return misstep.load(*ferry(tmp_path_factory.mktemp("ferry")))


def walk(task: Task, count: int, seed: int) -> list[State]:
    chance, state, found = random.Random(seed), task.initial_state, []
    while len(found) < count:
        found.append(state)
        state = task.apply(state, chance.choice(task.applicable(state)))
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_native_equals_numpy(task: Task, tmp_path: Path, kind: GnnKind, seed: int) -> None:
    shape, arrays = random_gnn(task, kind, seed=seed, hidden=8 * (seed + 1), solvable=seed % 2 == 0)
    write_gnn(tmp_path / "model.gnn", shape, arrays)
    policy = Gnn(tmp_path / "model.gnn").bind(task)
    reference = OwnReference(task, shape, arrays)
    for state in walk(task, 15, seed):
        ours, expected = policy.values(state), reference.values(state)
        assert [identifier(name) for name, _ in ours] == [name for name, _ in expected]
        np.testing.assert_allclose([v for _, v in ours], [v for _, v in expected], rtol=1e-4, atol=1e-4)
        least = min(ours, key=lambda pair: pair[1])
        [chosen] = policy(task.batch([state]))
        assert chosen is not None
        assert chosen.name == least[0]


@pytest.mark.parametrize("kind", KINDS)
def test_threads_and_company_do_not_change_a_bit(task: Task, kind: GnnKind) -> None:
    shape, arrays = random_gnn(task, kind, seed=7, hidden=64)
    model = OwnReference(task, shape, arrays).model
    one, two = (native_policy(task, model, native_network(model), threads=n) for n in (1, 2))
    for state in walk(task, 10, 1):
        assert one.values(state) == two.values(state)


def test_what_a_network_sees(task: Task) -> None:
    assert task.pddl is not None
    value = dict(relations_of(task.pddl, "value"))
    assert value["empty"] == value["goal:empty"] == value["type:car"] == 1
    assert (value["at"], value["goal:between"]) == (2, 3)
    assert set(relations_of(task.pddl, "q")) - set(value.items()) == {
        ("action:sail", 3),
        ("action:board", 3),
        ("action:debark", 3),
    }


def test_predicates_without_arguments_and_constants_are_seen(tmp_path: Path) -> None:
    domain = DOMAIN.replace("(:types place car)", "(:types place car) (:constants home - place)")
    paths = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    paths[0].write_text(domain)
    paths[1].write_text(PROBLEM.replace("(linked a b)", "(linked a b) (linked a home) (linked home a)"))
    task = misstep.load(*paths)
    assert task.pddl is not None
    assert ("constant:home", 1) in relations_of(task.pddl, "value")
    shape, arrays = random_gnn(task, "q", seed=3)
    policy = native_policy(task, OwnReference(task, shape, arrays).model, _network(shape, arrays, task))
    before = policy.values(task.initial_state)
    # The deck is empty, and home is home: without what is said of that, other values come out.
    for name in ("empty", "constant:home"):
        at = [relation for relation, _ in shape.relations].index(name)
        changed = dict(arrays)
        changed[f"relation.{at}.2.bias"] = arrays[f"relation.{at}.2.bias"] + 5
        other = native_policy(task, OwnReference(task, shape, changed).model, _network(shape, changed, task))
        assert [v for _, v in other.values(task.initial_state)] != [v for _, v in before]


def _network(shape: GnnShape, arrays: dict[str, np.ndarray], task: Task) -> misstep._core.GnnNetwork:
    return native_network(OwnReference(task, shape, arrays).model)


def test_files_come_back(task: Task, tmp_path: Path) -> None:
    path = tmp_path / "model.gnn"
    shape, arrays = random_gnn(task, "q", seed=1, solvable=True)
    write_gnn(path, shape, arrays)
    again, others = read_arrays(path)
    assert again == shape
    assert all(np.array_equal(arrays[name], others[name]) for name in arrays)
    model = read_gnn(path)
    assert (model.kind, model.published, model.iterations) == ("q", False, shape.layers)


def test_damaged_files_are_refused(task: Task, tmp_path: Path) -> None:
    path = tmp_path / "model.gnn"
    shape, arrays = random_gnn(task, "value", seed=1)
    write_gnn(path, shape, {**arrays, "update.0.bias": arrays["update.0.bias"][1:]})
    with pytest.raises(InputError, match=r"`update.0.bias` has the shape"):
        read_gnn(path)
    write_gnn(path, shape, {**arrays, "more": arrays["update.0.bias"]})
    with pytest.raises(InputError, match="`more` belongs to no network"):
        read_gnn(path)
    write_gnn(path, shape, {**arrays, "update.0.bias": arrays["update.0.bias"] * np.float32(np.inf)})
    with pytest.raises(InputError, match="infinite or undefined"):
        read_gnn(path)
    write_safetensors(path, arrays, metadata={"format": "misstep-gnn-1", "gnn": '{"kind": "value"}'})
    with pytest.raises(InputError, match="metadata does not describe a GNN"):
        read_gnn(path)
    write_safetensors(path, arrays, metadata={"format": "other"})
    with pytest.raises(InputError, match="no GNN of misstep"):
        read_gnn(path)
    path.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        read_gnn(path)


def test_another_domain_is_refused(task: Task, tmp_path: Path) -> None:
    shape, arrays = random_gnn(task, "q", seed=1)
    path = tmp_path / "model.gnn"
    write_gnn(path, shape, arrays)
    other = tmp_path / "other.pddl"
    other.write_text(DOMAIN.replace("sail", "row"))
    (tmp_path / "problem.pddl").write_text(PROBLEM)
    with pytest.raises(InputError, match="does not know `action:row` of domain `ferry`"):
        Gnn(path).bind(misstep.load(other, tmp_path / "problem.pddl"))
