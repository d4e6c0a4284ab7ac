"""The network policy once more, in plain numpy: the recipe as it is written down, with nothing clever."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from misstep import State, Task
from misstep.formats.gnn_model import GnnModel, Mlp, Readout
from misstep.pddl.noop_actions import noop_actions
from misstep.policies.gnn import encode, identifier

Array = NDArray[np.float32]


class ReferenceGnn:
    """Values of the successors of a state, by action identifier."""

    def __init__(self, task: Task, model: GnnModel) -> None:
        assert task.pddl is not None
        self.task, self.model = task, model
        self.encoding = encode(task.pddl, model)
        self.noops = noop_actions(task.pddl)
        self.num_objects = len(task.pddl.objects)

    def candidates(self, state: State) -> list[tuple[str, State]]:
        assert self.task.pddl is not None
        found = [
            (identifier(action.name), self.task.apply(state, action))
            for action in self.task.applicable(state)
        ]
        true = set(self.task.pddl.atoms(state.values))
        applies = (
            noop for noop in self.noops if true.issuperset(noop.required) and true.isdisjoint(noop.forbidden)
        )
        found.extend((identifier(noop.name), state) for noop in applies)
        return sorted(found, key=lambda pair: pair[0])

    def values(self, state: State) -> list[tuple[str, float]]:
        candidates = self.candidates(state)
        if not candidates:
            return []
        rows = self.batch([successor for _, successor in candidates])
        values = evaluate(self.model, rows, len(candidates), self.num_objects)
        return [(name, float(value)) for (name, _), value in zip(candidates, values, strict=True)]

    def batch(self, states: Sequence[State]) -> list[NDArray[np.int64]]:
        """For each relation its rows over all states; those of state b are numbered from b * num_objects."""
        rows: list[list[list[int]]] = [[] for _ in self.encoding.relations]
        for at, state in enumerate(states):

            def add(relation: int, objects: Sequence[int], base: int = at * self.num_objects) -> None:
                rows[relation].append([base + thing for thing in objects])

            for relation, fixed in enumerate(self.encoding.fixed):
                for objects in fixed:
                    add(relation, objects)
            for facts, value in zip(self.encoding.facts, state.values, strict=True):
                found = facts[value]
                if found is not None:
                    add(*found)
        return [
            np.array(listed, np.int64).reshape(-1, relation.arity)
            for listed, relation in zip(rows, self.encoding.relations, strict=True)
        ]


def evaluate(model: GnnModel, rows: Sequence[NDArray[np.int64]], states: int, num_objects: int) -> Array:
    size = model.hidden_size
    h = np.zeros((states * num_objects, size), np.float32)
    modules = [relation.module for relation in model.relations if relation.module is not None]
    receivers = np.concatenate([index.reshape(-1) for index in rows])
    sums = np.zeros(
        (len(h), len(receivers)), np.float32
    )  # One row an object, with a 1 for each of its messages.
    sums[receivers, np.arange(len(receivers))] = 1
    for _ in range(model.iterations):
        messages = np.concatenate(
            [
                mlp(module, h[index].reshape(len(index), index.shape[1] * size)).reshape(-1, size)
                for module, index in zip(modules, rows, strict=True)
            ]
        )
        largest = messages.max()
        total = np.float32(1e-16) + sums @ np.exp(np.float32(8) * (messages - largest))
        received = np.log(total) / np.float32(8) + largest
        h = mlp(model.update, np.concatenate([received, h], axis=1))
    values = np.abs(read_out(model.readout, h, states))
    if model.solvable is not None:
        logits = read_out(model.solvable, h, states)
        values = values + np.float32(1e5) * (1 / (1 + np.exp(-logits)) <= 0.5)
    return values


def read_out(readout: Readout, h: Array, states: int) -> Array:
    summed = mlp(readout.pre, h).reshape(states, -1, h.shape[1]).sum(axis=1, dtype=np.float32)
    return mlp(readout.post, summed)[:, 0]


def mlp(module: Mlp, x: Array) -> Array:
    hidden = np.maximum(x @ module.weight1.T + module.bias1, 0)
    result: Array = hidden @ module.weight2.T + module.bias2
    return result
