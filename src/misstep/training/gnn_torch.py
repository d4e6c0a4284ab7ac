"""Relational networks of ours in PyTorch: the same function as the native one, and the losses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from misstep.formats.gnn_model import GnnShape
from misstep.support.extras import require_extra
from misstep.training.gnn_graph import Graph

Tensor: TypeAlias = Any
"""A torch.Tensor; PyTorch is an extra, so its types are not always there."""


@cache
def torch_module() -> Any:
    """PyTorch, or an error that says how to install it."""
    return require_extra("torch", extra="torch", purpose="misstep train gnn")


@dataclass(frozen=True, slots=True)
class Outputs:
    """What a network says of a graph: of its states, or of its actions."""

    values: Tensor
    solvable: Tensor | None
    """Logits."""


def evaluate(shape: GnnShape, weights: Mapping[str, Tensor], graph: Graph) -> Outputs:
    """Values of states or actions; `weights` by the names of `GnnShape.parameters`."""
    torch = torch_module()
    # Networks are small, so that the number of operations counts: relations of one arity go together.
    arities = sorted({index.shape[1] for index in graph.rows if len(index)})
    groups = [_Group(arity, shape, weights, graph) for arity in arities]
    pooling = _Pooling(groups, graph.num_nodes)
    h = torch.zeros(graph.num_nodes, shape.hidden)
    for _ in range(shape.layers):
        messages = [group.messages(h) for group in groups]
        received = pooling.largest(torch.cat(messages)) if messages else torch.zeros_like(h)
        h = h + _mlp(weights, "update", torch.cat([received, h], dim=1))
    values = _read_out(shape, weights, "readout", graph, h)
    solvable = _read_out(shape, weights, "solvable", graph, h) if shape.solvable else None
    return Outputs(values.abs() if shape.kind == "value" else values, solvable)


class _Group:
    """The relations of one arity that have rows; shorter ones are filled up with rows that nobody looks at."""

    def __init__(self, arity: int, shape: GnnShape, weights: Mapping[str, Tensor], graph: Graph) -> None:
        torch = torch_module()
        relations = [at for at, rows in enumerate(graph.rows) if len(rows) and rows.shape[1] == arity]
        self.size = shape.hidden
        self.shape = (len(relations), max(len(graph.rows[at]) for at in relations), arity)
        self.nodes = np.zeros(self.shape, np.int64)
        used = np.zeros(self.shape, np.bool_)
        for place, at in enumerate(relations):
            self.nodes[place, : len(graph.rows[at])] = graph.rows[at]
            used[place, : len(graph.rows[at])] = True
        self.used = np.flatnonzero(used)
        """Messages that somebody gets, by their place in what `messages` returns."""
        self._index = torch.from_numpy(self.nodes.reshape(-1))

        def stacked(name: str) -> Tensor:
            return torch.stack([weights[f"relation.{at}.{name}"] for at in relations])

        self._first = stacked("0.weight").transpose(1, 2), stacked("0.bias")[:, None, :]
        self._second = stacked("2.weight").transpose(1, 2), stacked("2.bias")[:, None, :]

    def messages(self, h: Tensor) -> Tensor:
        """Relation by relation, row by row, argument by argument."""
        torch = torch_module()
        count, rows, arity = self.shape
        x = h.index_select(0, self._index).view(count, rows, arity * self.size)
        for at, (weight, bias) in enumerate((self._first, self._second)):
            x = torch.baddbmm(bias, x.relu() if at else x, weight)
        return x.view(-1, self.size)


def _mlp(weights: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    torch = torch_module()
    x = torch.addmm(weights[f"{name}.0.bias"], x, weights[f"{name}.0.weight"].T).relu()
    return torch.addmm(weights[f"{name}.2.bias"], x, weights[f"{name}.2.weight"].T)


def _read_out(shape: GnnShape, weights: Mapping[str, Tensor], name: str, graph: Graph, h: Tensor) -> Tensor:
    torch = torch_module()
    if shape.kind == "q":
        summed = _mlp(weights, f"{name}.pre", h[torch.from_numpy(graph.action_nodes)])
    else:
        nodes = np.flatnonzero(graph.object_state >= 0)
        each = _mlp(weights, f"{name}.pre", h[torch.from_numpy(nodes)])
        state = torch.from_numpy(graph.object_state[nodes])
        summed = torch.zeros(graph.num_states, shape.hidden).index_add(0, state, each)
    return _mlp(weights, f"{name}.post", summed)[:, 0]


class _Pooling:
    """Which node gets which message of groups one after the other."""

    def __init__(self, groups: Sequence[_Group], num_nodes: int) -> None:
        torch = torch_module()
        starts = np.cumsum([0, *(group.nodes.size for group in groups)])
        none = [np.zeros(0, np.int64)]
        used = np.concatenate(none + [group.used + at for group, at in zip(groups, starts, strict=False)])
        receivers = np.concatenate(none + [group.nodes.reshape(-1)[group.used] for group in groups])
        order = np.argsort(receivers, kind="stable")
        nodes, first, counts = np.unique(receivers[order], return_index=True, return_counts=True)
        self.order, self.first = torch.from_numpy(used[order]), first
        self.nodes = torch.from_numpy(nodes)
        self.segment = np.repeat(np.arange(len(nodes)), counts)
        self.num_nodes = num_nodes

    def largest(self, messages: Tensor) -> Tensor:
        """By node the largest message, number by number; 0 where there is none."""
        torch = torch_module()
        found = _segment_max(messages.index_select(0, self.order), self.first, self.segment)
        return torch.zeros(self.num_nodes, messages.shape[1]).index_copy(0, self.nodes, found)


def _segment_max(messages: Tensor, first: NDArray[np.int64], segment: NDArray[np.int64]) -> Tensor:
    """The maxima of neighbouring rows; of equal ones the first gets the gradient.

    PyTorch's own segment_reduce gives wrong gradients where rows are equal, which is common here.
    """
    torch = torch_module()
    values = messages.detach().numpy()
    largest = np.maximum.reduceat(values, first, axis=0)
    row = np.arange(len(values))[:, None]
    where = np.minimum.reduceat(np.where(values == largest[segment], row, len(values) - 1), first, axis=0)
    return messages.gather(0, torch.from_numpy(where))


@dataclass(frozen=True, slots=True)
class Lessons:
    """What is to be learned about a graph; arrays of numpy.

    With `value`: `state` are the states to learn, `first` and `to` their successors, all by their place in the
    graph. With `q` `first` says by state where its actions begin, in the order of the graph's actions.
    """

    cost: NDArray[np.float32]
    """`value`: by state of the graph the cost of the best plan; `q`: by action, NaN where unknown. Infinity: a
    dead end."""
    first: NDArray[np.int64]
    state: NDArray[np.int64]
    to: NDArray[np.int64]
    good: NDArray[np.bool_]
    """With `q`, by action: whether it is as good as any."""
    bad: NDArray[np.bool_]
    """With `q`, by action: whether it is known to be worse; what is neither is unknown."""


def value_loss(loss: str, said: Outputs, lessons: Lessons) -> Tensor:
    """The sum over the states to learn of one of the losses of the authors' code, for unit costs.

    Goals shall have the value 0; dead ends teach the second readout alone.
    """
    torch = torch_module()
    values, cost = said.values, torch.from_numpy(lessons.cost)
    state = torch.from_numpy(lessons.state)
    v, h = values[state], cost[state]
    goal, solvable = h == 0, torch.isfinite(h)
    plain = solvable & ~goal
    h = torch.where(solvable, h, torch.zeros_like(h))
    errors = torch.zeros_like(v)
    if loss == "supervised":
        errors = (v - h).abs()
    else:
        owner = torch.from_numpy(np.repeat(np.arange(len(lessons.state)), np.diff(lessons.first)))
        to = torch.from_numpy(lessons.to)
        far = torch.where(torch.isfinite(cost[to]), values[to], torch.full_like(values[to], 1e6))
        least = torch.full_like(v, 1e6).scatter_reduce(0, owner, far, "amin", include_self=True)
        step = 1 + torch.where(plain, least, torch.zeros_like(least))
        if loss == "unsupervised":
            errors = torch.where(goal, v, (v - step).abs())
        else:
            bounds = (h - v).relu() + (v - 2 * h).relu()
            errors = torch.where(goal, v, (step - v).relu() + bounds)
    total = torch.where(solvable, errors, torch.zeros_like(errors)).sum()
    if said.solvable is not None:
        total = total + _dead_end_loss(said.solvable, torch.isfinite(cost)) * len(lessons.state)
    return total


def q_loss(said: Outputs, lessons: Lessons, *, margin: float, value_weight: float) -> Tensor:
    """The sum over states: every bad action shall be worse by a margin than the best of the good ones.

    Where the exact value is known, the distance to it counts too, by its mean over the actions of a state.
    """
    torch = torch_module()
    q, cost = said.values, torch.from_numpy(lessons.cost)
    good, bad = torch.from_numpy(lessons.good), torch.from_numpy(lessons.bad)
    sizes = np.diff(lessons.first)
    owner = torch.from_numpy(np.repeat(np.arange(len(sizes)), sizes))
    far = torch.where(good, q, torch.full_like(q, 1e6))
    best = torch.full((len(sizes),), 1e6).scatter_reduce(0, owner, far, "amin", include_self=True)
    total = torch.where(bad, (margin + best[owner] - q).relu(), torch.zeros_like(q)).sum()
    known = torch.isfinite(cost)
    share = (1 / torch.from_numpy(sizes.astype(np.float32)))[owner]
    distance = (q - torch.where(known, cost, torch.zeros_like(cost))).abs() * share
    total = total + value_weight * torch.where(known, distance, torch.zeros_like(q)).sum()
    if said.solvable is not None:
        told = ~torch.isnan(cost)
        if bool(told.any()):
            total = total + _dead_end_loss(said.solvable[told], known[told]) * len(sizes)
    return total


def _dead_end_loss(logits: Tensor, solvable: Tensor) -> Tensor:
    torch = torch_module()
    wanted = solvable.to(logits.dtype)
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted)
