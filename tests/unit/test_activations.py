"""Activations of perceptrons: native values against PyTorch's and numpy's, and files that do not name one."""

import math
from collections.abc import Callable
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from misstep import load
from misstep._core import Mlp
from misstep.errors import InputError
from misstep.formats.linear_layers import Activation, read_layers
from misstep.formats.safetensors import write_safetensors
from misstep.plugins import make_policy_part
from misstep.policies.torch import Torch
from tests.conftest import COURIER

HAS_TORCH = find_spec("torch") is not None
if HAS_TORCH:
    import torch
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason='needs pip install "misstep[torch]"')

NAMES = get_args(Activation)
PLAIN: dict[str, Callable[[float], float]] = {
    "relu": lambda x: max(x, 0.0),
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "elu": lambda x: x if x > 0 else math.exp(x) - 1,
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "leaky-relu": lambda x: x if x > 0 else x / 100,
    "softplus": lambda x: x if x > 20 else math.log(1 + math.exp(x)),
    "identity": lambda x: x,
}
MODULES = ("ReLU", "Tanh", "Sigmoid", "ELU", "GELU", "LeakyReLU", "Softplus", "Identity")
POINTS = [-700.0, -30.0, -3.0, -0.5, -1e-9, 0.0, 1e-9, 0.5, 3.0, 19.9, 20.1, 700.0]


def layers(sizes: Any, seed: int = 0) -> Any:
    chance = np.random.default_rng(seed)
    return [(chance.normal(size=(b, a)), chance.normal(size=b)) for a, b in pairwise(sizes)]


def single(name: Any, x: Any) -> Any:
    """A network that is the activation itself."""
    one = (np.ones((1, 1)), np.zeros(1))
    return Mlp([one, one], activation=name)(np.array([[x]]))[0, 0]


@pytest.mark.parametrize("name", NAMES)
def test_values_are_the_definitions(name: str) -> None:
    for x in POINTS:
        assert single(name, x) == pytest.approx(PLAIN[name](x), rel=1e-9, abs=1e-12), x
    assert math.isnan(single(name, math.nan)), "what is not a number stays so"


@needs_torch
@pytest.mark.parametrize(("name", "module"), list(zip(NAMES, MODULES, strict=True)))
def test_networks_are_those_of_torch(name: str, module: Any) -> None:
    parts = layers([9, 32, 17, 5])
    act = getattr(torch.nn, module)()
    model = torch.nn.Sequential()
    for at, (weight, bias) in enumerate(parts):
        linear = torch.nn.Linear(weight.shape[1], weight.shape[0]).double()
        linear.weight.data, linear.bias.data = torch.tensor(weight), torch.tensor(bias)
        model.append(linear)
        if at < len(parts) - 1:
            model.append(act)
    x = np.random.default_rng(1).normal(size=(40, 9)) * 3
    with torch.no_grad():
        theirs = model(torch.tensor(x)).numpy()
    assert np.allclose(Mlp(parts, activation=name)(x), theirs, atol=1e-10, rtol=1e-10)


def test_weights_that_are_not_finite_are_not_lost() -> None:
    """An input of 0 times infinity is no number, as in PyTorch and numpy."""
    weight = np.array([[np.inf, 1.0]])
    assert np.isnan(Mlp([(weight, np.zeros(1))], activation="identity")(np.array([[0.0, 1.0]]))).all()


def test_unknown_activations() -> None:
    with pytest.raises(InputError, match="unknown activation 'swish'; there are relu, tanh"):
        Mlp(layers([2, 2]), activation="swish")
    with pytest.raises(TypeError):
        Mlp(layers([2, 2]))  # type: ignore[call-arg]


def saved(path: Path, sizes: Any, **options: Any) -> Any:
    arrays = {}
    for at, (weight, bias) in enumerate(layers(sizes)):
        arrays[f"{2 * at}.weight"] = weight.astype(np.float32)
        arrays[f"{2 * at}.bias"] = bias.astype(np.float32)
    write_safetensors(path, arrays, **options)
    return path


def test_nothing_is_guessed(tmp_path: Path) -> None:
    path = saved(tmp_path / "net.safetensors", [3, 4, 2])
    with pytest.raises(InputError) as caught:
        read_layers(path)
    assert f"`torch:{path},activation=NAME`, with NAME one of relu, tanh" in str(caught.value)
    assert read_layers(path, activation="tanh").activation == "tanh"
    with pytest.raises(InputError, match="`swish`; known are relu"):
        read_layers(path, activation="swish")
    alone = saved(tmp_path / "linear.safetensors", [3, 2])
    assert read_layers(alone).activation == "identity", "one layer needs none"


@pytest.mark.parametrize("written", ["tanh", "Tanh", "Tanh()", "torch.nn.Tanh", "nn.Tanh()"])
def test_metadata_may_name_it(tmp_path: Path, written: str) -> None:
    path = saved(tmp_path / "net.safetensors", [3, 4, 2], metadata={"activation": written})
    assert read_layers(path).activation == "tanh"
    assert read_layers(path, activation="tanh").activation == "tanh"
    with pytest.raises(InputError, match="says that its activation is tanh, not relu"):
        read_layers(path, activation="relu")


def test_metadata_with_an_activation_that_is_not_known(tmp_path: Path) -> None:
    path = saved(tmp_path / "net.safetensors", [3, 4, 2], metadata={"activation": "Mish"})
    with pytest.raises(InputError, match="it names the activation `Mish`; known are"):
        read_layers(path)


@needs_torch
@pytest.mark.parametrize("place", ["activation", "hyper_parameters"])
def test_checkpoints_may_name_it(tmp_path: Path, place: str) -> None:
    state = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ELU(), torch.nn.Linear(4, 2)).state_dict()
    told = {"activation": "ELU"} if place == "activation" else {"hyper_parameters": {"activation": "ELU"}}
    torch.save({"state_dict": state, **told}, tmp_path / "net.pt")
    assert read_layers(tmp_path / "net.pt").activation == "elu"


def test_tanh_and_relu_are_different_policies(tmp_path: Path) -> None:
    """The defect that made this: a network for tanh was evaluated with ReLU and nobody noticed."""
    task = load(*COURIER)
    path = saved(tmp_path / "net,v=2.safetensors", [sum(task.domain_sizes), 32, len(task.actions)])
    first = task.initial_state
    states = task.batch([first, *(state for _, state in task.successors(first))])
    bound = {
        name: make_policy_part(f"torch:{path},activation={name}").bind(task) for name in ("tanh", "relu")
    }
    assert bound["tanh"](states) == Torch(path, "tanh").bind(task)(states)
    weights = read_layers(path, activation="tanh").layers
    x = np.zeros((len(states), sum(task.domain_sizes)))
    starts = np.concatenate(([0], np.cumsum(task.domain_sizes)[:-1]))
    x[np.arange(len(states))[:, None], starts + states.values] = 1
    for name, function in (("tanh", np.tanh), ("relu", lambda h: np.maximum(h, 0))):
        expected = function(x @ weights[0][0].T + weights[0][1]) @ weights[1][0].T + weights[1][1]
        assert np.allclose(bound[name].scores(states), expected, atol=1e-4)
    assert not np.allclose(bound["tanh"].scores(states), bound["relu"].scores(states), atol=0.1)
