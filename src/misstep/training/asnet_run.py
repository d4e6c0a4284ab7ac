"""One run of training: its place in parameter space, epoch by epoch, and how good it was so far."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from misstep import _core
from misstep.formats.asnet_model import Floats
from misstep.training.asnet_data import AnyData
from misstep.training.run_config import RunConfig
from misstep.training.score import order_at_zero


@dataclass(frozen=True, slots=True, order=True)
class Score:
    """How good a model is: more solved tasks first, then shorter runs."""

    solved: int
    minus_steps: int
    at_zero: tuple[float, ...] = ()
    """Where nothing is solved: how such models are ranked, see `order_at_zero`. Empty in the states of trainings that
    older versions of misstep left, so that any later model is better."""

    @staticmethod
    def of(runs: Sequence[_core.Run]) -> "Score":
        """The score of runs from the initial states of some tasks."""
        steps = [run.steps for run in runs if run.outcome == "solved"]
        return Score(len(steps), -sum(steps))


@dataclass
class TrainerState:
    """All that the trainer goes on from."""

    parameters: Floats
    means: Floats
    squares: Floats
    steps: int
    random_state: int


@dataclass
class EpochResult:
    """What an epoch gave."""

    loss: float
    success_rate: float
    """The share of training tasks that the model solves."""
    score: Score
    """On the validation tasks; on the training tasks where there are none."""
    model: Floats
    """The parameters to be written."""
    new_states: int


@dataclass
class TrainingRun:
    """A variant with a seed. Runs take turns with one trainer and share its pool of labelled states."""

    name: str
    variant: Hashable
    """Which loss; its text is a part of the name."""
    state: TrainerState
    cohort: int = 0
    """Runs of a cohort go side by side; the next cohort begins where all of them have ended."""
    layers: int | None = None
    """How deep the network is, where the data has trainers of several depths."""
    epoch: int = 0
    recent: list[Floats] = field(default_factory=list)
    """Parameters after the last epochs, which are averaged."""
    best: Score | None = None
    best_epoch: int = 0
    """The last one that brought a better result in the tasks that models are judged by; a smaller loss is none."""
    best_success_rate: float = 0.0
    solved_epochs: int = 0
    """Epochs in a row in which every training task was solved."""
    perfect_epochs: int = 0
    """The same for the validation tasks."""
    alive: bool = True

    def advance(self, data: AnyData, *, turn: int = 0) -> EpochResult:
        """Trains for one epoch, then runs the model on all tasks and labels what it visited.

        `turn` counts the epochs of all runs.
        """
        if self.layers is not None:
            data.use(self.layers)
        config, trainer = data.config, data.trainer
        trainer.restore(
            self.state.parameters,
            self.state.means,
            self.state.squares,
            self.state.steps,
            self.state.random_state,
        )
        loss = data.train(self.variant, rate=rate_at(config, self.epoch))
        data.check_time()
        self.state = TrainerState(*trainer.state())
        self.recent = [*self.recent[1 - config.average :], self.state.parameters][-config.average :]
        judged, model = self._better_model(data)
        # Without validation tasks the runs are those of the training tasks.
        is_trained_on = data.judging.start == 0
        training = judged if is_trained_on else data.run(model, range(data.num_training))
        score, solved = Score.of(judged), Score.of(training)
        new_states = visit_runs(data, training, turn=turn)
        self.epoch += 1  # From here on nothing can end the epoch early.
        if score.solved == 0:
            score = replace(score, at_zero=order_at_zero(solved.solved, loss, self.epoch))
        rate = solved.solved / data.num_training
        self._remember(score, rate, config, perfect=score.solved == len(data.judging))
        return EpochResult(loss, rate, score, model, new_states)

    def _better_model(self, data: AnyData) -> tuple[list[_core.Run], Floats]:
        """The present parameters or the mean of recent ones, whichever is better, and their runs.

        The mean is steadier; but where few models are good beyond the tasks that they were trained on, the
        single ones are more tries.
        """
        models = [self.recent[-1]]
        if len(self.recent) > 1:
            models.insert(0, np.stack(self.recent).mean(axis=0, dtype=np.float64).astype(np.float32))
        judged = [(data.run(model, data.judging), model) for model in models]
        return max(judged, key=lambda entry: Score.of(entry[0]))

    def _remember(self, score: Score, success_rate: float, config: RunConfig, *, perfect: bool) -> None:
        self.solved_epochs = self.solved_epochs + 1 if success_rate >= 0.999 else 0
        self.perfect_epochs = self.perfect_epochs + 1 if perfect else 0
        if self.best is None or replace(score, at_zero=()) > replace(self.best, at_zero=()):
            self.best_epoch = self.epoch
        if self.best is None or score > self.best:
            self.best, self.best_success_rate = score, success_rate
        self.alive = not (
            self.epoch >= config.epochs
            or self.is_perfect(config)
            or self.epoch - self.best_epoch >= config.patience
        )

    def is_perfect(self, config: RunConfig) -> bool:
        """Whether nothing is left to be learned from the tasks at hand."""
        solved = config.solved_epochs is not None and self.solved_epochs >= config.solved_epochs
        return solved or self.perfect_epochs >= config.perfect_epochs


def rate_at(config: RunConfig, epoch: int) -> float:
    """The learning rate of an epoch, counted from 0."""
    share = epoch / max(config.epochs - 1, 1)
    return config.final_rate + (config.rate - config.final_rate) * (1 + math.cos(math.pi * share)) / 2


def visit_runs(data: AnyData, runs: Sequence[_core.Run], *, turn: int = 0) -> int:
    """Labels new states that runs of the training tasks visited: fairly, one from each task in turn."""
    left = data.config.max_new_states
    asked = 0
    for number, run in enumerate(runs):
        share = max(1, left // (len(runs) - number))
        if data.enumerated[number] is None and left > 0:
            count = data.visit(number, run.states, most=min(share, left), turn=turn)
            left -= count
            asked += count
    return asked
