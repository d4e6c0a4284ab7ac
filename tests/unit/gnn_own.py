"""Networks of ours once more, in plain numpy with loops over rows; and random ones for tests."""

import numpy as np
from numpy.typing import NDArray

from misstep import State, Task
from misstep.formats.gnn_model import GnnKind, GnnModel, GnnShape, Readout, make_gnn
from misstep.policies.gnn import identifier, relations_of
from tests.unit.gnn_reference import mlp

Array = NDArray[np.float32]
Atoms = list[tuple[str, tuple[int, ...]]]


def random_gnn(
    task: Task, kind: GnnKind, *, seed: int, hidden: int = 16, layers: int = 4, solvable: bool = False
) -> tuple[GnnShape, dict[str, Array]]:
    """A network for the task's domain."""
    assert task.pddl is not None
    relations = relations_of(task.pddl, kind)
    shape = GnnShape(kind, hidden, layers, relations, solvable, task.pddl.problem.domain.name)
    rng = np.random.default_rng(seed)
    arrays = {
        name: (rng.uniform(-1, 1, size) / np.sqrt(size[-1])).astype(np.float32)
        for name, size in shape.parameters().items()
    }
    return shape, arrays


class OwnReference:
    """Values of actions by the documentation alone: atoms by name, no table of the policy is used."""

    def __init__(self, task: Task, shape: GnnShape, arrays: dict[str, Array]) -> None:
        assert task.pddl is not None
        self.task, self.view, self.shape = task, task.pddl, shape
        self.model: GnnModel = make_gnn("<reference>", shape, arrays)
        self.number = {name: at for at, name in enumerate(self.view.objects)}

    def values(self, state: State) -> list[tuple[str, float]]:
        found = sorted((identifier(each.name), each) for each in self.task.applicable(state))
        if self.shape.kind == "q":
            names = [action.name for _, action in found]
            scores = self.evaluate(self.atoms(state) + self.actions(names), len(names))
            return [(name, float(score)) for (name, _), score in zip(found, scores, strict=True)]
        return [
            (name, float(self.evaluate(self.atoms(self.task.apply(state, action)), 0)[0]))
            for name, action in found
        ]

    def atoms(self, state: State) -> Atoms:
        everything = range(len(self.view.objects))
        found: Atoms = []
        texts = [(self.view.text(atom), "") for atom in self.view.atoms(state.values)]
        texts += [(self.view.text(atom), "goal:") for atom in self.view.goal_atoms]
        for text, prefix in texts:
            predicate, *objects = text.strip("()").split()
            if objects:
                found.append((prefix + predicate, tuple(self.number[thing] for thing in objects)))
            else:
                found += [(prefix + predicate, (thing,)) for thing in everything]
        for thing in everything:
            above = self.view.supertypes.get(self.view.object_types[thing], ())
            found += [(f"type:{name}", (thing,)) for name in above if name != "object"]
        return found

    def actions(self, names: list[str]) -> Atoms:
        rows: Atoms = []
        for at, name in enumerate(names):
            schema, *objects = name.strip("()").split()
            own = len(self.view.objects) + at
            rows.append((f"action:{schema}", (own, *(self.number[thing] for thing in objects))))
        return rows

    def evaluate(self, atoms: Atoms, num_actions: int) -> Array:
        modules = {relation.name: relation.module for relation in self.model.relations}
        num_objects = len(self.view.objects)
        h = np.zeros((num_objects + num_actions, self.shape.hidden), np.float32)
        for _ in range(self.shape.layers):
            received: list[list[Array]] = [[] for _ in h]
            for name, nodes in atoms:
                module = modules[name]
                assert module is not None
                messages = mlp(module, np.concatenate([h[node] for node in nodes])[None, :])
                for node, message in zip(nodes, messages.reshape(len(nodes), -1), strict=True):
                    received[node].append(message)
            largest = [np.max(each, axis=0) if each else np.zeros_like(h[0]) for each in received]
            h = h + mlp(self.model.update, np.concatenate([np.stack(largest), h], axis=1))
        values = self.read_out(self.model.readout, h, num_objects)
        values = values if self.shape.kind == "q" else np.abs(values)
        if self.model.solvable is not None:
            logits = self.read_out(self.model.solvable, h, num_objects)
            values = np.where(logits > 0, values, values + np.float32(1e5)).astype(np.float32)
        return values

    def read_out(self, readout: Readout, h: Array, num_objects: int) -> Array:
        each = mlp(readout.pre, h)
        each = each[num_objects:] if self.shape.kind == "q" else each.sum(axis=0, keepdims=True)
        return mlp(readout.post, each)[:, 0]
