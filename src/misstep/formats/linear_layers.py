"""Linear layers that PyTorch saved, as matrices: .safetensors or a state_dict (.pt); no code is run."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misstep.errors import InputError, PolicyError
from misstep.formats.safetensors import is_safetensors, read_safetensors
from misstep.formats.torch_checkpoint import read_checkpoint, tensors

Layers = list[tuple[NDArray[np.float64], NDArray[np.float64]]]

_NAME = re.compile(r"(?P<prefix>(?:.*\.)?)(?P<index>[0-9]{1,6})\.(?P<kind>weight|bias)")


def read_layers(path: Path) -> Layers:
    """Weight and bias of each linear layer of an nn.Sequential, in order."""
    return _layers(_arrays(path), str(path))


def _arrays(path: Path) -> Mapping[str, NDArray[Any]]:
    try:
        with path.open("rb") as file:
            head = file.read(9)
    except OSError as error:
        raise InputError(f"{path}: cannot read the weights: {error.strerror}; check the path") from None
    if is_safetensors(head):
        return read_safetensors(path)[0]
    with read_checkpoint(path) as checkpoint:
        content = checkpoint.content
        if isinstance(content, dict) and isinstance(content.get("state_dict"), dict):
            content = content["state_dict"]
        if not isinstance(content, dict):
            raise InputError(f"{path}: holds no state_dict; save `model.state_dict()`")
        return {str(name): checkpoint.array(tensor) for name, tensor in tensors(content).items()}


def _layers(arrays: Mapping[str, NDArray[Any]], source: str) -> Layers:
    """Weight and bias of each linear layer, in order."""
    found: dict[int, dict[str, NDArray[np.float64]]] = {}
    prefixes = set()
    for name, array in arrays.items():
        match = _NAME.fullmatch(name)
        if match is None or array.ndim != (2 if match["kind"] == "weight" else 1):
            raise PolicyError(
                f"{source}: tensor `{name}` of shape {array.shape} is not of a linear layer; this reads an "
                "nn.Sequential of Linear and ReLU (`0.weight`, `0.bias`, `2.weight`, ...): export other "
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
