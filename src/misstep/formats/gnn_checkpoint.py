"""The networks of Ståhlberg, Bonet & Geffner (KR 2022) from their checkpoints: shapes, names and weights."""

import re
from pathlib import Path

import numpy as np

from misstep.errors import InputError, UnsupportedFeature
from misstep.formats.gnn_model import (
    MAX_ARITY,
    MAX_HIDDEN,
    MAX_ITERATIONS,
    GnnModel,
    Mlp,
    Readout,
    Relation,
    Weights,
)
from misstep.formats.torch_checkpoint import TorchCheckpoint, read_checkpoint, tensors


def read_published(path: str | Path) -> GnnModel:
    """Reads and checks a checkpoint. Nothing in the file is run."""
    with read_checkpoint(path) as checkpoint:
        return _Reader(checkpoint).model()


class _Reader:
    def __init__(self, checkpoint: TorchCheckpoint) -> None:
        self.checkpoint = checkpoint
        self.source = checkpoint.source
        self.options = checkpoint.section("hyper_parameters")
        self.tensors = {
            name: tensor
            for name, tensor in tensors(checkpoint.section("state_dict")).items()
            if not name.endswith(".dummy")
        }
        self.used: set[str] = set()

    def model(self) -> GnnModel:
        aggregation = self.options.get("aggregation", "max")
        if aggregation != "max":
            raise UnsupportedFeature(f"{self.source}: aggregation `{aggregation}`; only `max` is known")
        hidden = self.number("hidden_size", MAX_HIDDEN)
        iterations = self.number("iterations", MAX_ITERATIONS)
        relations = []
        for at, (name, arity) in enumerate(self.predicates()):
            prefix = f"model.relation_network.relation_modules.{at}"
            size = arity * hidden
            relations.append(Relation(name, arity, self.mlp(prefix, (size, size, size)) if arity else None))
        update = self.mlp("model.relation_network.update", (2 * hidden, 2 * hidden, hidden))
        readout = self.readout("readout", hidden)
        has_head = any(name.startswith("solvable_readout.") for name in self.tensors)
        solvable = self.readout("solvable_readout", hidden) if has_head else None
        extra = sorted(self.tensors.keys() - self.used)
        if extra:
            raise UnsupportedFeature(
                f"{self.source}: tensor `{extra[0]}` belongs to no network that is known here"
            )
        return GnnModel(self.source, hidden, iterations, tuple(relations), update, readout, solvable)

    def number(self, key: str, limit: int) -> int:
        value = self.options.get(key)
        if type(value) is not int or not 1 <= value <= limit:
            raise InputError(f"{self.source}: hyper_parameters: `{key}` is no number from 1 to {limit}")
        return value

    def predicates(self) -> list[tuple[str, int]]:
        listed = self.options.get("predicates")
        if not isinstance(listed, list) or not listed:
            raise InputError(f"{self.source}: hyper_parameters: `predicates` is no list of predicates")
        result: list[tuple[str, int]] = []
        for entry in listed:
            if not _is_predicate(entry):
                raise InputError(
                    f"{self.source}: hyper_parameters: entry {len(result)} of `predicates` is no pair of "
                    f"a name and an arity of at most {MAX_ARITY}"
                )
            result.append((entry[0], entry[1]))
        names = [name for name, _ in result]
        if len(set(names)) < len(names):
            raise InputError(f"{self.source}: hyper_parameters: a name is twice in `predicates`")
        return result

    def readout(self, prefix: str, hidden: int) -> Readout:
        return Readout(
            self.mlp(f"{prefix}.pre", (hidden, hidden, hidden)),
            self.mlp(f"{prefix}.post", (hidden, hidden, 1)),
        )

    def mlp(self, prefix: str, sizes: tuple[int, int, int]) -> Mlp:
        first, middle, last = sizes
        return Mlp(
            self.weights(f"{prefix}.0.weight", (middle, first)),
            self.weights(f"{prefix}.0.bias", (middle,)),
            self.weights(f"{prefix}.2.weight", (last, middle)),
            self.weights(f"{prefix}.2.bias", (last,)),
        )

    def weights(self, name: str, shape: tuple[int, ...]) -> Weights:
        tensor = self.tensors.get(name)
        if tensor is None:
            raise InputError(f"{self.source}: state_dict: tensor `{name}` is missing")
        if tensor.shape != shape:
            raise InputError(f"{self.source}: tensor `{name}` has the shape {tensor.shape}, not {shape}")
        if tensor.storage.dtype != np.dtype("<f4"):
            raise InputError(f"{self.source}: tensor `{name}` has numbers of type {tensor.storage.dtype}")
        self.used.add(name)
        numbers: Weights = np.asarray(self.checkpoint.array(tensor), np.float32)
        if not np.isfinite(numbers).all():
            raise InputError(f"{self.source}: tensor `{name}` has infinite or undefined numbers")
        return numbers


def _is_predicate(entry: object) -> bool:
    if not isinstance(entry, tuple | list) or len(entry) != 2:
        return False
    name, arity = entry
    return (
        isinstance(name, str)
        and re.fullmatch(r"[^\s()]{1,200}", name) is not None
        and type(arity) is int
        and 0 <= arity <= MAX_ARITY
    )
