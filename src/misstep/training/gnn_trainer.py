"""Trains a relational network on labelled states: minibatches, Adam, and all that training goes on from."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from misstep import _core
from misstep._core import Budget
from misstep.formats.gnn_model import GnnShape, Weights, make_gnn
from misstep.policies.gnn import native_network, native_policy
from misstep.task import Task
from misstep.training.gnn_config import GnnConfig
from misstep.training.gnn_graph import Graph, Ints, TaskGraphs, joined
from misstep.training.gnn_torch import Lessons, Outputs, Tensor, evaluate, q_loss, torch_module, value_loss
from misstep.training.labels import Regrets

# A minibatch is always cut into so many pieces, so that threads do not change how sums are rounded.
_PIECES = 2


@dataclass
class _Samples:
    """Labelled states of a task. Lists grow while training goes on."""

    graphs: TaskGraphs
    values: list[NDArray[np.int32]] = field(default_factory=list)
    """Variable values of the states that are known, also of successors."""
    cost: list[float] = field(default_factory=list)
    """With `value`, by state."""
    states: list[int] = field(default_factory=list)
    """The states to learn."""
    edges: list[tuple[Ints, Ints]] = field(default_factory=list)
    """By state to learn: its actions, and the known states that they lead to."""
    labels: list[tuple[Weights, NDArray[np.bool_], NDArray[np.bool_]]] = field(default_factory=list)
    """With `q`, by state to learn and action: cost, good, bad; see Lessons."""


class GnnTrainer:
    """A network, its tasks and its optimiser; implements misstep.training.learning.Trainer."""

    def __init__(self, shape: GnnShape, config: GnnConfig, tasks: Sequence[Task], *, seed: int) -> None:
        self.shape, self.config, self.tasks = shape, config, tasks
        ends = np.cumsum([0, *(int(np.prod(size)) for size in shape.parameters().values())])
        self._places = [
            (name, slice(a, b), size)
            for (name, size), (a, b) in zip(shape.parameters().items(), pairwise(ends), strict=True)
        ]
        self.parameters = initial_parameters(shape, seed=seed)
        self._means, self._squares = np.zeros_like(self.parameters), np.zeros_like(self.parameters)
        self._steps, self._random_state = 0, seed
        model = make_gnn("<untrained>", shape, self.arrays(self.parameters))
        self._samples = [_Samples(TaskGraphs(task, model)) for task in tasks]

    def arrays(self, parameters: Weights) -> dict[str, Weights]:
        """A flat vector as arrays by name."""
        return {name: parameters[place].reshape(size) for name, place, size in self._places}

    def policy(self, task: int, parameters: Weights) -> _core.GnnPolicy:
        """The native policy with these parameters on one of the tasks."""
        model = make_gnn("<in training>", self.shape, self.arrays(parameters))
        return native_policy(self.tasks[task], model, native_network(model), threads=1)

    def num_samples(self, task: int) -> int:
        """How many states of a task are to be learned."""
        return len(self._samples[task].states)

    def add_state_space(self, task: int, found: _core.Enumeration, *, seed: int) -> int:
        """Adds states of a task with exact labels, at most `max_samples`; returns their number.

        States from which a goal can be reached, drawn evenly; with `value` an eighth of them goals, and another
        eighth dead ends, where there are any.
        """
        samples, rng = self._samples[task], np.random.default_rng(seed)
        cost = np.array(found.values())
        chosen = self._draw(cost, rng)
        first, actions, to = found.edges()
        known: dict[int, int] = {}

        def place(state: int) -> int:
            if state not in known:
                known[state] = len(samples.values)
                samples.values.append(np.array(found.state(state).values, np.int32))
                samples.cost.append(float(cost[state]))
            return known[state]

        for state in chosen.tolist():
            samples.states.append(place(state))
            which = slice(first[state], first[state + 1])
            leads_to = to[which]
            if self.shape.kind == "value":
                places = np.array([place(each) for each in leads_to.tolist()], np.int64)
                samples.edges.append((actions[which], places))
                continue
            samples.edges.append((actions[which], leads_to))
            through = (1 + cost[leads_to]).astype(np.float32)
            good = through == through.min()
            samples.labels.append((through, good, ~good))
        return len(chosen)

    def _draw(self, cost: NDArray[np.float64], rng: np.random.Generator) -> Ints:
        most = self.config.max_samples
        parts = [(np.flatnonzero((cost > 0) & np.isfinite(cost)), most)]
        if self.shape.kind == "value":
            parts = [(parts[0][0], most - most // 4)]
            parts += [(np.flatnonzero(cost == 0), most // 8), (np.flatnonzero(np.isinf(cost)), most // 8)]
        drawn = [part if len(part) <= size else rng.choice(part, size, replace=False) for part, size in parts]
        return np.sort(np.concatenate(drawn))

    def add_sample(self, task: int, state: _core.State, regrets: Regrets) -> None:
        """Adds a state with what teachers say of its actions; for networks that score actions."""
        samples = self._samples[task]
        samples.states.append(len(samples.values))
        samples.values.append(np.array(state.values, np.int32))
        samples.cost.append(float("nan"))
        actions = np.array([action for action, _ in regrets], np.int64)
        samples.edges.append((actions, actions))
        good = np.array([regret == 0 for _, regret in regrets])
        bad = np.array([regret is not None and regret > 0 for _, regret in regrets])
        samples.labels.append((np.full(len(regrets), np.nan, np.float32), good, bad))

    def state(self) -> tuple[Weights, Weights, Weights, int, int]:
        """Parameters, Adam's means and squares, steps, the state of the random numbers."""
        return self.parameters, self._means, self._squares, self._steps, self._random_state

    def restore(
        self, parameters: Weights, means: Weights, squares: Weights, steps: int, random_state: int
    ) -> None:
        """Goes on from what `state` told."""
        self.parameters, self._means, self._squares = parameters.copy(), means.copy(), squares.copy()
        self._steps, self._random_state = steps, random_state

    def train(self, *, rate: float, budget: Budget) -> float:
        """Trains on the minibatches of an epoch, on fewer where the budget is used up; the mean loss."""
        torch = torch_module()
        rng = np.random.default_rng(self._random_state)
        losses = []
        threads_before = torch.get_num_threads()
        # PyTorch keeps the number by thread: pieces shall not be cut further, nor threads wait for each other.
        one_each = partial(torch.set_num_threads, 1)
        try:
            with ThreadPoolExecutor(min(self.config.threads, _PIECES), initializer=one_each) as pool:
                for _ in range(self.config.batches):
                    if budget.is_over:
                        break
                    losses.append(self._step(self._minibatch(rng), rate, pool))
        finally:
            torch.set_num_threads(threads_before)
        self._random_state = int(rng.integers(2**62))
        return float(np.mean(losses)) if losses else float("nan")

    def _minibatch(self, rng: np.random.Generator) -> list[tuple[int, int]]:
        """(Task, sample) pairs, sorted by task."""
        counts = np.array([len(samples.states) for samples in self._samples], float)
        chances = np.where(counts > 0, np.maximum(counts, 1) ** self.config.task_power, 0.0)
        tasks = np.sort(rng.choice(len(counts), self.config.batch, p=chances / chances.sum()))
        return [(int(task), int(rng.integers(counts[task]))) for task in tasks]

    def _step(self, batch: list[tuple[int, int]], rate: float, pool: ThreadPoolExecutor) -> float:
        """One step of Adam along the mean gradient; the mean loss."""
        cuts = [len(batch) * piece // _PIECES for piece in range(_PIECES + 1)]
        pieces = [batch[a:b] for a, b in pairwise(cuts) if a < b]
        found = list(pool.map(self._gradient, pieces))
        gradient = sum((each for _, each in found), np.zeros_like(self.parameters)) / np.float32(len(batch))
        norm = float(np.sqrt(np.dot(gradient.astype(np.float64), gradient)))
        gradient *= np.float32(min(1.0, self.config.clip / (norm + 1e-12)))
        self._steps += 1
        self._means += np.float32(0.1) * (gradient - self._means)
        self._squares += np.float32(0.001) * (gradient * gradient - self._squares)
        mean = self._means / np.float32(1 - 0.9**self._steps)
        square = self._squares / np.float32(1 - 0.999**self._steps)
        self.parameters -= np.float32(rate) * mean / (np.sqrt(square) + np.float32(1e-8))
        return sum(loss for loss, _ in found) / len(batch)

    def _gradient(self, piece: list[tuple[int, int]]) -> tuple[float, Weights]:
        """The summed loss of a piece, and its gradient."""
        torch = torch_module()
        weights = {
            name: torch.from_numpy(array).requires_grad_()
            for name, array in self.arrays(self.parameters).items()
        }
        graph, lessons = self.lessons(piece)
        loss = self.loss(evaluate(self.shape, weights, graph), lessons)
        found = torch.autograd.grad(loss, list(weights.values()), allow_unused=True)
        parts = [
            np.zeros(array.numel(), np.float32) if each is None else each.numpy().reshape(-1)
            for array, each in zip(weights.values(), found, strict=True)
        ]
        return float(loss.detach()), np.concatenate(parts)

    def loss(self, said: Outputs, lessons: Lessons) -> Tensor:
        """The summed loss of what the network said."""
        config = self.config
        if self.shape.kind == "q":
            return q_loss(said, lessons, margin=config.margin, value_weight=config.value_weight)
        return value_loss(config.chosen_loss, said, lessons)

    def lessons(self, piece: list[tuple[int, int]]) -> tuple[Graph, Lessons]:
        """Samples, sorted by task, as one graph with what is to be learned about it."""
        make: Callable[[_Samples, list[int]], tuple[Graph, Lessons]] = (
            self._q_lessons if self.shape.kind == "q" else self._value_lessons
        )
        made = [
            make(self._samples[task], [sample for each, sample in piece if each == task])
            for task in dict.fromkeys(task for task, _ in piece)
        ]
        return joined([graph for graph, _ in made]), _joined_lessons(made)

    def _value_lessons(self, samples: _Samples, which: list[int]) -> tuple[Graph, Lessons]:
        looks_ahead = self.config.chosen_loss != "supervised"
        states = np.array([samples.states[at] for at in which], np.int64)
        leads_to = [samples.edges[at][1] if looks_ahead else np.zeros(0, np.int64) for at in which]
        every, place = np.unique(np.concatenate([states, *leads_to]), return_inverse=True)
        graph = samples.graphs.graph(np.stack([samples.values[at] for at in every]))
        none = np.zeros(0, np.bool_)
        return graph, Lessons(
            cost=np.array([samples.cost[at] for at in every], np.float32),
            first=np.cumsum([0, *map(len, leads_to)]),
            state=place[: len(states)],
            to=place[len(states) :],
            good=none,
            bad=none,
        )

    def _q_lessons(self, samples: _Samples, which: list[int]) -> tuple[Graph, Lessons]:
        actions = [samples.edges[at][0] for at in which]
        values = np.stack([samples.values[samples.states[at]] for at in which])
        cost, good, bad = zip(*(samples.labels[at] for at in which), strict=True)
        none = np.zeros(0, np.int64)
        return samples.graphs.graph(values, actions), Lessons(
            cost=np.concatenate(cost),
            first=np.cumsum([0, *map(len, actions)]),
            state=none,
            to=none,
            good=np.concatenate(good),
            bad=np.concatenate(bad),
        )


def _joined_lessons(made: list[tuple[Graph, Lessons]]) -> Lessons:
    states = np.cumsum([0, *(graph.num_states for graph, _ in made)])
    firsts, total = [np.zeros(1, np.int64)], 0
    for _, lessons in made:
        firsts.append(lessons.first[1:] + total)
        total += int(lessons.first[-1])
    each = [lessons for _, lessons in made]
    return Lessons(
        cost=np.concatenate([lessons.cost for lessons in each]),
        first=np.concatenate(firsts),
        state=np.concatenate([one.state + base for one, base in zip(each, states, strict=False)]),
        to=np.concatenate([one.to + base for one, base in zip(each, states, strict=False)]),
        good=np.concatenate([lessons.good for lessons in each]),
        bad=np.concatenate([lessons.bad for lessons in each]),
    )


def initial_parameters(shape: GnnShape, *, seed: int) -> Weights:
    """Even between plus and minus 1 / sqrt(inputs), as PyTorch's linear layers begin; biases too."""
    rng = np.random.default_rng([seed, 1])
    parts, inputs = [], 1
    for name, size in shape.parameters().items():
        inputs = size[-1] if name.endswith("weight") else inputs
        # The update begins small: embeddings are sums over all layers.
        most = (0.1 if name.startswith("update.2") else 1.0) / inputs**0.5
        parts.append(rng.uniform(-most, most, size).astype(np.float32).reshape(-1))
    return np.concatenate(parts)
