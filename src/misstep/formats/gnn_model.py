"""The weights of a relational network (Ståhlberg, Bonet & Geffner 2022) as plain values with checked shapes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from misstep.errors import InputError

Weights: TypeAlias = NDArray[np.float32]
GnnKind: TypeAlias = Literal["value", "q"]

GOAL_SUFFIX = "_goal"
MAX_HIDDEN = 1024
MAX_ITERATIONS = 1000
MAX_ARITY = 8


@dataclass(frozen=True, slots=True, eq=False)
class Mlp:
    """Linear, ReLU, Linear; weights are (out, in) as in PyTorch."""

    weight1: Weights
    bias1: Weights
    weight2: Weights
    bias2: Weights


@dataclass(frozen=True, slots=True, eq=False)
class Readout:
    """`pre` for each object, the sum over objects, then `post`."""

    pre: Mlp
    post: Mlp


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """A relation of the network; `module` is absent where there is nothing to compute (arity 0)."""

    name: str
    arity: int
    module: Mlp | None


@dataclass(frozen=True, slots=True, eq=False)
class GnnModel:
    """A relational network with shared layers."""

    source: str
    hidden_size: int
    iterations: int
    relations: tuple[Relation, ...]
    update: Mlp
    readout: Readout
    solvable: Readout | None
    """Some checkpoints lack it: every state then counts as solvable."""
    published: bool = True
    """A network of the authors: smooth maximum relative to the whole batch, a new embedding in every layer,
    predicates of the domain and `_goal` alone. Otherwise one of ours: the largest message of each object,
    added to its embedding, and relations as in misstep.policies.gnn."""
    kind: GnnKind = "value"
    """`value`: of states, to choose among successors; `q`: of the actions of a state."""


@dataclass(frozen=True, slots=True)
class GnnShape:
    """All of a network of ours but its numbers."""

    kind: GnnKind
    hidden: int
    layers: int
    relations: tuple[tuple[str, int], ...]
    """Names and arities."""
    solvable: bool
    """Whether there is a second readout that tells dead ends."""
    domain: str

    def __post_init__(self) -> None:
        if self.kind not in ("value", "q"):
            raise InputError(f"a network of the kind `{self.kind}`; there are value, q")
        if not (0 < self.hidden <= MAX_HIDDEN and self.hidden % 8 == 0):
            raise InputError(f"hidden size {self.hidden}; it must be a multiple of 8 up to {MAX_HIDDEN}")
        if not 0 < self.layers <= MAX_ITERATIONS:
            raise InputError(f"{self.layers} layers; there must be 1 to {MAX_ITERATIONS}")
        for name, arity in self.relations:
            if not 1 <= arity <= MAX_ARITY:
                raise InputError(f"relation `{name}` has arity {arity}; networks know 1 to {MAX_ARITY}")
        if not self.relations or len(dict(self.relations)) < len(self.relations):
            raise InputError("the network has no relations, or two of the same name")

    def parameters(self) -> dict[str, tuple[int, ...]]:
        """The shape of every array, by name, in the order of the flat vector that training works on."""
        size = self.hidden
        shapes: dict[str, tuple[int, ...]] = {}

        def mlp(name: str, first: int, middle: int, last: int) -> None:
            shapes[f"{name}.0.weight"], shapes[f"{name}.0.bias"] = (middle, first), (middle,)
            shapes[f"{name}.2.weight"], shapes[f"{name}.2.bias"] = (last, middle), (last,)

        for at, (_, arity) in enumerate(self.relations):
            mlp(f"relation.{at}", arity * size, arity * size, arity * size)
        mlp("update", 2 * size, 2 * size, size)
        for head in ("readout", "solvable") if self.solvable else ("readout",):
            mlp(f"{head}.pre", size, size, size)
            mlp(f"{head}.post", size, size, 1)
        return shapes


def make_gnn(source: str, shape: GnnShape, arrays: Mapping[str, Weights]) -> GnnModel:
    """A network of ours; InputError where an array is missing, is one too many, or has another shape."""
    wanted = shape.parameters()
    for name in sorted(wanted.keys() | arrays.keys()):
        if name not in arrays:
            raise InputError(f"{source}: the array `{name}` is missing")
        if name not in wanted:
            raise InputError(f"{source}: the array `{name}` belongs to no network of this shape")
        if arrays[name].shape != wanted[name]:
            raise InputError(f"{source}: `{name}` has the shape {arrays[name].shape}, not {wanted[name]}")
        if not np.isfinite(arrays[name]).all():
            raise InputError(f"{source}: `{name}` has infinite or undefined numbers")

    def mlp(name: str) -> Mlp:
        return Mlp(*(arrays[f"{name}.{part}"] for part in ("0.weight", "0.bias", "2.weight", "2.bias")))

    def readout(name: str) -> Readout:
        return Readout(mlp(f"{name}.pre"), mlp(f"{name}.post"))

    return GnnModel(
        source,
        shape.hidden,
        shape.layers,
        tuple(
            Relation(name, arity, mlp(f"relation.{at}")) for at, (name, arity) in enumerate(shape.relations)
        ),
        mlp("update"),
        readout("readout"),
        readout("solvable") if shape.solvable else None,
        published=False,
        kind=shape.kind,
    )
