"""Retraining on faults: a network learns what its own shield does, until it needs the shield less.

Each round puts a shield around the network as it is, collects the states that both visit, and trains on what
the shield does there: the network's own action where that is safe and leads on, a safe one where it is a
fault. The best network of all rounds is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misstep._core import Decider, SafetyFuzzer
from misstep.budget import Watch
from misstep.errors import InputError, LimitReached
from misstep.formats.linear_layers import Layers
from misstep.formats.nnet import read_interface, read_nnet
from misstep.safety.exam import Exam, exam_of, examine
from misstep.safety.lab import ModelLab
from misstep.safety.model import SafetyTask, Value
from misstep.safety.policy import layers_policy
from misstep.safety.shield import Shield
from misstep.training.qlearning import QNetwork, need_one, unscaled
from misstep.training.simulator import Simulator


@dataclass(frozen=True)
class RepairSettings:
    """How to retrain. Each round adds states to those of the rounds before."""

    rounds: int = 10
    runs: int = 200
    """Runs of the policy and of its shield in each round, whose states are learned from."""
    epochs: int = 60
    batch: int = 128
    learning_rate: float = 5e-4
    fault_weight: float = 4.0
    """How much more a state counts in which the policy was overruled."""
    max_steps: int = 300
    exam_runs: int = 1000
    max_expansions: int = 100_000
    """Of one decision of the shield."""
    seed: int = 0

    def __post_init__(self) -> None:
        need_one(self, ("rounds", "runs", "epochs", "batch", "max_steps", "exam_runs", "max_expansions"))
        if not 0 < self.learning_rate < 1 or not self.fault_weight > 0:
            raise InputError("the learning rate lies between 0 and 1, the weight of faults above 0")


@dataclass(frozen=True)
class Repaired:
    """The network before and after, on runs from start states from which a safe course exists."""

    before: Exam
    after: Exam
    shielded: Exam
    """The network before, behind its shield."""
    rounds: list[Exam]
    layers: Layers
    inputs: list[str]
    outputs: list[str]
    limit: str | None = None
    """`seconds` or `memory`, where that ended it; before and after are then those of the runs that chose."""

    @property
    def is_better(self) -> bool:
        """Whether fewer runs are unsafe, and no fewer reach the goal."""
        return (
            self.after.unsafe_rate < self.before.unsafe_rate and self.after.goal_rate >= self.before.goal_rate
        )


@dataclass
class Standing:
    """Where a retraining stands after a round."""

    before: Exam
    shielded: Exam
    best: Exam
    layers: Layers
    """Of the best network."""
    rounds: list[Exam] = field(default_factory=list)


@dataclass
class Lessons:
    """States to learn from, each once: observation, what is applicable, what to do, how much it counts."""

    rows: dict[tuple[Value, ...], tuple[Any, Any, int, float]] = field(default_factory=dict)

    def arrays(self) -> tuple[Any, NDArray[np.bool_], NDArray[np.int64], Any]:
        """Row by row, in the order in which they came; there must be some."""
        x, mask, label, weight = zip(*self.rows.values(), strict=True)
        return np.stack(x), np.stack(mask), np.array(label), np.array(weight)


class Repair:
    """One retraining under way."""

    def __init__(self, task: SafetyTask, path: Path, settings: RepairSettings) -> None:
        self.task, self.settings = task, settings
        interface = read_interface(path)
        if interface.file.suffix != ".nnet":
            raise InputError(f"{path}: only networks in .nnet files are retrained, not {interface.file.name}")
        self.rng = np.random.default_rng(settings.seed)
        self.simulator = Simulator(task, seed=settings.seed)
        self._order(list(interface.inputs), list(interface.outputs), str(path))
        self.network = _scaled(read_nnet(interface.file), self.simulator, settings.learning_rate)
        self.starts = self._safe_starts()
        self.lessons = Lessons()
        self.old = self.layers
        self.standing: Standing | None = None
        """None before the first measurement."""

    def _order(self, inputs: list[str], outputs: list[str], where: str) -> None:
        """The network's inputs and outputs must be what the simulator shows, in the same order."""
        if inputs != self.simulator.inputs or outputs != self.simulator.labels:
            raise InputError(
                f"{where}: only networks over all variables and all labels, in the order of the model, are "
                "retrained, such as those of `misstep train mlp`"
            )

    @property
    def layers(self) -> Layers:
        """The network as it is now, on unscaled inputs."""
        return unscaled(self.network, self.simulator)

    def _safe_starts(self) -> list[list[Value]]:
        shield = self._shield()
        found: list[list[Value]] = [
            list(shield.lab.game.values(s))
            for s in self.task.start_states(shield.lab.game, seed=self.settings.seed)
            if shield.lab.verdict(s) == "safe"
        ]
        if not found:
            raise InputError(
                f"{self.task.files.file}: no start state is known to be safe; nothing to retrain"
            )
        return found

    def _shield(self) -> Shield:
        game = self.task.game(
            layers_policy(self.layers, self.simulator.inputs, self.simulator.labels, self.task)
        )
        lab = ModelLab(
            task=self.task,
            game=game,
            decider=Decider(game, "level"),
            max_expansions=self.settings.max_expansions,
        )
        return Shield(lab)

    def run(
        self,
        *,
        progress: Callable[[int, Exam], None] | None = None,
        watch: Watch = nullcontext,
        checkpoint: Callable[[Repair], None] = lambda _: None,
    ) -> Repaired:
        """All rounds that are left; `progress` gets the number of the round and how the network did after it.

        `checkpoint` gets this object after each. `watch` is around all work: where it raises LimitReached the
        result is what there is, and where that is nothing it is raised again.
        """
        limit = None
        try:
            if self.standing is None:
                with watch():
                    before, shielded = self.exam(), self._collect()
                self.standing = Standing(before, shielded, before, self.old)
                checkpoint(self)
            while not self._is_over(self.standing):
                with watch():
                    if self.standing.rounds:
                        self._collect()
                    self._learn()
                    exam, layers = self.exam(), self.layers
                self._enter(self.standing, exam, layers)
                checkpoint(self)
                if progress is not None:
                    progress(len(self.standing.rounds), exam)
        except LimitReached as reached:
            if self.standing is None:
                raise
            limit = reached.limit
        return self._result(self.standing, limit, watch)

    def _is_over(self, now: Standing) -> bool:
        wanted = max(now.before.goal_rate, now.shielded.goal_rate)
        last = now.rounds[-1] if now.rounds else None
        is_perfect = last is not None and last.unsafe == 0 and last.goal_rate >= wanted
        return is_perfect or len(now.rounds) >= self.settings.rounds

    def _enter(self, now: Standing, exam: Exam, layers: Layers) -> None:
        now.rounds.append(exam)
        if _rank(exam, now.before) > _rank(now.best, now.before):
            now.best, now.layers = exam, layers

    def _result(self, now: Standing, limit: str | None, watch: Watch) -> Repaired:
        before, after = now.before, now.best
        try:
            if limit is None:
                with watch():  # The runs by which the best was chosen flatter it: measured again with others.
                    before, after = self.exam(self.old, seed=_LAST), self.exam(now.layers, seed=_LAST)
        except LimitReached as reached:
            limit = reached.limit
        inputs, outputs = self.simulator.inputs, self.simulator.labels
        return Repaired(before, after, now.shielded, now.rounds, now.layers, inputs, outputs, limit)

    def exam(self, layers: Layers | None = None, *, seed: int = 1) -> Exam:
        """The network as it is now, or another one."""
        inputs, labels = self.simulator.inputs, self.simulator.labels
        game = self.task.game(layers_policy(layers or self.layers, inputs, labels, self.task))
        return examine(
            game,
            [game.add(values) for values in self.starts],
            runs=self.settings.exam_runs,
            max_steps=self.settings.max_steps,
            seed=self.settings.seed + seed,
        )

    def _collect(self) -> Exam:
        """Adds what the shield does on runs of the policy and on its own; how its own ended."""
        settings, shield = self.settings, self._shield()
        game = shield.lab.game
        starts = [game.add(values) for values in self.starts]
        shield.plan(starts)
        fuzzers = [SafetyFuzzer(game, kind, max_steps=settings.max_steps, seed=1) for kind in _FUZZERS]
        for number in range(settings.runs):
            start = starts[int(self.rng.integers(len(starts)))]
            _, run = fuzzers[number % len(fuzzers)].run(start)
            self._add(shield, run)
        ends = []
        for _ in range(settings.runs):
            end, run = self._shielded_run(shield, starts[int(self.rng.integers(len(starts)))])
            self._add(shield, run)
            ends.append(end)
        return exam_of(ends)

    def _shielded_run(self, shield: Shield, start: int) -> tuple[str, list[int]]:
        game, run = shield.lab.game, [start]
        while len(run) <= self.settings.max_steps:
            s = run[-1]
            if game.is_unsafe(s) or game.is_goal(s):
                return ("unsafe" if game.is_unsafe(s) else "goal"), run
            label = shield.choose(s)
            outcomes = [after for own, _, after in game.moves(s) if own == label]
            if not outcomes:
                return "stuck", run
            run.append(outcomes[0][int(self.rng.integers(len(outcomes[0])))])
        return "cut-off", run

    def _add(self, shield: Shield, run: Sequence[int]) -> None:
        game, simulator = shield.lab.game, self.simulator
        for s in dict.fromkeys(run):
            if game.is_unsafe(s) or game.is_goal(s) or shield.lab.verdict(s) != "safe":
                continue
            label = shield.choose(s)
            values = game.values(s)
            if label is None or self.task.labels[label] not in simulator.labels:
                continue
            x, mask = simulator.look(simulator.number(values))
            weight = self.settings.fault_weight if s in shield.overruled else 1.0
            place = simulator.labels.index(self.task.labels[label])
            self.lessons.rows[tuple(values)] = (x, mask, place, weight)

    def _learn(self) -> None:
        if not self.lessons.rows:
            return
        x, mask, labels, weights = self.lessons.arrays()
        for _ in range(self.settings.epochs):
            order = self.rng.permutation(len(x))
            for i in range(0, len(x), self.settings.batch):
                rows = order[i : i + self.settings.batch]
                self.network.imitate(x[rows], mask[rows], labels[rows], weights[rows])


_FUZZERS = ("uniform", "greedy")
_LAST = 2


def _rank(exam: Exam, before: Exam) -> tuple[bool, float, float]:
    """The goal must be reached as often as before; then the fewer unsafe runs the better."""
    return exam.goal_rate >= before.goal_rate, -exam.unsafe_rate, exam.goal_rate


def _scaled(layers: Layers, simulator: Simulator, learning_rate: float) -> QNetwork:
    """The network on inputs from -1 to 1, ready to be trained."""
    sizes = [layers[0][0].shape[1], *(w.shape[0] for w, _ in layers)]
    network = QNetwork(sizes, np.random.default_rng(0), learning_rate=learning_rate)
    network.weights = [np.array(w, np.float64) for w, _ in layers]
    network.biases = [np.array(b, np.float64) for _, b in layers]
    network.biases[0] = network.biases[0] + network.weights[0] @ simulator.middle
    network.weights[0] = network.weights[0] * simulator.half
    return network
