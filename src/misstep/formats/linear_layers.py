"""Linear layers that PyTorch saved, as matrices: .safetensors or a state_dict (.pt); no code is run."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from misstep.errors import InputError, PolicyError
from misstep.formats.safetensors import is_safetensors, read_safetensors
from misstep.formats.torch_checkpoint import read_checkpoint, tensors

Layers = list[tuple[NDArray[np.float64], NDArray[np.float64]]]
Activation = Literal["relu", "tanh", "sigmoid", "elu", "gelu", "leaky-relu", "softplus", "identity"]
"""What stands between the layers, as PyTorch's modules of these names compute it by default."""

_NAME = re.compile(r"(?P<prefix>(?:.*\.)?)(?P<index>[0-9]{1,6})\.(?P<kind>weight|bias)")


class Network(NamedTuple):
    """Weight and bias of each linear layer of an nn.Sequential, in order, and what stands between them."""

    layers: Layers
    activation: Activation


def read_layers(path: Path, *, activation: str | None = None) -> Network:
    """The network of a file. Weights do not tell the activation, so it is given here or named in the file.

    A file names it under `activation`: in the metadata of safetensors, beside the `state_dict` of a
    checkpoint or in its `hyper_parameters`. A network of one layer needs none.
    """
    arrays, named = _contents(path)
    layers = _layers(arrays, str(path))
    said = None if named is None else _activation(named, f"{path}: it names the activation")
    wanted = None if activation is None else _activation(activation, f"{path}: the activation is given as")
    if said is not None and wanted not in (None, said):
        raise InputError(f"{path}: the file says that its activation is {said}, not {wanted}; leave it out")
    found = wanted or said
    if found is None and len(layers) > 1:
        raise InputError(
            f"{path}: the weights of {len(layers)} layers do not tell which activation stands between them; "
            f"name it: `torch:{path},activation=NAME`, with NAME one of {', '.join(get_args(Activation))}"
        )
    return Network(layers, found or "identity")


def _activation(name: str, where: str) -> Activation:
    """One of the known activations, written as users and PyTorch do: `leaky-relu`, `LeakyReLU`, `Tanh()`."""
    plain = re.sub(r"[^a-z]", "", name.lower().rpartition(".")[2])
    for known in get_args(Activation):
        if plain == known.replace("-", ""):
            result: Activation = known
            return result
    raise InputError(f"{where} `{name}`; known are {', '.join(get_args(Activation))}: export others to ONNX")


def _contents(path: Path) -> tuple[Mapping[str, NDArray[Any]], str | None]:
    """The arrays by name, and the activation if the file names it."""
    try:
        with path.open("rb") as file:
            head = file.read(9)
    except OSError as error:
        raise InputError(f"{path}: cannot read the weights: {error.strerror}; check the path") from None
    if is_safetensors(head):
        arrays, metadata = read_safetensors(path)
        return arrays, metadata.get("activation")
    with read_checkpoint(path) as checkpoint:
        content, named = checkpoint.content, None
        if isinstance(content, dict) and isinstance(content.get("state_dict"), dict):
            about = content.get("hyper_parameters")
            named = content.get("activation", about.get("activation") if isinstance(about, dict) else None)
            content = content["state_dict"]
        if not isinstance(content, dict):
            raise InputError(f"{path}: holds no state_dict; save `model.state_dict()`")
        arrays = {str(name): checkpoint.array(tensor) for name, tensor in tensors(content).items()}
        return arrays, named if isinstance(named, str) else None


def _layers(arrays: Mapping[str, NDArray[Any]], source: str) -> Layers:
    """Weight and bias of each linear layer, in order."""
    found: dict[int, dict[str, NDArray[np.float64]]] = {}
    prefixes = set()
    for name, array in arrays.items():
        match = _NAME.fullmatch(name)
        if match is None or array.ndim != (2 if match["kind"] == "weight" else 1):
            raise PolicyError(
                f"{source}: tensor `{name}` of shape {array.shape} is not of a linear layer; this reads an "
                "nn.Sequential of Linear layers (`0.weight`, `0.bias`, `2.weight`, ...): export other "
                "models to ONNX, or use `python:FILE.py:NAME`"
            )
        prefixes.add(match["prefix"])
        found.setdefault(int(match["index"]), {})[match["kind"]] = array.astype(np.float64)
    if len(prefixes) > 1:
        raise PolicyError(f"{source}: layers of several networks ({', '.join(sorted(prefixes))}); keep one")
    layers = []
    width: int | None = None
    for index, layer in sorted(found.items()):
        weight = layer.get("weight")
        if weight is None:
            raise PolicyError(f"{source}: layer {index} has no weight")
        bias = layer.get("bias", np.zeros(weight.shape[0]))
        if bias.shape != weight.shape[:1] or (width is not None and weight.shape[1] != width):
            raise PolicyError(
                f"{source}: layer {index} has a weight of shape {weight.shape}, a bias of shape {bias.shape}"
                + (f" after a layer of {width}" if width is not None else "")
            )
        width = weight.shape[0]
        layers.append((weight, bias))
    if not layers:
        raise PolicyError(f"{source}: has no layers; save `model.state_dict()`")
    return layers
