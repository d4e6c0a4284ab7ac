"""`torch:FILE`: multi-layer perceptrons that PyTorch trained, read and evaluated without PyTorch."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misstep._core import Action, StateBatch
from misstep.errors import InputError, PolicyError
from misstep.formats.safetensors import is_safetensors, read_safetensors
from misstep.formats.torch_checkpoint import read_checkpoint, tensors
from misstep.logits import best_actions, check_outputs, state_encoder
from misstep.plugins import option
from misstep.task import Task

_NAME = re.compile(r"(?P<prefix>(?:.*\.)?)(?P<index>[0-9]{1,6})\.(?P<kind>weight|bias)")


@dataclass(frozen=True)
class Torch:
    """The state_dict of an nn.Sequential of Linear layers with ReLU between: facts in, scores of actions out.

    The file is one of safetensors, or of `torch.save(model.state_dict(), FILE)`; a checkpoint that keeps it
    under `state_dict` will do. No code in it is run: anything but tensors and plain data is refused. Models
    of other shapes come as `onnx:FILE`, or with a few lines of your own as `python:FILE.py:NAME`.
    """

    file: str = option("", "the weights, .safetensors or .pt")

    def bind(self, task: Task, /) -> "MlpPolicy":
        """Reads the weights; PolicyError where their sizes are not those of the task."""
        if not self.file:
            raise InputError("policy `torch` needs a file; write `torch:FILE.safetensors`")
        return MlpPolicy(task, _layers(_arrays(Path(self.file)), self.file), source=self.file)


class MlpPolicy:
    """Linear layers with ReLU between them; the applicable action with the highest score."""

    def __init__(
        self, task: Task, layers: list[tuple[NDArray[np.float64], NDArray[np.float64]]], *, source: str
    ) -> None:
        self.task = task
        self.layers = layers
        self._encode = state_encoder(task, layers[0][0].shape[1], source=source)
        check_outputs(task, layers[-1][0].shape[0], source=source)

    def scores(self, states: StateBatch) -> NDArray[np.float32]:
        """One row a state, one column an action.

        Sums are made in double precision and rounded once at the end: how a product of matrices adds up
        depends on their sizes, and without this a state's choice between near equals would depend on which
        other states are asked with it.
        """
        hidden = self._encode(states).astype(np.float64)
        with np.errstate(all="ignore"):  # Weights that are not finite show as scores that are no numbers.
            for at, (weight, bias) in enumerate(self.layers):
                hidden = (np.maximum(hidden, 0) if at else hidden) @ weight.T + bias
            return hidden.astype(np.float32)

    def __call__(self, states: StateBatch, /) -> list[Action | None]:
        """The best action of each state."""
        return best_actions(self.task, states, self.scores(states))


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


def _layers(
    arrays: Mapping[str, NDArray[Any]], source: str
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
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
