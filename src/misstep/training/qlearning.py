"""Deep Q-learning in numpy: small networks for safety tasks without PyTorch.

Double Q-learning with a target network; from time to time the greedy policy is examined, and the network that
did best is what a training gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misstep.errors import InputError
from misstep.formats.linear_layers import Layers
from misstep.formats.nnet import Interface, write_interface, write_nnet
from misstep.safety.exam import Exam, examine
from misstep.safety.model import SafetyTask
from misstep.safety.policy import layers_policy
from misstep.training.simulator import Rewards, Simulator

Array = NDArray[np.float64]
MAX_WIDTH = 100_000
_AT_ONCE = 2**18
"""Numbers that are drawn together."""


def need_one(settings: object, names: Iterable[str]) -> None:
    """InputError where one of these numbers of some settings is below 1."""
    for name in names:
        if getattr(settings, name) < 1:
            raise InputError(f"{name} is {getattr(settings, name)}; it must be at least 1")


@dataclass(frozen=True)
class QSettings:
    """How to train. Exploration falls linearly over the first half of the steps."""

    hidden: tuple[int, ...] = (32, 32)
    steps: int = 40_000
    episode: int = 200
    """The steps of an episode after which it is cut off."""
    batch: int = 64
    learning_rate: float = 1e-3
    discount: float = 0.98
    memory: int = 20_000
    train_every: int = 2
    copy_every: int = 500
    """Steps between copies of the network to the target network."""
    checkpoint_every: int = 2000
    """Steps between examinations of the policy."""
    exam_runs: int = 100
    least_exploration: float = 0.05
    rewards: Rewards = field(default_factory=Rewards)
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.hidden or not all(0 < size <= MAX_WIDTH for size in self.hidden):
            raise InputError(f"hidden layers of sizes {self.hidden}: each has 1 to {MAX_WIDTH} units")
        need_one(self, "steps episode batch memory train_every copy_every checkpoint_every exam_runs".split())
        if not 0 < self.learning_rate < 1:
            raise InputError(f"the learning rate is {self.learning_rate}; it lies between 0 and 1")
        if not 0 < self.discount <= 1:
            raise InputError(f"the discount is {self.discount}; it lies above 0 and is at most 1")


def _normal(rng: np.random.Generator, rows: int, columns: int) -> Array:
    """First weights, some rows at a time: a limit on memory can be noticed before all of a large matrix is there."""
    made = np.empty((rows, columns))
    for part in np.array_split(made, range(0, rows, max(1, _AT_ONCE // columns))[1:]):
        part[...] = rng.normal(0, np.sqrt(2 / columns), part.shape)
    return made


class QNetwork:
    """A multi-layer perceptron with ReLU, and Adam to train it."""

    def __init__(self, sizes: Sequence[int], rng: np.random.Generator, *, learning_rate: float) -> None:
        self.weights = [_normal(rng, b, a) for a, b in pairwise(sizes)]
        self.biases = [np.zeros(b) for b in sizes[1:]]
        self._rate, self.time = learning_rate, 0
        self._moments = [(np.zeros_like(p), np.zeros_like(p)) for p in (*self.weights, *self.biases)]

    def __call__(self, x: Array) -> Array:
        """Values of all actions for each row."""
        return self._forward(x)[-1]

    def _forward(self, x: Array) -> list[Array]:
        values = [x]
        for k, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            y = values[-1] @ w.T + b
            values.append(y if k + 1 == len(self.weights) else np.maximum(y, 0))
        return values

    def fit(self, x: Array, actions: NDArray[np.int64], targets: Array) -> None:
        """One step towards the targets of the chosen actions (Huber loss)."""
        values = self._forward(x)
        rows = np.arange(len(x))
        delta = np.zeros_like(values[-1])
        delta[rows, actions] = np.clip(values[-1][rows, actions] - targets, -1, 1) / len(x)
        self._descend(values, delta)

    def imitate(self, x: Array, mask: NDArray[np.bool_], actions: NDArray[np.int64], weights: Array) -> None:
        """One step towards taking these actions among those of the mask (weighted cross-entropy)."""
        values = self._forward(x)
        scores = np.where(mask, values[-1], -np.inf)
        likely = np.exp(scores - scores.max(1, keepdims=True))
        delta = likely / likely.sum(1, keepdims=True)
        delta[np.arange(len(x)), actions] -= 1
        self._descend(values, delta * (weights / weights.sum())[:, None])

    def _descend(self, values: list[Array], delta: Array) -> None:
        weight_steps: list[Array] = []
        bias_steps: list[Array] = []
        for k in reversed(range(len(self.weights))):
            weight_steps.append(delta.T @ values[k])
            bias_steps.append(delta.sum(0))
            if k > 0:
                delta = (delta @ self.weights[k]) * (values[k] > 0)
        self._adam([*reversed(weight_steps), *reversed(bias_steps)])

    def _adam(self, gradients: Sequence[Array]) -> None:
        self.time += 1
        parameters = (*self.weights, *self.biases)
        for p, g, (m, v) in zip(parameters, gradients, self._moments, strict=True):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            p -= self._rate * (m / (1 - 0.9**self.time)) / (np.sqrt(v / (1 - 0.999**self.time)) + 1e-8)

    @property
    def arrays(self) -> list[Array]:
        """Parameters and moments, to be saved and filled again."""
        return [*self.weights, *self.biases, *(moment for pair in self._moments for moment in pair)]

    def copy_from(self, other: QNetwork) -> None:
        """Take over the parameters."""
        self.weights = [w.copy() for w in other.weights]
        self.biases = [b.copy() for b in other.biases]


class Memory:
    """The latest transitions, drawn from at random."""

    def __init__(self, size: int, inputs: int, outputs: int) -> None:
        self._x, self._next = np.zeros((size, inputs)), np.zeros((size, inputs))
        self._action, self._reward = np.zeros(size, np.int64), np.zeros(size)
        self._mask = np.zeros((size, outputs), np.bool_)
        self.count = 0
        """Transitions so far, those that were overwritten included."""

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """All that it holds, to be saved and filled again."""
        return [self._x, self._next, self._action, self._reward, self._mask]

    def add(self, x: Array, action: int, reward: float, following: Array, mask: NDArray[np.bool_]) -> None:
        """Keeps a transition; the mask says which actions apply after it, none where the episode is over."""
        i = self.count % len(self._x)
        self._x[i], self._action[i], self._reward[i], self._next[i], self._mask[i] = (
            x,
            action,
            reward,
            following,
            mask,
        )
        self.count += 1

    def draw(
        self, rng: np.random.Generator, n: int
    ) -> tuple[Array, NDArray[np.int64], Array, Array, NDArray[np.bool_]]:
        """So many transitions at random: observations, actions, rewards, what followed, and masks."""
        i = rng.integers(0, min(self.count, len(self._x)), n)
        return self._x[i], self._action[i], self._reward[i], self._next[i], self._mask[i]


class QTraining:
    """A training under way: everything that the next step depends on, so that it can be saved and continued.

    Only applicable actions are explored and bootstrapped from, so the network is to be used with the filter.
    """

    def __init__(self, task: SafetyTask, settings: QSettings) -> None:
        self.task, self.settings = task, settings
        self.rng = np.random.default_rng(settings.seed)
        self.simulator = Simulator(
            task, seed=settings.seed, rewards=settings.rewards, max_steps=settings.episode
        )
        sizes = (len(self.simulator.inputs), *settings.hidden, len(self.simulator.labels))
        self.network = QNetwork(sizes, self.rng, learning_rate=settings.learning_rate)
        self.target = QNetwork(sizes, self.rng, learning_rate=settings.learning_rate)
        self.target.copy_from(self.network)
        self.memory = Memory(settings.memory, sizes[0], sizes[-1])
        self.best = QNetwork(sizes, np.random.default_rng(0), learning_rate=settings.learning_rate)
        self.best.copy_from(self.network)
        self.exam: Exam | None = None
        """Of the best network so far; None before the first one."""
        self.ends: list[bool] = []
        """Whether the latest episodes reached the goal."""
        self.step = 0
        """The next one."""
        self.simulator.reset()

    @property
    def goal_share(self) -> float:
        """The share of recent episodes that reached the goal."""
        return float(np.mean(self.ends)) if self.ends else 0.0

    @property
    def result(self) -> tuple[Layers, list[str], list[str]]:
        """The best layers (on unscaled inputs), the names of the inputs, and the labels of the outputs."""
        network = self.network if self.exam is None else self.best
        return unscaled(network, self.simulator), self.simulator.inputs, self.simulator.labels

    @property
    def latest(self) -> tuple[Layers, list[str], list[str]]:
        """The same of the network as it is now."""
        return unscaled(self.network, self.simulator), self.simulator.inputs, self.simulator.labels

    @property
    def is_over(self) -> bool:
        """Whether all steps are done."""
        return self.step >= self.settings.steps

    def advance(self, *, progress: Callable[[int, float], None] | None = None) -> None:
        """Trains up to the next examination, which is the end of it: after `checkpoint_every` steps, or the last.

        `progress` gets the step and the share of recent episodes that reached the goal.
        """
        settings = self.settings
        while not self.is_over:
            self._act()
            self._learn()
            if self.step % settings.copy_every == 0:
                self.target.copy_from(self.network)
                if progress is not None and self.ends:
                    progress(self.step, self.goal_share)
            self.step += 1
            if self.step % settings.checkpoint_every == 0 or self.is_over:
                self._examine()
                return

    def _examine(self) -> None:
        """Keeps the network if its policy is the best so far; the later one of equals."""
        settings = self.settings
        layers, inputs, labels = self.latest
        game = self.task.game(layers_policy(layers, inputs, labels, self.task))
        starts = [game.add(values) for values in self.simulator.starts]
        found = examine(game, starts, runs=settings.exam_runs, max_steps=settings.episode, seed=settings.seed)
        if self.exam is None or found.rank >= self.exam.rank:
            self.exam = found
            self.best.copy_from(self.network)

    def _act(self) -> None:
        """One step in the environment, more and more often the one that the network thinks best."""
        simulator, settings = self.simulator, self.settings
        x, mask = simulator.look(simulator.state)
        explore = max(settings.least_exploration, 1 - 2 * self.step / settings.steps)
        if self.rng.random() < explore:
            action = int(self.rng.choice(np.flatnonzero(mask)))
        else:
            action = int(np.argmax(np.where(mask, self.network(x[None])[0], -np.inf)))
        reward, over = simulator.step(action)
        following, next_mask = simulator.look(simulator.state)
        self.memory.add(x, action, reward, following, next_mask if not over else np.zeros_like(next_mask))
        if over or simulator.steps >= simulator.max_steps:
            self.ends = [*self.ends[-99:], simulator.is_goal()]
            simulator.reset()

    def _learn(self) -> None:
        settings = self.settings
        if self.memory.count >= settings.batch and self.step % settings.train_every == 0:
            xs, actions, paid, nexts, masks = self.memory.draw(self.rng, settings.batch)
            chosen = np.where(masks, self.network(nexts), -np.inf).argmax(1)
            after = self.target(nexts)[np.arange(len(xs)), chosen]
            self.network.fit(xs, actions, paid + settings.discount * np.where(masks.any(1), after, 0.0))


def unscaled(network: QNetwork, simulator: Simulator) -> Layers:
    """Fold the scaling of the inputs into the first layer."""
    layers = [(w.copy(), b.copy()) for w, b in zip(network.weights, network.biases, strict=True)]
    w, b = layers[0]
    layers[0] = (w / simulator.half, b - (w / simulator.half) @ simulator.middle)
    return layers


def save(
    path: Path, layers: Layers, inputs: Sequence[str], outputs: Sequence[str], *, digits: int = 6
) -> None:
    """Write `path` (.jani2nnet) and the .nnet file beside it; weights are rounded to keep the files small."""
    rounded = [(np.round(w, digits), np.round(b, digits)) for w, b in layers]
    network = path.with_suffix(".nnet")
    write_nnet(network, rounded)
    interface = Interface(network, tuple(inputs), tuple(outputs), True)
    write_interface(path, interface, [w.shape[0] for w, _ in layers[:-1]])
