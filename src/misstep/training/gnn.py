"""Trains relational networks from scratch, in PyTorch: state values, or scores of actions."""

import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from misstep import _core
from misstep._core import Budget
from misstep.budget import Watch
from misstep.errors import InputError
from misstep.formats.asnet_model import Floats
from misstep.formats.gnn_file import write_gnn
from misstep.formats.gnn_model import GnnShape
from misstep.plugins import make_part
from misstep.policies.gnn import relations_of
from misstep.task import Task
from misstep.training.asnet import Progress, TrainingResult, TrainingSession, make_folder
from misstep.training.asnet_checkpoint import STATE
from misstep.training.asnet_data import LabelledTasks, TimeUp
from misstep.training.asnet_run import TrainerState, TrainingRun
from misstep.training.gnn_config import GnnConfig
from misstep.training.gnn_torch import torch_module
from misstep.training.gnn_trainer import GnnTrainer
from misstep.training.teacher_cache import TeacherCache


def train_gnn(
    training: Sequence[Task],
    validation: Sequence[Task],
    config: GnnConfig,
    *,
    out: Path,
    cache: Path | None = None,
    max_seconds: float | None = None,
    watch: Watch = nullcontext,
    progress: Callable[[Progress], None] = lambda _: None,
    report: Callable[[str], None] = lambda _: None,
) -> TrainingResult:
    """Trains, or goes on where a session in `out` was killed; writes models, `log.jsonl` and `final.gnn`.

    `report` hears what goes wrong with teachers. Equal arguments give equal models bit for bit on a machine,
    whatever the number of threads; `max_seconds` only ends training earlier, and so does `watch`, which is around
    all work.
    """
    start = time.monotonic()
    torch_module()  # Where it is missing, that is told before any work is done.
    make_folder(out)
    answers = TeacherCache(cache or out / "teachers.sqlite")
    try:
        # A session that only has to tell how far it came does so, however little time is left.
        goes_on = (out / STATE).is_file()
        with watch():
            found = _enumerate(training, config, Budget(seconds=None if goes_on else max_seconds))
            data = _make_data(training, validation, found, config, answers, report)
            left = None if max_seconds is None else max(0.0, max_seconds - (time.monotonic() - start))
            data.budget = Budget(seconds=left)
            trainer = data.trainer
            session = TrainingSession(
                data,
                [_run(data, config.seed + number) for number in range(config.runs)],
                out=out,
                ending="gnn",
                write=lambda path, parameters: write_gnn(path, trainer.shape, trainer.arrays(parameters)),
                about=asdict(replace(config, threads=1)),
                start=start,
                max_seconds=max_seconds,
                watch=watch,
            )
        return session.work(progress)
    finally:
        answers.close()


@dataclass
class GnnData(LabelledTasks[GnnTrainer, GnnConfig]):
    """The tasks of a relational network's training."""

    def visit(self, task: int, states: Sequence[_core.State], *, most: int, turn: int = 0) -> int:
        """Asks teachers where actions are scored; values of states come from enumeration alone."""
        return super().visit(task, states, most=most, turn=turn) if self.config.kind == "q" else 0

    def train(self, variant: Hashable, *, rate: float) -> float:
        """One epoch of minibatches; the mean loss. There is one variant: the loss of the configuration."""
        return self.trainer.train(rate=rate, budget=self.budget)

    def policy(self, task: int, parameters: Floats) -> _core.GnnPolicy:
        """The policy with these parameters on one of the tasks."""
        return self.trainer.policy(task, parameters)


def _enumerate(
    training: Sequence[Task], config: GnnConfig, budget: Budget
) -> "list[_core.Enumeration | None]":
    """The state spaces of the training tasks that are small enough."""
    if not training or training[0].pddl is None:
        raise InputError("training a GNN needs at least one task from PDDL, not from SAS")
    for text in config.teachers:
        make_part("teacher", text)  # An unknown one is told before any work is done.
    found: list[_core.Enumeration | None] = []
    for task in training:
        space = None
        if config.max_states > 0:
            space = _core.enumerate_states(task, max_states=config.max_states, budget=budget)
            if budget.is_over:
                raise TimeUp
        found.append(space if space is not None and space.complete else None)
    if config.kind == "value" and not any(found):
        raise InputError(
            f"none of the {len(training)} training tasks has at most {config.max_states} states, so there are "
            "no values to learn; give smaller tasks, a larger --max-states, or train with --kind q, which "
            "asks teachers"
        )
    return found


def _make_data(
    training: Sequence[Task],
    validation: Sequence[Task],
    found: "Sequence[_core.Enumeration | None]",
    config: GnnConfig,
    cache: TeacherCache,
    report: Callable[[str], None],
) -> GnnData:
    view = training[0].pddl
    assert view is not None
    shape = GnnShape(
        config.kind,
        config.hidden,
        config.layers,
        relations_of(view, config.kind),
        solvable=any(space is not None and np.isinf(space.values()).any() for space in found),
        domain=view.problem.domain.name,
    )
    tasks = (*training, *validation)
    trainer = GnnTrainer(shape, config, tasks, seed=config.seed)
    data = GnnData(trainer, tasks, len(training), config, cache, report)
    for number, space in enumerate(found):
        added = None if space is None else trainer.add_state_space(number, space, seed=config.seed)
        data.enumerated.append(added)
    return data


def _run(data: GnnData, seed: int) -> TrainingRun:
    trainer = GnnTrainer(data.trainer.shape, data.config, (), seed=seed)
    loss = data.config.chosen_loss
    return TrainingRun(f"{data.config.kind}-{loss}-{seed}", loss, TrainerState(*trainer.state()))
