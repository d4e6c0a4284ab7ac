"""The weights of an action schema network (ASNet; Toyer et al. 2018) as plain values with checked shapes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from misstep.errors import InputError

Floats: TypeAlias = NDArray[np.float32]

MAX_HIDDEN = 64
MAX_LAYERS = 16
_PLAIN, _LANDMARKS = 1, 3
"""Inputs of a first action module beside two a slot: always the applicable bit, in some networks landmarks."""


class Module(NamedTuple):
    """One linear module: `inputs @ weights + bias`."""

    weights: Floats
    """(inputs, outputs)."""
    bias: Floats
    """(outputs,)."""


ModuleKey: TypeAlias = tuple[int, int]
"""A layer and the index of an action or of a predicate."""


@dataclass(frozen=True, eq=False)
class AsnetModel:
    """A network of `num_layers` predicate layers between `num_layers` + 1 action layers.

    Slots are the positions in an action schema's list of distinct atoms. Inputs of an action module are its
    slots' truth values, goal bits and the applicable bit in layer 0 (and three bits about landmarks, see
    `landmarks`), later one vector a slot and the action's own last vector. Inputs of a predicate module are
    one pooled vector for each (action, slot) that mentions the predicate, by action, then slot; after layer 0
    also the fact's own last vector.
    """

    hidden: int
    num_layers: int
    actions: tuple[str, ...]
    predicates: tuple[str, ...]
    """Declared predicates; `=` is not among them."""
    action_modules: tuple[tuple[Module, ...], ...]
    """By layer, then action."""
    predicate_modules: tuple[tuple[Module, ...], ...]
    """By layer, then predicate."""
    domain_name: str | None = None
    domain_hash: str | None = None
    """As `domain_hash` computes it from the names of the training domain."""

    @cached_property
    def action_slots(self) -> tuple[int, ...]:
        """How many distinct atoms each action schema has."""
        return tuple(len(module.weights) // self.hidden - 1 for module in self.action_modules[1])

    @cached_property
    def landmarks(self) -> bool:
        """Whether actions also read if they are the only one of an LM-cut landmark, one of several, or in none."""
        return any(len(module.weights) % 2 == 0 for module in self.action_modules[0])

    @cached_property
    def predicate_slots(self) -> tuple[int, ...]:
        """How many slots of all actions mention each predicate."""
        return tuple(len(module.weights) // self.hidden for module in self.predicate_modules[0])


def domain_hash(types: Iterable[str], predicates: Iterable[str], actions: Iterable[str]) -> str:
    """SHA-256 of all names, `object` first, `=` before the predicates: what published policies say.

    Types that are made where they are used are among the types, see `compound_types`.
    """
    return sha256("".join((*types, "=", *predicates, *actions)).encode()).hexdigest()


def compound_types(used: Iterable[Sequence[str]]) -> list[str]:
    """The names of the types that `(either ...)` makes, in the order in which they are first used.

    `used` are the types of parameters, predicates before actions. The members of a name are sorted, and
    each set of members stands there once.
    """
    sets = dict.fromkeys(tuple(sorted(set(types))) for types in used)
    return [f"(either {' '.join(members)})" for members in sets if len(members) > 1]


def make_model(
    source: str,
    *,
    hidden: int,
    num_layers: int,
    actions: Sequence[str],
    predicates: Sequence[str],
    action_arrays: Mapping[ModuleKey, Module],
    predicate_arrays: Mapping[ModuleKey, Module],
    domain_name: str | None = None,
    domain_hash: str | None = None,
) -> AsnetModel:
    """The model with every shape checked. Weights may come flat, `inputs` varying slowest.

    InputError names `source` and the module that does not fit.
    """
    if not 1 <= hidden <= MAX_HIDDEN:
        raise InputError(
            f"{source}: hidden dimension {hidden} is not in 1..{MAX_HIDDEN}; retrain with such a size"
        )
    if not 1 <= num_layers <= MAX_LAYERS:
        raise InputError(f"{source}: {num_layers} layers are not in 1..{MAX_LAYERS}; is the file complete?")
    for kind, names in (("action", actions), ("predicate", predicates)):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise InputError(f"{source}: {kind} `{twice[0]}` stands there twice; is the file damaged?")
    action_modules: list[tuple[Module, ...]] = []
    for layer in range(num_layers + 1):
        outputs = 1 if layer == num_layers else hidden
        row = []
        for index, name in enumerate(actions):
            module = _shaped(source, "action", name, layer, action_arrays.get((layer, index)), outputs)
            if layer == 1:
                _check_first_layer(
                    source, name, len(action_modules[0][index].weights), len(module.weights), hidden
                )
            elif layer > 1:
                first = len(action_modules[1][index].weights)
                _require(source, f"action `{name}`, layer {layer}", len(module.weights), first)
            row.append(module)
        action_modules.append(tuple(row))
    predicate_modules: list[tuple[Module, ...]] = []
    for layer in range(num_layers):
        row = []
        for index, name in enumerate(predicates):
            module = _shaped(source, "predicate", name, layer, predicate_arrays.get((layer, index)), hidden)
            inputs = len(module.weights)
            if layer == 0:
                _require(source, f"predicate `{name}`, layer 0", inputs, inputs // hidden * hidden)
            else:
                first = len(predicate_modules[0][index].weights)
                _require(source, f"predicate `{name}`, layer {layer}", inputs, first + hidden)
            row.append(module)
        predicate_modules.append(tuple(row))
    model = AsnetModel(
        hidden,
        num_layers,
        tuple(actions),
        tuple(predicates),
        tuple(action_modules),
        tuple(predicate_modules),
        domain_name,
        domain_hash,
    )
    if len({len(module.weights) % 2 for module in model.action_modules[0]}) > 1:
        raise InputError(f"{source}: some actions read landmarks and others do not; is the file damaged?")
    if sum(model.action_slots) != sum(model.predicate_slots):
        raise InputError(
            f"{source}: actions have {sum(model.action_slots)} slots, predicates "
            f"{sum(model.predicate_slots)}; is the file damaged?"
        )
    return model


def _shaped(source: str, kind: str, name: str, layer: int, module: Module | None, outputs: int) -> Module:
    where = f"{source}: {kind} `{name}`, layer {layer}"
    if module is None:
        raise InputError(f"{where} is missing; is the file complete?")
    weights, bias = (np.ascontiguousarray(array, dtype="<f4") for array in module)
    if bias.shape != (outputs,):
        raise InputError(f"{where}: the bias has {bias.size} numbers, not {outputs}; is the file complete?")
    if weights.ndim == 1 and weights.size % outputs == 0:
        weights = weights.reshape(-1, outputs)
    if weights.ndim != 2 or weights.shape[1] != outputs:
        raise InputError(
            f"{where}: {weights.size} weights are no multiple of {outputs} outputs; is the file complete?"
        )
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        raise InputError(f"{where} has weights that are not finite; training went wrong, pick another epoch")
    return Module(weights.astype(np.float32), bias.astype(np.float32))


def _check_first_layer(source: str, name: str, inputs: int, next_inputs: int, hidden: int) -> None:
    """The next layer says how many slots an action has, and so what else its first module reads."""
    slots = next_inputs // hidden - 1
    more = inputs - 2 * slots
    if next_inputs % hidden == 0 and more in (_PLAIN, _PLAIN + _LANDMARKS):
        return
    if next_inputs % hidden == 0 and more in (_PLAIN + 1, _PLAIN + _LANDMARKS + 1):
        raise InputError(
            f"{source}: action `{name}` reads how often it was applied before (history inputs), so that the "
            "policy's decisions depend on more than the state: what is tested here are functions of the state; "
            "train without history inputs"
        )
    _require(source, f"action `{name}`, layer 1", next_inputs, ((inputs - _PLAIN) // 2 + 1) * hidden)
    raise InputError(f"{source}: action `{name}`, layer 0 has {inputs} inputs; is the file damaged?")


def _require(source: str, where: str, inputs: int, expected: int) -> None:
    if inputs != expected:
        raise InputError(f"{source}: {where} has {inputs} inputs, not {expected}; is the file damaged?")
