"""Networks, trees and functions as policies."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from misstep._core import Mlp, SafetyFuzzer
from misstep.bundled.models import generate
from misstep.errors import InputError, PolicyError
from misstep.formats.nnet import Interface, read_interface, read_nnet, write_interface, write_nnet
from misstep.formats.safetensors import write_safetensors
from misstep.reference.jani_model import Jani
from misstep.safety.model import SafetyTask
from misstep.safety.policy import function_policy, load_policy, network_policy


@pytest.fixture
def task(tmp_path: Path) -> SafetyTask:
    path = tmp_path / "model.jani"
    path.write_text(json.dumps(generate("two_way_line", length=5, packages=1)), encoding="utf-8")
    return SafetyTask.load(path)


def layers(sizes: list[int], seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(sizes)]


def test_mlp_is_numpy_and_the_same_in_any_batch() -> None:
    parts = layers([5, 16, 7, 3])
    mlp = Mlp(parts, activation="relu")
    x = np.random.default_rng(1).normal(size=(50, 5))
    expected = x
    for i, (w, b) in enumerate(parts):
        expected = expected @ w.T + b
        expected = np.maximum(expected, 0) if i < 2 else expected
    batch = mlp(x)
    assert np.allclose(batch, expected, atol=1e-12)
    for i in range(50):
        assert (mlp(x[i : i + 1]) == batch[i : i + 1]).all()


def test_mlp_refuses_what_does_not_fit() -> None:
    with pytest.raises(InputError, match="do not fit"):
        Mlp([*layers([3, 4]), *layers([5, 2])], activation="relu")
    with pytest.raises(InputError, match="another number of inputs"):
        Mlp(layers([3, 2]), activation="relu")(np.zeros((1, 4)))


def test_nnet_round_trip(tmp_path: Path) -> None:
    parts = layers([4, 8, 2])
    write_nnet(tmp_path / "a.nnet", parts)
    again = read_nnet(tmp_path / "a.nnet")
    assert all((w == v).all() and (b == c).all() for (w, b), (v, c) in zip(parts, again, strict=True))
    text = (tmp_path / "a.nnet").read_text()
    for broken in (text[: len(text) // 2], text.replace("4,", "x,", 1), "", "//\n3,1\n"):
        (tmp_path / "b.nnet").write_text(broken)
        with pytest.raises(InputError, match=r"b\.nnet"):
            read_nnet(tmp_path / "b.nnet")


def test_interface_round_trip(tmp_path: Path) -> None:
    interface = Interface(tmp_path / "x.nnet", ("speed", "A[2]"), ("coast",), True)
    write_interface(tmp_path / "x.jani2nnet", interface, [3])
    assert read_interface(tmp_path / "x.jani2nnet") == interface


def policy_files(task: SafetyTask, folder: Path, suffix: str, content: bytes | None = None) -> Path:
    inputs = [name for name in task.model.fields if "@" not in name]
    interface = Interface(folder / f"p{suffix}", tuple(inputs), tuple(task.labels), True)
    write_interface(folder / "p.jani2nnet", interface, [8])
    if content is not None:
        (folder / f"p{suffix}").write_bytes(content)
    return folder / "p.jani2nnet"


def test_network_policy_filters_or_not(task: SafetyTask, tmp_path: Path) -> None:
    path = policy_files(task, tmp_path, ".nnet")
    inputs = len([name for name in task.model.fields if "@" not in name])
    weights = np.zeros((len(task.labels), inputs))
    # `unload` scores best everywhere, `coast` second.
    biases = np.array([2.0 if name == "unload" else 1.0 if name == "coast" else 0.0 for name in task.labels])
    write_nnet(tmp_path / "p.nnet", [(weights, biases)])
    for filtered, expected in ((True, "coast"), (False, "unload")):
        game = task.game(load_policy(f"nnet:{path}", task, filter=filtered))
        s = game.initial()[0]
        assert task.labels[game.chosen(s)] == expected
        assert game.moves(s)[0][1] is (not filtered)  # an inapplicable choice makes every move a deviation


def test_constants_of_the_model_are_inputs_too(tmp_path: Path) -> None:
    """A network that reads a constant does what one with that number in its biases does."""
    document = generate("two_way_line", length=5, packages=1)
    document["constants"] = [
        {"name": "LENGTH", "type": "int", "value": 5},
        {"name": "FREE", "type": "int"},
        {"name": "TWICE", "type": "int", "value": {"op": "*", "left": 2, "right": "LENGTH"}},
    ]
    file = tmp_path / "model.jani"
    file.write_text(json.dumps(document), encoding="utf-8")
    task = SafetyTask.load(file, constants={"FREE": 3})
    fields = [name for name in task.model.fields if "@" not in name]
    (w, b), last = layers([len(fields) + 2, 8, len(task.labels)], seed=4)
    write_nnet(tmp_path / "full.nnet", [(w, b), last])
    write_nnet(tmp_path / "folded.nnet", [(w[:, :-2], b + w[:, -2:] @ np.array([5.0, 3.0])), last])
    for name, inputs in (("full", [*fields, "LENGTH", "FREE"]), ("folded", fields)):
        interface = Interface(tmp_path / f"{name}.nnet", tuple(inputs), tuple(task.labels), True)
        write_interface(tmp_path / f"{name}.jani2nnet", interface, [8])
    full, folded = (
        task.game(load_policy(f"nnet:{tmp_path / name}.jani2nnet", task)) for name in ("full", "folded")
    )
    starts = task.start_states(full)
    assert len({full.chosen(s) for s in starts}) > 1
    for s in starts:
        assert full.chosen(s) == folded.chosen(folded.add(full.values(s)))
    text = (tmp_path / "full.jani2nnet").read_text(encoding="utf-8").replace("LENGTH", "TWICE")
    (tmp_path / "full.jani2nnet").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="--constant TWICE="):
        load_policy(f"nnet:{tmp_path / 'full.jani2nnet'}", task)


def test_trees_equal_what_they_say(task: SafetyTask, tmp_path: Path) -> None:
    speed = [name for name in task.model.fields if "@" not in name].index("speed")
    split = {
        "feat_id": speed,
        "split_value": 1,
        "lt": {"leaf_value": 1.0},
        "gt": {"leaf_value": -1.0},
    }
    groups = [[split] if label == "accelerate" else [] for label in task.labels]
    path = policy_files(task, tmp_path, ".json", json.dumps({"trees": groups}).encode())
    game = task.game(load_policy(f"nnet:{path}", task))
    s = game.initial()[0]
    assert task.labels[game.chosen(s)] == "accelerate"
    fast = game.add(task.to_values({"speed": 2}, default=game.values(s)))
    assert task.labels[game.chosen(fast)] != "accelerate"
    (tmp_path / "p.json").write_text('{"trees": [[{"feat_id": 0}]]}')
    with pytest.raises(InputError, match=r"\$\.trees\[0\]\[0\]"):
        load_policy(f"nnet:{path}", task)


def test_function_policies(task: SafetyTask) -> None:
    def brake(state: dict[str, Any], applicable: tuple[str, ...]) -> str | None:
        assert set(applicable) <= set(task.labels)
        return "decelerate" if state["speed"] > 0 else "coast"

    game = task.game(function_policy(brake, task))
    assert task.labels[game.chosen(game.initial()[0])] == "coast"

    def broken(state: dict[str, Any], applicable: tuple[str, ...]) -> str | None:
        raise KeyError("oops")

    game = task.game(function_policy(broken, task))
    with pytest.raises(PolicyError, match="KeyError"):
        game.chosen(game.initial()[0])
    game = task.game(function_policy(lambda s, a: "fly", task))
    with pytest.raises(PolicyError, match="'fly'"):
        game.chosen(game.initial()[0])
    game = task.game(function_policy(lambda s, a: None, task))
    assert game.chosen(game.initial()[0]) is None


def test_onnx_equals_native(task: SafetyTask, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    onnx = pytest.importorskip("onnx", reason="making a test network needs onnx")
    inputs = len([name for name in task.model.fields if "@" not in name])
    (w, b), *_ = layers([inputs, len(task.labels)])
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)],
        "g",
        [helper.make_tensor_value_info("x", kind, [None, inputs])],
        [helper.make_tensor_value_info("y", kind, [None, len(task.labels)])],
        [helper.make_tensor("w", kind, w.shape, w.ravel()), helper.make_tensor("b", kind, b.shape, b)],
    )
    path = policy_files(
        task,
        tmp_path,
        ".onnx",
        helper.make_model(
            graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]
        ).SerializeToString(),
    )
    first = task.game(load_policy(f"nnet:{path}", task))
    write_nnet(tmp_path / "q.nnet", [(w, b)])
    interface = read_interface(path)
    write_interface(
        tmp_path / "q.jani2nnet",
        Interface(tmp_path / "q.nnet", interface.inputs, interface.outputs, True),
        [],
    )
    second = task.game(load_policy(f"nnet:{tmp_path / 'q.jani2nnet'}", task))
    for values in [second.values(s) for s in task.start_states(second)]:
        assert first.chosen(first.add(values)) == second.chosen(second.add(values))


def test_torch_weights_equal_native(task: SafetyTask, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    inputs = len([name for name in task.model.fields if "@" not in name])
    parts = layers([inputs, 8, len(task.labels)])
    state = {}
    for i, (w, b) in enumerate(parts):
        state[f"{i}.weight"], state[f"{i}.bias"] = torch.tensor(w), torch.tensor(b)
    path = policy_files(task, tmp_path, ".pt")
    torch.save(state, tmp_path / "p.pt")
    with pytest.raises(InputError, match="activation=NAME"):
        load_policy(f"nnet:{path}", task)
    game = task.game(load_policy(f"nnet:{path},activation=relu", task))
    assert game.chosen(game.initial()[0]) is not None


@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid"])
def test_the_activation_decides(task: SafetyTask, tmp_path: Path, activation: str) -> None:
    """From the option, from the interface file and from the weights' own metadata it is the same network."""
    inputs = len([name for name in task.model.fields if "@" not in name])
    parts = layers([inputs, 8, len(task.labels)], seed=4)
    arrays = {}
    for i, (w, b) in enumerate(parts):
        arrays[f"{i}.weight"], arrays[f"{i}.bias"] = w.astype(np.float32), b.astype(np.float32)
    path = policy_files(task, tmp_path, ".safetensors")
    write_safetensors(tmp_path / "p.safetensors", arrays)
    with pytest.raises(InputError, match="do not tell which activation"):
        load_policy(f"nnet:{path}", task)
    given = task.game(load_policy(f"nnet:{path},activation={activation}", task, filter=False))
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"activation": activation}))
    named = task.game(load_policy(f"nnet:{path}", task, filter=False))
    path.write_text(json.dumps(document))
    write_safetensors(tmp_path / "p.safetensors", arrays, metadata={"activation": activation})
    own = task.game(load_policy(f"nnet:{path}", task, filter=False))
    function = {
        "relu": lambda x: np.maximum(x, 0),
        "tanh": np.tanh,
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    }
    interface = read_interface(path)
    columns = [task.model.fields.index(name) for name in interface.inputs]
    for values in [given.values(s) for s in task.start_states(given)][:20]:
        x = np.array([float(values[column]) for column in columns])
        x = function[activation](arrays["0.weight"].astype(float) @ x + arrays["0.bias"])
        scores = arrays["1.weight"].astype(float) @ x + arrays["1.bias"]
        best = task.labels.index(interface.outputs[int(scores.argmax())])
        for game in (given, named, own):
            assert game.chosen(game.add(values)) == best
    with pytest.raises(InputError, match="the file says that its activation is"):
        load_policy(f"nnet:{path},activation=softplus", task)


@pytest.mark.parametrize(("name", "net"), [("6_5", "32_32"), ("8_7", "16_16")])
def test_blocksworld_policies_of_the_authors(name: str, net: str, data: Path) -> None:
    """About 94 % of runs of 6_5 reach the goal, and no run of 8_7 does.

    The policy's choices are compared with numpy, the successors with the trusted interpreter. An independent
    simulation of 20,000 runs gave 94.1 % (94.1 % with the filter) for 6_5, and only dead ends for 8_7.
    """
    folder = data / "jani" / f"blocksworld_{name}"
    (properties,) = (folder / "properties").glob("pa_*.jani")
    task = SafetyTask.load(folder / "model.jani", properties=properties)
    assert task.files.network == folder / f"blocksworld_{name}_{net}.jani2nnet"  # found beside the model
    interface, reference = read_interface(task.files.network), Jani(json.loads(task.files.model), {}, {})
    weights = read_nnet(interface.file)
    for use_filter in (False, True):
        game = task.game(network_policy(task.files.network, task, filter=use_filter))
        fuzzer = SafetyFuzzer(game, "uniform", seed=7)
        start = game.initial()[0]
        runs = [fuzzer.run(start)[1] for _ in range(1000)]
        goals = sum(game.is_goal(run[-1]) for run in runs) / len(runs)
        assert (0.91 <= goals <= 0.97) if name == "6_5" else goals == 0
        for s in runs[0]:
            state = task.state(game, s)
            moves = {
                task.labels[a]: {reference.read(task.state(game, t)) for t in ts}
                for a, _, ts in game.moves(s)
            }
            here = reference.read(state)
            assert moves == {label: reference.outcomes(here, label) for label in reference.applicable(here)}
            x = np.array([float(state[field]) for field in interface.inputs])
            for k, (w, b) in enumerate(weights):
                x = w @ (np.maximum(x, 0) if k else x) + b
            allowed = [o for o in interface.outputs if o in moves] if use_filter else []
            best = max(allowed or interface.outputs, key=lambda o: x[interface.outputs.index(o)])
            chosen = game.chosen(s)
            assert (chosen is None and not moves) or task.labels[chosen] == best


def test_start_states_satisfy_their_condition(data: Path) -> None:
    folder = data / "jani" / "blocksworld_6_5"
    (properties,) = (folder / "properties").glob("pa_*.jani")
    task = SafetyTask.load(folder / "model.jani", properties=properties)
    game = task.game()
    starts = task.start_states(game, count=50, seed=3)
    assert len(starts) >= 50
    assert starts == task.start_states(task.game(), count=50, seed=3)
    reference = Jani(json.loads(task.files.model), {}, {})
    for s in random.Random(0).sample(starts[1:], 5):
        assert reference.condition(task.files.start)(reference.read(task.state(game, s)))


@pytest.mark.parametrize("network", ["x.nnet", "x.pt", "x.onnx"])
def test_a_network_alone_names_its_description(network: str, tmp_path: Path) -> None:
    """`nnet:x.nnet` said: Expecting value."""
    file = tmp_path / network
    file.write_bytes(b"\xff// no JSON")
    with pytest.raises(InputError, match=r"a network alone; .* none beside it names this network"):
        read_interface(file)
    (tmp_path / "broken.jani2nnet").write_text("{")
    other = Interface(tmp_path / "other.nnet", ("speed",), ("coast",), True)
    write_interface(tmp_path / "other.jani2nnet", other, [])
    interface = Interface(file, ("speed",), ("coast",), True)
    write_interface(tmp_path / "zz.jani2nnet", interface, [])
    with pytest.raises(InputError, match=r"model's variables: name .*zz\.jani2nnet instead"):
        read_interface(file)
    with pytest.raises(InputError, match="No such file"):
        read_interface(tmp_path / f"absent-{network}")
