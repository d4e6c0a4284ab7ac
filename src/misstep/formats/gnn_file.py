"""Relational networks in files: the authors' checkpoints, and misstep's own safetensors files."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from misstep.errors import InputError
from misstep.formats.gnn_checkpoint import read_published
from misstep.formats.gnn_model import GnnModel, GnnShape, Weights, make_gnn
from misstep.formats.safetensors import is_safetensors, read_safetensors, write_safetensors

_FORMAT = "misstep-gnn-1"


def read_gnn(path: str | Path) -> GnnModel:
    """The network in a file, whose format is recognised by its content. Nothing in the file is run."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return make_gnn(str(path), *read_arrays(path)) if is_safetensors(head) else read_published(path)


def read_arrays(path: str | Path) -> tuple[GnnShape, dict[str, Weights]]:
    """A file of ours as shape and arrays."""
    arrays, metadata = read_safetensors(path)
    if metadata.get("format") != _FORMAT:
        raise InputError(f"{path}: is a safetensors file, but no GNN of misstep (format `{_FORMAT}`)")
    try:
        about = json.loads(metadata["gnn"])
        shape = GnnShape(
            about["kind"],
            int(about["hidden"]),
            int(about["layers"]),
            tuple((str(name), int(arity)) for name, arity in about["relations"]),
            bool(about["solvable"]),
            str(about["domain"]),
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (KeyError, ValueError, TypeError, OverflowError, RecursionError):
        raise InputError(f"{path}: the metadata does not describe a GNN; write it with write_gnn") from None
    return shape, arrays


def write_gnn(path: str | Path, shape: GnnShape, arrays: Mapping[str, Weights]) -> None:
    """Writes a network of ours: one array a layer, names and sizes as JSON in the metadata."""
    write_safetensors(path, arrays, metadata={"format": _FORMAT, "gnn": json.dumps(asdict(shape))})
