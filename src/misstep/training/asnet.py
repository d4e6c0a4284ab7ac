"""Trains ASNets from scratch: roll-outs, labels, minibatches, validation; a model every epoch."""

import contextlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import numpy as np

from misstep._core import AsnetTrainer, Budget
from misstep.budget import Watch
from misstep.errors import InputError, LimitReached
from misstep.formats.asnet_model import AsnetModel, Floats, Module
from misstep.formats.asnet_policy import write_asnet
from misstep.support.whole_files import write_file
from misstep.task import Task
from misstep.training.asnet_checkpoint import Checkpoint
from misstep.training.asnet_config import AsnetConfig
from misstep.training.asnet_data import AnyData, TrainingData, make_data
from misstep.training.asnet_init import configured_model
from misstep.training.asnet_run import EpochResult, TrainerState, TrainingRun, visit_runs
from misstep.training.teacher_cache import TeacherCache, task_digest


@dataclass(frozen=True, slots=True)
class Progress:
    """An epoch of one run, as it is logged and shown."""

    run: str
    epoch: int
    loss: float
    success_rate: float
    solved: int
    """Of the validation tasks; of the training tasks where there are none."""
    of: int
    samples: int
    seconds: float
    left: float
    """An estimate of the seconds to go."""


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """What training gave."""

    epochs: int
    """Over all runs."""
    final: Path
    """The chosen model."""
    models: Path
    """The directory with the models of all epochs."""
    success_rate: float
    """The share of training tasks that the chosen model solves."""
    solved: int
    """The validation tasks that it solves (training tasks where there are none)."""
    seconds: float
    limit: str | None
    """`seconds` or `memory` where that was used up before training had ended."""

    def as_json(self) -> dict[str, object]:
        """What `misstep train asnet --json` prints."""
        told = {each.name: getattr(self, each.name) for each in fields(TrainingResult)}
        return {**told, "final": str(self.final), "models": str(self.models)}


def train_asnet(
    training: Sequence[Task],
    validation: Sequence[Task],
    config: AsnetConfig,
    *,
    out: Path,
    cache: Path | None = None,
    max_seconds: float | None = None,
    watch: Watch = contextlib.nullcontext,
    progress: Callable[[Progress], None] = lambda _: None,
    report: Callable[[str], None] = lambda _: None,
) -> TrainingResult:
    """Trains, or goes on where a session in `out` was killed; writes models, `log.jsonl` and `final.asnet`.

    `report` hears what goes wrong with teachers. Equal arguments give equal models bit for bit, whatever the
    number of threads; `max_seconds` only ends training earlier, and so does `watch`, which is around all work.
    """
    start = time.monotonic()
    make_folder(out)
    view = training[0].pddl if training else None
    if view is None:
        raise InputError("training an ASNet needs tasks from PDDL, not from SAS")
    answers = TeacherCache(cache or out / "teachers.sqlite")
    try:
        with watch():
            model = configured_model(view, config, seed=config.seed, layers=config.layers_of(0))
            data = make_data(model, training, validation, config, cache=answers, report=report)
            data.budget = Budget(seconds=max_seconds)
            data.enumerate()
            session = TrainingSession(
                data,
                [run for number in range(config.runs * config.cohorts) for run in _runs(data, number)],
                out=out,
                ending="asnet",
                write=lambda path, parameters: write_asnet(
                    path, with_parameters(data.model, data.trainer, parameters)
                ),
                about=asdict(replace(config, threads=1)),
                start=start,
                max_seconds=max_seconds,
                watch=watch,
            )
        return session.work(progress)
    finally:
        answers.close()


def make_folder(out: Path) -> None:
    """Makes the directory of a training, with what every training has there."""
    try:
        (out / "models").mkdir(parents=True, exist_ok=True)
        (out / "log.jsonl").touch()
    except OSError as error:
        raise InputError(f"{out}: cannot be written to: {error.strerror}; choose another --out") from None


_SEEDS = 1_000_003
"""So far apart are the seeds of two trainings: their runs have no random numbers in common."""


def _runs(data: TrainingData, number: int) -> list[TrainingRun]:
    """One run for each variant, all from the same first weights."""
    view = data.tasks[0].pddl
    assert view is not None
    config = data.config
    seed = config.seed * _SEEDS + number
    layers = config.layers_of(number)
    model = configured_model(view, config, seed=seed, number=number, layers=layers)
    trainer = make_data(model, data.tasks[:1], (), replace(config, threads=1, seed=seed)).trainer
    return [
        TrainingRun(
            f"{variant}-{number}", variant, TrainerState(*trainer.state()), number // config.runs, layers
        )
        for variant in config.variants
    ]


_CHANCE = 0.1
"""Runs whose share of solved tasks differs by no more than this are not told apart."""


class TrainingSession:
    """The runs of one training, of whatever network, and their files."""

    def __init__(
        self,
        data: AnyData,
        runs: Sequence[TrainingRun],
        *,
        out: Path,
        ending: str,
        write: Callable[[Path, Floats], None],
        about: dict[str, object],
        start: float,
        max_seconds: float | None,
        watch: Watch,
    ) -> None:
        """Goes on from the checkpoint in `out`, if there is one of a training with the same `about` and tasks.

        Models are files with this ending, and `write` makes them.
        """
        self.data, self.runs, self.out, self.max_seconds = data, runs, out, max_seconds
        self.config, self.ending, self.write, self.watch = data.config, ending, write, watch
        self.checkpoint = Checkpoint(out)
        digests = [task_digest(task).hex() for task in self.data.tasks]
        self.about = json.dumps([about, digests], sort_keys=True)
        self.before = 0.0
        self.start = start
        if self.checkpoint.exists:
            self.before = self.checkpoint.load(self.runs, self.data, config=self.about)
            if max_seconds is not None:  # The time is for all sessions together.
                self.data.budget = Budget(seconds=max(0.0, max_seconds - self.seconds))
            self._tidy_log()

    def _first_states(self) -> None:
        """Labels before the first epoch: the initial states, and what an untrained policy visits."""
        data = self.data
        for number in range(data.num_training):
            data.visit(number, [data.tasks[number].initial_state], most=1)
        if None in data.enumerated:
            visit_runs(data, data.run(self.runs[0].state.parameters, range(data.num_training)))
        data.require_labels()

    @property
    def seconds(self) -> float:
        """Over all sessions."""
        return self.before + time.monotonic() - self.start

    def work(self, progress: Callable[[Progress], None]) -> TrainingResult:
        """Epoch by epoch, the runs in turns; the worse half ends at fixed epochs."""
        limit = None
        try:
            if not self._has_models():
                with self.watch():
                    self._first_states()
            while any(run.alive for run in self.runs):
                for run in self._turn():
                    self._epoch(run, progress)
        except LimitReached as reached:
            limit = reached.limit
            if not self._has_models():
                raise LimitReached(f"no epoch ended within the limit on {limit}; allow more", limit) from None
        return self._finish(limit)

    def _turn(self) -> list[TrainingRun]:
        """The runs whose turn it is: those of the cohort that are behind the others."""
        alive = self._cohort()
        least = min(run.epoch for run in alive)
        return [run for run in alive if run.epoch == least]

    def _cohort(self) -> list[TrainingRun]:
        """The runs under way: those of the first cohort that has any."""
        alive = [run for run in self.runs if run.alive]
        return [run for run in alive if run.cohort == alive[0].cohort]

    def _has_models(self) -> bool:
        return any(run.best is not None for run in self.runs)

    def _epoch(self, run: TrainingRun, progress: Callable[[Progress], None]) -> None:
        before = replace(run)
        try:
            with self.watch():
                self.data.check_time()
                result = run.advance(self.data, turn=sum(each.epoch for each in self.runs))
        except LimitReached:  # Half an epoch leaves nothing.
            vars(run).update(vars(before))
            raise
        self._write_model(self.out / "models" / f"{run.name}-{run.epoch:04d}.{self.ending}", result.model)
        if run.best != before.best:
            self._write_model(self.out / "models" / f"{run.name}-best.{self.ending}", result.model)
        self._drop_worse()
        told = self._progress(run, result)
        self._log(told, result)
        self.checkpoint.save(self.runs, self.data, config=self.about, seconds=self.seconds)
        progress(told)

    def _drop_worse(self) -> None:
        """After trial_epochs the better half goes on, after twice as many the better half of these, ...

        A run that solves nearly as much as the best one goes on with it: the difference may be chance. Runs that
        learn exactly the same, because their labels do not differ, end but for one.
        """
        if self._is_over():
            for run in self.runs:
                run.alive = False
        alive = self._cohort()
        epochs = {run.epoch for run in alive}
        if len(alive) < 2 or len(epochs) > 1 or epochs == {0}:
            return
        for at, run in enumerate(alive):
            same = (np.array_equal(run.state.parameters, other.state.parameters) for other in alive[:at])
            run.alive = not any(same)
        alive = [run for run in alive if run.alive]
        trial, epoch = self.config.trial_epochs, epochs.pop()
        while trial < epoch:
            trial *= 2
        if epoch != trial:
            return
        ranked = sorted(((run.best, -at, run) for at, run in enumerate(alive) if run.best), reverse=True)
        most = ranked[0][0].solved
        for score, _, run in ranked[(len(ranked) + 1) // 2 :]:
            run.alive = most - score.solved <= _CHANCE * len(self.data.judging)

    def _is_over(self) -> bool:
        """Whether a run has nothing left to learn, or a cohort has ended and some model of it, or of one before,
        solves all tasks that models are judged by."""
        if any(run.is_perfect(self.config) for run in self.runs):
            return True
        has_ended = all(run.epoch == 0 for run in self._cohort())
        most = max(run.best.solved for run in self.runs if run.best is not None)
        return has_ended and most == len(self.data.judging)

    def _write_model(self, path: Path, parameters: Floats) -> None:
        try:
            self.write(path, parameters)
        except OSError as error:
            raise InputError(
                f"{path}: the model cannot be written: {error.strerror}; make room and give the same "
                "command again to go on"
            ) from None

    def _progress(self, run: TrainingRun, result: EpochResult) -> Progress:
        done = sum(each.epoch for each in self.runs)
        to_go = sum(self.config.epochs - each.epoch for each in self.runs if each.alive)
        left = self.seconds / done * to_go
        if self.max_seconds is not None:
            left = min(left, max(0.0, self.max_seconds - self.seconds))
        return Progress(
            run.name,
            run.epoch,
            result.loss,
            result.success_rate,
            result.score.solved,
            len(self.data.judging),
            self.data.size,
            self.seconds,
            left,
        )

    def _log(self, told: Progress, result: EpochResult) -> None:
        line = {**asdict(told), "new_states": result.new_states}
        del line["left"]
        try:
            with (self.out / "log.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise InputError(f"{self.out}: the log cannot be written: {error.strerror}; make room") from None

    def _tidy_log(self) -> None:
        """Leaves lines out that no checkpoint knows of: they will come again."""
        known = {(run.name, epoch) for run in self.runs for epoch in range(1, run.epoch + 1)}
        log = self.out / "log.jsonl"
        kept = []
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
            # Half a line, where the session was killed, or no line of ours.
            with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
                told = json.loads(line)
                if (told["run"], told["epoch"]) in known:
                    kept.append(line + "\n")
        log.write_text("".join(kept), encoding="utf-8")

    def _finish(self, limit: str | None) -> TrainingResult:
        score, number = max((run.best, -at) for at, run in enumerate(self.runs) if run.best is not None)
        best = self.runs[-number]
        name = f"{best.name}-best.{self.ending}"
        final = self.out / f"final.{self.ending}"
        try:
            write_file(final, (self.out / "models" / name).read_bytes())
        except OSError as error:
            raise InputError(
                f"{final}: cannot be written: {error.strerror}; make room and try again"
            ) from None
        return TrainingResult(
            epochs=sum(run.epoch for run in self.runs),
            final=final,
            models=self.out / "models",
            success_rate=best.best_success_rate,
            solved=score.solved,
            seconds=self.seconds,
            limit=limit,
        )


def with_parameters(model: AsnetModel, trainer: AsnetTrainer, parameters: Floats) -> AsnetModel:
    """The same model with other weights."""
    actions, predicates = trainer.modules(parameters)

    def shaped(
        old: tuple[tuple[Module, ...], ...], new: list[list[tuple[Floats, Floats]]]
    ) -> tuple[tuple[Module, ...], ...]:
        return tuple(
            tuple(
                Module(weights.reshape(module.weights.shape), bias)
                for module, (weights, bias) in zip(layer, others, strict=True)
            )
            for layer, others in zip(old, new, strict=True)
        )

    return replace(
        model,
        action_modules=shaped(model.action_modules, actions),
        predicate_modules=shaped(model.predicate_modules, predicates),
    )
