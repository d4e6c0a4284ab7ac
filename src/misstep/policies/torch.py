"""`torch:FILE`: multi-layer perceptrons that PyTorch trained, read and evaluated without PyTorch."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from misstep._core import Action, Mlp, StateBatch
from misstep.answers.logits import best_actions, check_outputs, state_encoder
from misstep.formats.linear_layers import Activation, Network, read_layers
from misstep.plugins import option
from misstep.task import Task


@dataclass(frozen=True)
class Torch:
    """The state_dict of an nn.Sequential of Linear layers and activations: facts in, scores of actions out.

    The file is one of safetensors, or of `torch.save(model.state_dict(), FILE)`; a checkpoint that keeps it
    under `state_dict` will do. Weights do not tell the activation: write `torch:FILE,activation=tanh`, unless
    the file names it. No code in it is run: anything but tensors and plain data is refused. Models of other
    shapes come as `onnx:FILE`, or with a few lines of your own as `python:FILE.py:NAME`.
    """

    isolate: ClassVar[bool] = True
    file: Path = field(metadata={"help": "the weights, .safetensors or .pt"})
    activation: Activation | None = option(
        None, "the activation function between the layers; none: the file names it"
    )

    def bind(self, task: Task, /) -> "MlpPolicy":
        """Reads the weights; PolicyError where their sizes are not those of the task."""
        return MlpPolicy(task, read_layers(self.file, activation=self.activation), source=str(self.file))


class MlpPolicy:
    """Linear layers with an activation between; the applicable action with the highest score."""

    def __init__(self, task: Task, network: Network, *, source: str) -> None:
        self.task = task
        self.network = network
        self._scorer = Mlp(network.layers, activation=network.activation)
        self._encode = state_encoder(task, self._scorer.inputs, source=source)
        check_outputs(task, self._scorer.outputs, source=source)

    def scores(self, states: StateBatch) -> NDArray[np.float32]:
        """One row a state, one column an action.

        Sums are made natively, in double precision and in a fixed order, and rounded once at the end: a
        state's choice between near equals does not depend on which other states are asked with it. Weights
        that are not finite show as scores that are no numbers.
        """
        scores = self._scorer(self._encode(states).astype(np.float64))
        with np.errstate(over="ignore"):
            return scores.astype(np.float32)

    def __call__(self, states: StateBatch, /) -> list[Action | None]:
        """The best action of each state."""
        return best_actions(self.task, states, self.scores(states))
