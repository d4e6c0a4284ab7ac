"""States of tasks as rows of a relational network's relations, many at once; numpy alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from misstep.formats.gnn_model import GnnModel
from misstep.policies.gnn import encode
from misstep.task import Task

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Graph:
    """Several states as one graph; nodes are objects of states and, where actions are scored, actions."""

    num_nodes: int
    rows: tuple[Ints, ...]
    """For each relation its rows: (rows, arity)."""
    num_states: int
    object_state: Ints
    """By node the state that it is an object of; actions come after all objects of all states."""
    action_nodes: Ints
    """The nodes that stand for actions, in the order in which these were given."""


@dataclass(frozen=True, slots=True)
class _Facts:
    """The facts that are rows of one relation."""

    variables: Ints
    values: Ints
    objects: Ints


class TaskGraphs:
    """Makes graphs of states of one task, exactly as the native policy does."""

    def __init__(self, task: Task, model: GnnModel) -> None:
        view = task.pddl
        assert view is not None
        encoding = encode(view, model)
        self.num_objects = len(view.objects)
        self._arities = [relation.arity for relation in encoding.relations]
        self._fixed = [
            np.array(rows, np.int64).reshape(-1, arity)
            for rows, arity in zip(encoding.fixed, self._arities, strict=True)
        ]
        listed: list[list[tuple[int, int, tuple[int, ...]]]] = [[] for _ in self._arities]
        for variable, atoms in enumerate(encoding.facts):
            for value, found in enumerate(atoms):
                if found is not None:
                    relation, objects = found
                    size = self._arities[relation]
                    listed[relation] += [
                        (variable, value, objects[first : first + size])
                        for first in range(0, len(objects), size)
                    ]
        self._facts = [
            _Facts(
                np.array([variable for variable, _, _ in facts], np.int64),
                np.array([value for _, value, _ in facts], np.int64),
                np.array([objects for _, _, objects in facts], np.int64).reshape(-1, arity),
            )
            for facts, arity in zip(listed, self._arities, strict=True)
        ]
        self._action_relation = np.array([relation for relation, _ in encoding.actions], np.int64)
        self._action_objects = [objects for _, objects in encoding.actions]

    def graph(self, values: NDArray[np.int32], actions: Sequence[Ints] = ()) -> Graph:
        """The states with these variable values (states, variables); `actions` by state, by their numbers."""
        count, size = len(values), self.num_objects
        rows = []
        for fixed, facts in zip(self._fixed, self._facts, strict=True):
            everywhere = fixed[None, :, :] + (np.arange(count) * size)[:, None, None]
            state, fact = np.nonzero(values[:, facts.variables] == facts.values)
            true = facts.objects[fact] + (state * size)[:, None]
            rows.append(np.concatenate([everywhere.reshape(-1, fixed.shape[1]), true]))
        action_nodes = np.zeros(0, np.int64)
        if len(actions):
            action_nodes = self._add_actions(rows, count, actions)
        return Graph(
            count * size + len(action_nodes),
            tuple(rows),
            count,
            np.repeat(np.arange(count), size),
            action_nodes,
        )

    def _add_actions(self, rows: list[Ints], count: int, actions: Sequence[Ints]) -> Ints:
        states = np.repeat(np.arange(count), [len(each) for each in actions])
        numbers = np.concatenate(actions)
        nodes = count * self.num_objects + np.arange(len(numbers))
        relations = self._action_relation[numbers]
        for relation in np.unique(relations):
            which = np.flatnonzero(relations == relation)
            objects = np.array([self._action_objects[numbers[at]] for at in which], np.int64)
            objects = objects.reshape(len(which), -1) + (states[which] * self.num_objects)[:, None]
            rows[relation] = np.concatenate(
                [rows[relation], np.concatenate([nodes[which][:, None], objects], axis=1)]
            )
        return nodes


def joined(graphs: Sequence[Graph]) -> Graph:
    """Several graphs as one; their states and actions one after the other."""
    nodes = np.cumsum([0, *(graph.num_nodes for graph in graphs)])
    states = np.cumsum([0, *(graph.num_states for graph in graphs)])
    relations = range(len(graphs[0].rows))
    object_state = []
    for graph, base in zip(graphs, states, strict=False):
        # Actions belong to no state: they are not summed up.
        none = np.full(graph.num_nodes - len(graph.object_state), -1, np.int64)
        object_state.append(np.concatenate([graph.object_state + base, none]))
    return Graph(
        int(nodes[-1]),
        tuple(
            np.concatenate([graph.rows[at] + base for graph, base in zip(graphs, nodes, strict=False)])
            for at in relations
        ),
        int(states[-1]),
        np.concatenate(object_state),
        np.concatenate([graph.action_nodes + base for graph, base in zip(graphs, nodes, strict=False)]),
    )
