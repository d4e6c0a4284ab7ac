"""Policies for safety games: networks, tree ensembles, Python functions, all behind one native interface."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from misstep._core import Mlp, SafetyPolicy, Scorer, python_policy, score_policy
from misstep.answers.answer import NO_NUMBER, shown
from misstep.errors import InputError, MisstepError, PolicyError
from misstep.formats.linear_layers import Layers, read_layers
from misstep.formats.nnet import Interface, read_interface, read_nnet
from misstep.plugins import make_policy_part, option
from misstep.policies.python import find_object
from misstep.safety.model import SafetyTask, StateDict
from misstep.safety.trees import read_trees
from misstep.support.describe import describe_error
from misstep.support.extras import require_extra
from misstep.support.suggest import did_you_mean

_ZOO = Path(__file__).parents[1] / "bundled" / "safety_zoo"
Scores = Callable[[NDArray[np.float64]], NDArray[np.float64]]
PolicyFunction = Callable[[StateDict, tuple[str, ...]], str | None]


def load_policy(spec: str, task: SafetyTask, *, filter: bool | None = None) -> SafetyPolicy:
    """The policy that users name, such as `nnet:FILE.jani2nnet`, on a task.

    `filter` overrides whether only applicable labels are considered. Networks of PyTorch may need
    `,activation=NAME` after the file, see `read_layers`.
    """
    return policy_part(spec).bind(task, filter=filter)


def policy_part(spec: str) -> SafetyPolicyPart:
    """The part that users name."""
    part: SafetyPolicyPart = make_policy_part(spec, kind="safety-policy")
    return part


class SafetyPolicyPart(Protocol):
    """A policy for JANI models as users name it."""

    @property
    def files(self) -> tuple[Path, ...]:
        """What the policy is read from, for digests."""
        ...

    def bind(self, task: SafetyTask, /, *, filter: bool | None = None) -> SafetyPolicy:
        """The policy on a task; `filter` as for `load_policy`."""
        ...


@dataclass(frozen=True)
class _Described:
    """A network or tree ensemble behind a .jani2nnet file, which says what it is."""

    file: Path = option(Path(), "the .jani2nnet file that describes it")
    activation: str | None = option(
        None, "the activation function between the layers of PyTorch weights, if no file names it"
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The description and the network beside it."""
        return (self.file, read_interface(self.file).file)

    def bind(self, task: SafetyTask, /, *, filter: bool | None = None) -> SafetyPolicy:
        """The policy on a task."""
        return network_policy(self.file, task, filter=filter, activation=self.activation)


@dataclass(frozen=True)
class Nnet(_Described):
    """A network with ReLU in a .nnet file; evaluated natively."""


@dataclass(frozen=True)
class Onnx(_Described):
    """A network in an ONNX file; needs the extra `onnx`."""


@dataclass(frozen=True)
class Torch(_Described):
    """Weights saved by PyTorch or as safetensors; a file or an option names the activation."""


@dataclass(frozen=True)
class Trees(_Described):
    """A tree ensemble in JSON; evaluated natively."""


@dataclass(frozen=True)
class Zoo:
    """A policy for one of misstep's own benchmarks, bundled with it."""

    benchmark: str = option("", "the benchmark, such as two_way_line")

    @staticmethod
    def names() -> list[str]:
        """Which there are."""
        return sorted(path.stem for path in _ZOO.glob("*.jani2nnet"))

    @property
    def files(self) -> tuple[Path, ...]:
        """The description and the network beside it."""
        return _Described(zoo_file(self.benchmark)).files

    def bind(self, task: SafetyTask, /, *, filter: bool | None = None) -> SafetyPolicy:
        """The policy on a task."""
        return network_policy(zoo_file(self.benchmark), task, filter=filter)


@dataclass(frozen=True)
class Python:
    """A Python function of (state, applicable labels) that returns a label or None."""

    function: str = option("", "MODULE:NAME or FILE.py:NAME")

    @property
    def files(self) -> tuple[Path, ...]:
        """None: a module may be made of anything."""
        return ()

    def bind(self, task: SafetyTask, /, *, filter: bool | None = None) -> SafetyPolicy:
        """The policy on a task; a function sees the applicable labels, so there is nothing to filter."""
        return function_policy(self.load(), task)

    def load(self) -> PolicyFunction:
        """Imports the function."""
        function: PolicyFunction = find_object(self.function)
        if not callable(function):
            raise PolicyError(f"python:{self.function}: that is no function of (state, applicable labels)")
        return function


def zoo_file(name: str) -> Path:
    """The interface file of a policy that comes with misstep."""
    path = _ZOO / f"{name}.jani2nnet"
    if not path.is_file():
        hint = did_you_mean(name, Zoo.names()) or f"known are {', '.join(Zoo.names())}"
        raise InputError(f"no bundled policy {name!r}; {hint}")
    return path


def function_policy(function: PolicyFunction, task: SafetyTask) -> SafetyPolicy:
    """A Python function of (state, applicable labels) that returns a label or None."""
    labels = task.labels
    numbers = {label: i for i, label in enumerate(labels)}

    def choose(values: Sequence[Any], applicable: Sequence[int]) -> int | None:
        try:
            answer: object = function(task.to_dict(values), tuple(labels[i] for i in applicable))
        except (MisstepError, KeyboardInterrupt):
            raise
        except BaseException as error:  # SystemExit is the policy's failure, too
            raise PolicyError(f"the policy raised {describe_error(error)}") from error
        if answer is None:
            return None
        if not isinstance(answer, str):
            raise PolicyError(f"the policy answered {shown(answer)}; answer with a label, or None")
        if answer not in numbers:
            raise PolicyError(f"the policy chose {answer!r:.80}, which is not an action of the model")
        return numbers[answer]

    return python_policy(task.model, choose)


def network_of(part: SafetyPolicyPart) -> tuple[Path, str | None]:
    """The `.jani2nnet` file behind a part and the activation that users named, if it is a network."""
    if isinstance(part, Zoo):
        return zoo_file(part.benchmark), None
    if isinstance(part, _Described):
        return part.file, part.activation
    raise InputError(f"policy `{part}`: only functions and networks can live in a process of their own")


def network_policy(
    path: Path,
    task: SafetyTask,
    *,
    filter: bool | None = None,
    activation: str | None = None,
    scores: Scores | None = None,
) -> SafetyPolicy:
    """The network or tree ensemble that a `.jani2nnet` file describes; `scores` evaluates it elsewhere."""
    interface = read_interface(path)
    inputs = [_match(name, task, f"{path}: $.input[{i}]") for i, name in enumerate(interface.inputs)]
    named = [name for name in inputs if isinstance(name, str)]
    for i, label in enumerate(interface.outputs):
        if label not in task.labels:
            raise InputError(f"{path}: $.output[{i}]: the model has no action {label!r}")
    use_filter = interface.filter if filter is None else filter
    if scores is not None or interface.file.suffix == ".onnx":
        return scores_policy(scores or _onnx(interface.file), inputs, interface, task, filter=use_filter)
    try:
        scorer = _scorer(interface.file, len(inputs), activation or interface.activation)
        if len(named) < len(inputs):
            return scores_policy(scorer, inputs, interface, task, filter=use_filter)
        return score_policy(task.model, scorer, named, list(interface.outputs), filter=use_filter)
    except InputError as error:
        raise InputError(str(error) if str(interface.file) in str(error) else f"{path}: {error}") from None


def read_scores(interface: Interface, activation: str | None) -> Scores:
    """What evaluates the network that an interface describes."""
    if interface.file.suffix == ".onnx":
        return _onnx(interface.file)
    return _scorer(interface.file, len(interface.inputs), activation or interface.activation)


def layers_policy(
    layers: Layers, inputs: Sequence[str], outputs: Sequence[str], task: SafetyTask
) -> SafetyPolicy:
    """A network with ReLU that is in memory; it considers only what is applicable."""
    scorer = Mlp(layers, activation="relu")
    return score_policy(task.model, scorer, list(inputs), list(outputs), filter=True)


def _scorer(file: Path, inputs: int, activation: str | None) -> Scorer:
    if file.suffix in (".pt", ".pth", ".safetensors"):
        network = read_layers(file, activation=activation)
        return Mlp(network.layers, activation=network.activation)
    if file.suffix == ".nnet" and activation in (None, "relu"):
        return Mlp(read_nnet(file), activation="relu")  # The format knows no other.
    if activation is not None:
        raise InputError(
            f"{file}: the activation of such a file is fixed; leave `activation={activation}` out"
        )
    if file.suffix == ".json":
        return read_trees(file, inputs)
    raise InputError(f"unknown kind of network file {file.name!r}")


def _match(name: str, task: SafetyTask, where: str) -> str | float:
    """The field of the model that an interface means, or the value of the constant.

    PlaJA counts instances over all automata.
    """
    if name in task.model.fields:
        return name
    if part := re.fullmatch(r"(.*)\[(\d+)\]([.@].*)", name):
        automaton, index, rest = part[1], int(part[2]), part[3]
        own = [instance for instance, kind, _ in task.model.instances if kind == automaton]
        everyone = [instance for instance, _, _ in task.model.instances]
        names = [*own[index : index + 1], *(n for n in everyone[index : index + 1] if n in own)]
        for instance in names:
            if (field := instance + rest) in task.model.fields:
                return field
    constant = _constant(name, task)
    if constant is None:
        raise InputError(f"{where}: the model has no variable {name!r}")
    if not isinstance(constant, int | float):
        raise InputError(
            f"{where}: the constant {name!r} of the model is computed; give its value, --constant {name}=..."
        )
    return float(constant)


def _constant(name: str, task: SafetyTask) -> object | None:
    """What the model, or --constant, says that a constant is; None where there is none of that name."""
    declared = {c["name"]: c.get("value") for c in json.loads(task.files.model).get("constants", [])}
    return task.constants.get(name, declared[name]) if name in declared else None


def scores_policy(
    scores: Scores, inputs: Sequence[str | float], interface: Interface, task: SafetyTask, *, filter: bool
) -> SafetyPolicy:
    """argmax over the scores of one state, the first of equals; as the native networks do it.

    Inputs are fields of the state, or numbers that are always the same.
    """
    places = [task.model.fields.index(name) if isinstance(name, str) else None for name in inputs]
    columns = list(zip(places, inputs, strict=True))
    outputs = [task.labels.index(label) for label in interface.outputs]

    def choose(values: Sequence[Any], applicable: Sequence[int]) -> int:
        row = scores(np.array([[float(fixed if c is None else values[c]) for c, fixed in columns]]))[0]
        if len(row) != len(outputs):
            raise PolicyError(f"{interface.file}: {len(row)} outputs, {len(outputs)} expected")
        allowed = [i for i, label in enumerate(outputs) if label in applicable] if filter else []
        counting = allowed or range(len(outputs))
        if any(math.isnan(row[i]) for i in counting):
            raise PolicyError(NO_NUMBER.reason)
        return outputs[max(counting, key=lambda i: (row[i], -i))]

    return python_policy(task.model, choose)


def _onnx(path: Path) -> Scores:
    onnxruntime = require_extra("onnxruntime", extra="onnx", purpose=f"reading {path.name}")
    try:
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises its own kinds for a bad file
        raise InputError(f"{path}: not an ONNX network: {error}") from None
    name = session.get_inputs()[0].name

    def scores(x: NDArray[np.float64]) -> NDArray[np.float64]:
        (out, *_) = session.run(None, {name: x.astype(np.float32)})
        return np.asarray(out, np.float64)

    return scores
