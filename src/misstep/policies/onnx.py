"""`onnx:FILE`: networks in the exchange format ONNX, evaluated by onnxruntime."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from misstep._core import Action, StateBatch
from misstep.answers.logits import best_actions, check_outputs, state_encoder
from misstep.errors import InputError, PolicyError
from misstep.support.extras import require_extra
from misstep.task import Task

_DTYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
}
_ERRORS_ONLY = 3


@dataclass(frozen=True)
class Onnx:
    """A network with one input (states, facts) and scores (states, actions) as output, by onnxruntime.

    The input is one number for each fact of the task, 1 where it holds, or the value of each variable. Of
    several outputs the one called `logits` is taken. Needs `pip install "misstep[onnx]"`.
    """

    isolate: ClassVar[bool] = True
    file: Path = field(metadata={"help": "the model, .onnx"})

    def bind(self, task: Task, /) -> "OnnxPolicy":
        """Loads the model; PolicyError where its sizes are not those of the task."""
        return OnnxPolicy(task, self.file)


class OnnxPolicy:
    """The applicable action with the highest score.

    States are evaluated one by one: with several in one call their company decides in which order sums are
    made, and a choice between near equals would no longer depend on the state alone.
    """

    def __init__(self, task: Task, path: str | Path) -> None:
        runtime = require_extra("onnxruntime", extra="onnx", purpose="policy `onnx:FILE`")
        source = Path(path)
        if not source.is_file():
            raise InputError(f"{path}: no such file; an ONNX model was expected here")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        try:
            self._session = runtime.InferenceSession(
                str(source), sess_options=options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # The runtime's errors have no common base.
            raise PolicyError(f"{path}: onnxruntime cannot load this model: {_first_line(error)}") from None
        self.task = task
        self._source = str(path)
        self._input, self._dtype, width = self._check_input()
        self._encode = state_encoder(task, width, source=self._source)
        self._output = self._choose_output()

    def __call__(self, states: StateBatch, /) -> list[Action | None]:
        """The best action of each state."""
        return best_actions(self.task, states, self.scores(states))

    def scores(self, states: StateBatch) -> NDArray[Any]:
        """One row a state, one column an action."""
        encoded = self._encode(states).astype(self._dtype)
        rows = [self._evaluate(encoded[at : at + 1]) for at in range(len(states))]
        return np.concatenate(rows) if rows else np.zeros((0, len(self.task.actions)), np.float32)

    def _evaluate(self, row: NDArray[Any]) -> NDArray[Any]:
        try:
            (scores,) = self._session.run([self._output], {self._input: row})
        except Exception as error:
            raise PolicyError(f"{self._source}: evaluating the model failed: {_first_line(error)}") from None
        if not isinstance(scores, np.ndarray) or scores.shape != (1, len(self.task.actions)):
            shape = getattr(scores, "shape", type(scores).__name__)
            raise PolicyError(
                f"{self._source}: the output `{self._output}` is {shape} for one state; (1, "
                f"{len(self.task.actions)}) was expected, a score for each action of the task"
            )
        if not np.issubdtype(scores.dtype, np.floating):
            raise PolicyError(f"{self._source}: the output `{self._output}` is of type {scores.dtype}")
        return scores

    def _check_input(self) -> tuple[str, Any, int | None]:
        inputs = self._session.get_inputs()
        if len(inputs) != 1:
            names = ", ".join(one.name for one in inputs)
            raise PolicyError(f"{self._source}: has {len(inputs)} inputs ({names}); one is needed, the state")
        (found,) = inputs
        if found.type not in _DTYPES:
            raise PolicyError(f"{self._source}: the input `{found.name}` is {found.type}, not of numbers")
        if len(found.shape) != 2 or (isinstance(found.shape[0], int) and found.shape[0] != 1):
            raise PolicyError(
                f"{self._source}: the input `{found.name}` has the shape {found.shape}; (states, numbers) is "
                "needed, with any number of states or 1"
            )
        width = found.shape[1]
        return found.name, _DTYPES[found.type], width if isinstance(width, int) else None

    def _choose_output(self) -> str:
        outputs = self._session.get_outputs()
        named = [one for one in outputs if one.name == "logits"]
        if len(outputs) != 1 and len(named) != 1:
            names = ", ".join(one.name for one in outputs)
            raise PolicyError(
                f"{self._source}: has {len(outputs)} outputs ({names}); give one, or call one `logits`"
            )
        (found,) = named or outputs
        if len(found.shape) == 2 and isinstance(found.shape[1], int):
            check_outputs(self.task, found.shape[1], source=self._source)
        return str(found.name)


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
