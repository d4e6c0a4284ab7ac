"""`torch:FILE`: multi-layer perceptrons that PyTorch trained, read and evaluated without PyTorch."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from misstep._core import Action, StateBatch
from misstep.answers.logits import best_actions, check_outputs, state_encoder
from misstep.formats.linear_layers import Layers, read_layers
from misstep.task import Task


@dataclass(frozen=True)
class Torch:
    """The state_dict of an nn.Sequential of Linear layers with ReLU between: facts in, scores of actions out.

    The file is one of safetensors, or of `torch.save(model.state_dict(), FILE)`; a checkpoint that keeps it
    under `state_dict` will do. No code in it is run: anything but tensors and plain data is refused. Models
    of other shapes come as `onnx:FILE`, or with a few lines of your own as `python:FILE.py:NAME`.
    """

    file: Path = field(metadata={"help": "the weights, .safetensors or .pt"})

    def bind(self, task: Task, /) -> "MlpPolicy":
        """Reads the weights; PolicyError where their sizes are not those of the task."""
        return MlpPolicy(task, read_layers(self.file), source=str(self.file))


class MlpPolicy:
    """Linear layers with ReLU between them; the applicable action with the highest score."""

    def __init__(self, task: Task, layers: Layers, *, source: str) -> None:
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
