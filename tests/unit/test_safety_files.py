"""Files around a model: tree ensembles, inputs from copies of automata, properties, start states."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from misstep._core import TreeEnsemble
from misstep.bundled.models import generate
from misstep.errors import InputError
from misstep.formats.jani import read_task
from misstep.formats.nnet import read_nnet, write_nnet
from misstep.safety.model import SafetyTask
from misstep.safety.policy import network_policy
from misstep.safety.trees import read_trees


def random_tree(rng: random.Random, inputs: int, leaf: Any, depth: int = 4) -> dict[str, Any]:
    if depth == 0 or rng.random() < 0.2:
        return {"leaf_value": leaf()}
    split = {"feat_id": rng.randrange(inputs), "split_value": rng.randint(-3, 3)}
    return {
        **split,
        "lt": random_tree(rng, inputs, leaf, depth - 1),
        "gt": random_tree(rng, inputs, leaf, depth - 1),
    }


def walk(tree: dict[str, Any], x: Any) -> Any:
    while "leaf_value" not in tree:
        tree = tree["lt" if x[tree["feat_id"]] < tree["split_value"] else "gt"]
    return tree["leaf_value"]


@pytest.mark.parametrize("seed", range(5))
def test_trees_are_what_they_say(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    base, file = [rng.random() for _ in range(3)], tmp_path / "trees.json"
    x = np.random.default_rng(seed).integers(-4, 5, size=(40, 6)).astype(np.float64)
    groups = [[random_tree(rng, 6, rng.random) for _ in range(4)] for _ in range(3)]
    file.write_text(json.dumps({"base_scores": base, "trees": groups}), encoding="utf-8")
    expected = [
        [b + sum(walk(t, row) for t in group) for b, group in zip(base, groups, strict=True)] for row in x
    ]
    assert np.allclose(read_trees(file, 6)(x), expected)
    flat = [random_tree(rng, 6, lambda: [rng.random() for _ in range(3)]) for _ in range(7)]
    file.write_text(json.dumps({"base_scores": base, "trees": flat}), encoding="utf-8")
    sums = [np.array(base) + np.sum([walk(t, row) for t in flat], axis=0) for row in x]
    assert np.allclose(read_trees(file, 6)(x), sums)
    with pytest.raises(InputError, match=r"trees\.json: a tree tests input"):
        read_trees(file, 2)


def test_trees_that_point_to_nothing_are_refused() -> None:
    leaf = (-1, 0.0, 0, 1, 0)
    for nodes in (
        [(0, 0.0, 0, 1, 0), leaf],
        [(0, 0.0, 1, 9, 0), leaf],
        [(-1, 0.0, 5, 1, 0)],
        [(-1, 0.0, 0, 1, 3)],
    ):
        with pytest.raises(InputError):
            TreeEnsemble(1, [0.0], [0], nodes, [1.0])
    with pytest.raises(InputError, match="no root"):
        TreeEnsemble(1, [0.0], [3], [leaf], [1.0])


def twice() -> dict[str, Any]:
    """Two copies of a counter with two locations."""
    bounded = {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 3}
    step = {"ref": "n", "value": {"op": "min", "left": 3, "right": {"op": "+", "left": "n", "right": 1}}}
    counter = {
        "name": "counter",
        "locations": [{"name": "even"}, {"name": "odd"}],
        "initial-locations": ["even"],
        "variables": [{"name": "n", "type": bounded, "initial-value": 0}],
        "edges": [
            {"location": here, "action": "a", "destinations": [{"location": there, "assignments": [step]}]}
            for here, there in (("even", "odd"), ("odd", "even"))
        ],
    }
    other = {"name": "other", "locations": [{"name": "o"}], "initial-locations": ["o"], "edges": []}
    return {
        "jani-version": 1,
        "name": "twice",
        "type": "mdp",
        "actions": [{"name": "a"}],
        "automata": [counter, other],
        "properties": [
            {"name": "first", "expression": {"op": "PA", "reach": False}},
            {"name": "second", "expression": {"op": "PA", "reach": {"op": "let", "expression": True}}},
        ],
        "system": {
            "elements": [{"automaton": "other"}, {"automaton": "counter"}, {"automaton": "counter"}],
            "syncs": [{"synchronise": [None, "a", None], "result": "a"}],
        },
    }


def save(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_inputs_of_copies_of_an_automaton(tmp_path: Path) -> None:
    task = SafetyTask.load(save(tmp_path / "model.jani", twice()))
    write_nnet(tmp_path / "n.nnet", [(np.zeros((1, 2)), np.zeros(1))])

    def interface(*inputs: dict[str, Any]) -> Path:
        return save(tmp_path / "n.jani2nnet", {"file": "n.nnet", "input": list(inputs), "output": ["a"]})

    for index in (0, 1, 2):  # the first, the second; or, over all automata, the second
        local = {"automaton": {"name": "counter", "index": index}, "name": "n"}
        network_policy(interface(local, {"name": "counter", "index": index}), task)
    for wrong in (
        {"automaton": {"name": "counter", "index": 3}, "name": "n"},
        {"automaton": {"name": "other", "index": 0}, "name": "n"},
        {"name": "nobody", "index": 0},
        {"automaton": "counter", "name": "n"},
        {"automaton": None, "name": "n", "index": -1},
    ):
        with pytest.raises(InputError, match=r"n\.jani2nnet: \$\.input\[0\]"):
            network_policy(interface(wrong, wrong), task)


def test_properties_by_name_or_number(tmp_path: Path) -> None:
    path = save(tmp_path / "model.jani", twice())
    assert read_task(path).unsafe is False
    assert read_task(path, name="1").unsafe is True
    assert read_task(path, name="second").unsafe is True
    with pytest.raises(InputError, match="known are 'first', 'second'"):
        read_task(path, name="2")


@pytest.mark.parametrize("name", [None, "first"])
def test_a_property_file_goes_before_the_model(name: str | None, tmp_path: Path) -> None:
    model = save(tmp_path / "model.jani", twice())
    other = {"op": "PA", "reach": {"op": "state-condition", "exp": {"op": ">", "left": "n", "right": 1}}}
    extra = save(tmp_path / "p.jani", {"properties": [{"name": "first", "expression": other}]})
    assert read_task(model, properties=extra, name=name).unsafe == other["reach"]
    assert read_task(model, properties=extra, name="0").unsafe is False  # as PlaJA counts
    assert read_task(model, properties=extra, name="2").unsafe == other["reach"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], r"\$: expected an object"),
        ({"properties": {}}, r"\$\.properties: expected a list"),
        ({"properties": [3]}, r"\$\.properties\[0\]: expected an object"),
        ({"op": "state-condition", "exp": True}, r"\$\.properties: there is none"),
        (
            {"properties": [{"name": "bad", "expression": {"op": "F", "exp": True}}]},
            "none .* is a policy test",
        ),
    ],
)
def test_bad_property_files_say_where(document: Any, message: str, tmp_path: Path) -> None:
    model, extra = save(tmp_path / "model.jani", twice()), save(tmp_path / "p.jani", document)
    with pytest.raises(InputError, match=r"p\.jani: " + message):
        read_task(model, properties=extra)


def test_plain_properties_of_a_file_are_taken_by_name_beside_a_policy_test(tmp_path: Path) -> None:
    model = save(tmp_path / "model.jani", twice())
    extra = save(tmp_path / "p.jani", {"properties": [{"name": "bad", "expression": {"op": "F", "exp": 7}}]})
    assert read_task(model, properties=extra, unsafe="bad").unsafe == 7
    assert read_task(model, properties=extra, name="bad").unsafe == 7
    alone = save(tmp_path / "alone.jani", {**twice(), "properties": []})
    with pytest.raises(InputError, match="choose a property with --unsafe; known are 'bad'"):
        read_task(alone, properties=extra)


def test_only_what_some_run_can_reach_is_taken_for_the_goal(tmp_path: Path) -> None:
    document = twice()
    reach = {"op": "F", "exp": True}
    document["properties"] = [
        {"name": "likely", "expression": {"op": "filter", "fun": "max", "values": reach}}
    ]
    path = save(tmp_path / "model.jani", document)
    assert read_task(path, unsafe="false").goal is None
    document["properties"].append(
        {"name": "goal", "expression": {"op": "filter", "fun": "∃", "values": reach}}
    )
    assert read_task(save(path, document), unsafe="false").goal is True
    assert read_task(path, unsafe="goal").goal is None


def test_listed_start_states_say_where_they_are_wrong(tmp_path: Path) -> None:
    document = generate("two_way_line", length=5, packages=1)
    good = {"locations": [], "variables": [{"var": "position", "value": 2}]}
    for bad in (
        3,
        {"variables": [{}]},
        {"variables": [{"var": "position", "value": 99}]},
        {"locations": [{}]},
    ):
        start = {"op": "states-values", "values": [good, bad]}
        document["properties"][0]["expression"]["start"] = start
        task = SafetyTask.load(save(tmp_path / "model.jani", document))
        with pytest.raises(InputError, match=r"start states: \$\.values\[1\]"):
            task.start_states(task.game())


def test_a_network_with_numbers_left_over_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "n.nnet"
    write_nnet(file, [(np.zeros((1, 2)), np.zeros(1))])
    file.write_text(file.read_text() + "1,\n")
    with pytest.raises(InputError, match="more numbers"):
        read_nnet(file)
    with pytest.raises(InputError, match="header"):
        file.write_text("2,1,1,1,\n1,1,\n")
        read_nnet(file)


def test_a_number_of_many_digits_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "model.jani"
    path.write_text('{"a": ' + "9" * 5000 + "}")
    with pytest.raises(InputError):
        read_task(path)
