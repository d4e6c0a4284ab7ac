"""Network files: `.nnet` text, and the `.jani2nnet` interface that names their inputs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from misstep.errors import InputError
from misstep.formats.jani import parse, read_text
from misstep.formats.linear_layers import Layers
from misstep.support.whole_files import write_file

# Files of networks, which are no descriptions of how they are connected to a model.
_NETWORKS = (".nnet", ".onnx", ".pt", ".pth", ".safetensors")


@dataclass(frozen=True)
class Interface:
    """Which value of the state feeds which input, and which label each output stands for."""

    file: Path
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    filter: bool
    activation: str | None = None
    """Of a network whose file does not tell it."""


def read_interface(path: Path) -> Interface:
    """Read a `.jani2nnet` file. Inputs come out as the names that JaniModel.fields uses.

    Of an automaton they carry the index that the file gives, `automaton[index].variable`: whether the model
    has several copies is not known here.
    """
    document, file = _document(path)
    inputs, outputs = document.get("input"), document.get("output")
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        raise InputError(f"{path}: $.input and $.output must be lists")
    for i, label in enumerate(outputs):
        if not isinstance(label, str) or label in outputs[:i]:
            raise InputError(f"{path}: $.output[{i}]: expected a label, each once")
    use_filter = document.get("filter", False)
    if not isinstance(use_filter, bool):
        raise InputError(f"{path}: $.filter: expected true or false")
    activation = document.get("activation")
    if not (activation is None or isinstance(activation, str)):
        raise InputError(f"{path}: $.activation: expected the name of an activation, such as relu")
    names = tuple(_field(entry, f"{path}: $.input[{i}]") for i, entry in enumerate(inputs))
    return Interface(path.parent / file, names, tuple(outputs), use_filter, activation)


def _other_file(path: Path) -> str:
    """What to name where a network is named alone: the description that says how it is connected to the model."""
    described = [other for other in sorted(path.parent.glob("*.jani2nnet")) if _names(other, path.name)]
    what = "this is a network alone; a policy needs the .jani2nnet file that connects it to the model's variables"
    return f"{what}: " + (
        f"name {described[0]} instead" if described else "none beside it names this network"
    )


def _names(description: Path, network: str) -> bool:
    try:
        return Path(network_name(description)).name == network
    except InputError:
        return False


def network_name(path: Path) -> str:
    """The name of the network's file in a `.jani2nnet` file, relative to its folder."""
    return _document(path)[1]


def _document(path: Path) -> tuple[dict[str, Any], str]:
    """What the file says, and the name of the network's file in it."""
    if path.suffix in _NETWORKS and path.is_file():
        raise InputError(f"{path}: {_other_file(path)}")
    document = parse(read_text(path), str(path))
    if not isinstance(document, dict):
        raise InputError(f"{path}: expected a JSON object")
    file = document.get("file") or document.get("torch-file")
    if not isinstance(file, str):
        raise InputError(f"{path}: $.file: the network's file is missing")
    return document, file


def write_interface(path: Path, interface: Interface, hidden: Sequence[int]) -> None:
    """Write what `read_interface` reads; global scalars and array cells only."""
    document = {
        "file": interface.file.name,
        "filter": interface.filter,
        "input": [_entry(name) for name in interface.inputs],
        "elements": list(hidden),
        "output": list(interface.outputs),
    }
    if interface.activation is not None:
        document["activation"] = interface.activation
    write_file(path, json.dumps(document, indent=1) + "\n")


def _entry(name: str) -> dict[str, Any]:
    base, bracket, index = name.partition("[")
    entry: dict[str, Any] = {"automaton": None, "name": base}
    if bracket:
        entry["index"] = int(index.rstrip("]"))
    return entry


def _field(entry: Any, where: str) -> str:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise InputError(f"{where}: expected an object with a name")
    name, index, automaton = entry["name"], entry.get("index"), entry.get("automaton")
    if not (index is None or (isinstance(index, int) and index >= 0)):
        raise InputError(f"{where}.index: expected a number")
    if "automaton" not in entry:  # the location of an automaton; its index is that of the instance
        return f"{name}[{index or 0}]@location"
    if isinstance(automaton, dict):
        name = f"{automaton.get('name')}[{automaton.get('index', 0)}].{name}"
    elif automaton is not None:
        raise InputError(f"{where}.automaton: expected null or an object with name and index")
    return name if index is None else f"{name}[{index}]"


def read_nnet(path: Path) -> Layers:
    """The layers of an `.nnet` file. Its normalisation lines are read over: policies do not use them."""
    rows = _rows(read_text(path), str(path))

    def row() -> list[float]:
        if (found := next(rows, None)) is None:
            raise InputError(f"{path}: the file ends too early")
        return found

    header, sizes = row(), [int(size) for size in row()]
    if len(sizes) < 2 or header[:3] != [len(sizes) - 1, sizes[0], sizes[-1]] or min(sizes) < 1:
        raise InputError(f"{path}: the header and the layer sizes do not fit together")
    for _ in range(5):  # a flag, minima, maxima, means, ranges
        row()
    layers: Layers = []
    for inputs, outputs in pairwise(sizes):
        weights = [row() for _ in range(outputs)]
        biases = [row() for _ in range(outputs)]
        if any(len(row) != inputs for row in weights) or any(len(row) != 1 for row in biases):
            raise InputError(f"{path}: a row of weights or biases has the wrong length")
        layers.append((np.array(weights, np.float64), np.array(biases, np.float64)[:, 0]))
    if next(rows, None) is not None:
        raise InputError(f"{path}: more numbers than the layer sizes say")
    return layers


def _rows(text: str, file: str) -> Iterator[list[float]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        try:
            row = [float(cell) for cell in line.split(",") if cell.strip()]
        except ValueError:
            raise InputError(f"{file}:{number}: expected numbers separated by commas") from None
        if not all(np.isfinite(row)):
            raise InputError(f"{file}:{number}: a number is not finite")
        yield row


def write_nnet(path: Path, layers: Layers) -> None:
    """Write what `read_nnet` reads, with enough digits to read the same numbers back."""
    sizes = [layers[0][0].shape[1], *(weights.shape[0] for weights, _ in layers)]
    lines = [
        "// written by misstep",
        ",".join(str(n) for n in (len(layers), sizes[0], sizes[-1], max(sizes))) + ",",
        ",".join(map(str, sizes)) + ",",
        "0,",
        *("0," * sizes[0], "0," * sizes[0], "0," * (sizes[0] + 1), "1," * (sizes[0] + 1)),
    ]
    for weights, biases in layers:
        lines += [",".join(repr(float(w)) for w in row) + "," for row in weights]
        lines += [f"{float(b)!r}," for b in biases]
    write_file(path, "\n".join(lines) + "\n")
