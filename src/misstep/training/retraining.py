"""Retraining on bugs: test, learn from the better plans, test again, until the bug rate stops falling."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from misstep._core import Budget
from misstep.budget import Watch
from misstep.config import DEFAULT_ORACLE, Config
from misstep.errors import InputError, LimitReached
from misstep.formats.asnet_model import AsnetModel, Floats
from misstep.formats.asnet_policy import read_asnet, write_asnet
from misstep.policies.asnet import Asnet
from misstep.record.store import DirectoryStore, write_whole
from misstep.reports.report import Bug, Report
from misstep.session import Session
from misstep.support.plain import read_fields, reading
from misstep.task import Task
from misstep.training.asnet import with_parameters
from misstep.training.asnet_config import AsnetConfig, Variant
from misstep.training.asnet_data import TrainingData, make_data
from misstep.training.bug_labels import BugLabels, BugRule
from misstep.training.examiner import ExamConfig, Examiner
from misstep.training.score import Exam
from misstep.training.standing import Change, Standing, change, standing
from misstep.training.teacher_cache import TeacherCache, task_digest

BUGS, ROUNDS, ABOUT = "bugs.jsonl", "rounds.jsonl", "about.json"
# Pools for finding bugs, for choosing and for the final measurement are drawn from different seeds.
_ROUND_SEED, _HELD_OUT_SEED = 1_000, 1_000_000
# Of the time; the rest is for measuring what came of them.
_ROUNDS_SHARE = 2 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrainConfig:
    """All options of retraining."""

    rounds: int = 6
    """At most so many times are bugs looked for and learned from."""
    patience: int = 2
    """It ends after so many rounds without a lower bug rate."""
    pool: int = 50
    """States of every task that are tested in a round; as many others are for choosing and measuring."""
    oracle: tuple[str, ...] = ("landmarks+planner:astar:lmcut,effort=1e6+lookahead",)
    """Finds bugs and better plans."""
    labels: tuple[BugRule, ...] = ("plan", "successors")
    """What bugs teach; see misstep.training.bug_labels. Each rule with each variant, side by side."""
    teachers: tuple[str, ...] = ("astar",)
    """Asked about the successors of states in which the policy may have gone wrong."""
    expansions: int = 1000
    """What one call of a teacher may expand."""
    max_run: int = 30
    """So many decisions of the policy after a bug are looked at."""
    max_weight: int = 10
    """A bug counts as often as the policy pays too much, at most so often; also where it never gets there."""
    variants: tuple[Variant, ...] = (Variant(), Variant(max_regret=1), Variant("all-good"))
    """Ways to learn, side by side; validation chooses in every round."""
    epochs: int = 4
    batches: int = 150
    rate: float = 3e-4
    mixes: tuple[float, ...] = (1.0, 0.3)
    """How far to go from the old weights to the learned ones, each tried: less of the way forgets less."""
    max_states: int = 50_000
    """Tasks with at most so many states are also learned exactly, so that what is known is kept."""
    max_samples: int = 2_000
    seed: int = 0
    threads: int = 2

    def __post_init__(self) -> None:
        for name in ("rounds", "patience", "pool", "max_weight", "epochs", "batches"):
            if getattr(self, name) < 1:
                raise InputError(f"option `{name}` is {getattr(self, name)}; it must be at least 1")


@dataclass(frozen=True, slots=True)
class Round:
    """What a round gave."""

    number: int
    tested: int
    bugs: int
    """Found in this round, in states that were tested nowhere before."""
    learned: int
    """States in the training data that come from bugs of all rounds."""
    kept: bool
    """Whether the new model is better on the validation states and takes the place of the old one."""
    standing: Standing
    """Of the best model so far, on the validation states."""
    seconds: float


@dataclass(frozen=True, slots=True)
class RetrainResult:
    """What retraining gave; measured on tasks and states that were never trained on."""

    final: Path
    rounds: int
    change: Change | None
    """From the policy that came in to the best one that was learned; None where a limit was reached before."""
    original: Path
    """The policy that came in."""
    learned: Path
    """The best one that was learned, whether it is given or not."""
    kept: Literal["learned", "input"]
    """Which of the two `final` is."""
    why_input: tuple[str, ...]
    """What speaks against the learned policy; where it is given all the same, that was asked for."""
    of_tasks: str
    """`held-out tasks`, or `other states of the same tasks` where no tasks were held out."""
    seconds: float
    limit: str | None

    def as_json(self) -> dict[str, Any]:
        """One plain object."""
        told = {"final": str(self.final), "rounds": self.rounds, "measured_on": self.of_tasks}
        given = {
            "original": str(self.original),
            "learned": str(self.learned),
            "kept": self.kept,
            "why_input": list(self.why_input),
        }
        measured = {"before": None, "after": None} if self.change is None else self.change.as_json()
        return {**told, **given, **measured, "seconds": self.seconds, "limit": self.limit}


def retrain(
    model: AsnetModel,
    training: Sequence[Task],
    validation: Sequence[Task],
    held_out: Sequence[Task],
    config: RetrainConfig,
    *,
    out: Path,
    max_seconds: float | None = None,
    even_if_worse: bool = False,
    watch: Watch = nullcontext,
    progress: Callable[[Round], None] = lambda _: None,
) -> RetrainResult:
    """Lowers the bug rate of an ASNet, or goes on where a session in `out` was killed.

    Bugs of `training` are learned. What a round gave is judged on pool states of `validation` (where there are
    none, on other states of `training`), and the result is measured on `held_out` (else likewise), with the
    oracles of a usual test. Where the learned policy is worse there than the one that came in or better in nothing
    (`Change.why_not`), or was not compared, the latter is the result, unless `even_if_worse`. Of `max_seconds` a
    third is kept for measuring; LimitReached where not even the policy itself was judged in the time. `watch` is
    around all work, and may end it as the time does.
    """
    if not training:
        raise InputError("retraining needs at least one task to find bugs in")
    try:
        (out / "models").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be written to: {error.strerror}; choose another --out") from None
    store, answers = DirectoryStore(out), TeacherCache(out / "teachers.sqlite")
    try:
        with watch():
            loop = _Loop(model, training, validation or training, config, store, answers, max_seconds)
        limit = loop.work(progress, watch)
        compared = None
        try:
            with watch():
                compared = loop.measure(held_out or training)
        except LimitReached as error:
            limit = error.limit
    finally:
        answers.close()
        store.close()
    reasons = _why_input(loop, compared, limit)
    has_learned = loop.best_path != loop.original
    is_given = has_learned and (even_if_worse or not reasons)
    kept: Literal["learned", "input"] = "learned" if is_given else "input"
    final = out / "final.asnet"
    _write(final, read_asnet(loop.original if kept == "input" else loop.best_path))
    where = "held-out tasks" if held_out else "other states of the same tasks"
    return RetrainResult(
        final, loop.round, compared, loop.original, loop.best_path, kept, reasons, where, loop.seconds, limit
    )


def _why_input(loop: "_Loop", compared: Change | None, limit: str | None) -> tuple[str, ...]:
    """What speaks against giving the learned policy instead of the one that came in."""
    if loop.best_path == loop.original:
        if limit is not None and loop.round == 0:
            return (f"the limit on {limit} was hit before the first round ended",)
        return ("no round gave a better policy",)
    if compared is None:
        return (f"the limit on {limit} was hit before the two were compared",)
    return compared.why_not


class _Loop:
    """The rounds, and their files."""

    def __init__(
        self,
        model: AsnetModel,
        training: Sequence[Task],
        validation: Sequence[Task],
        config: RetrainConfig,
        store: DirectoryStore,
        answers: TeacherCache,
        max_seconds: float | None,
    ) -> None:
        self.model, self.config, self.store, self.out = model, config, store, Path(store.where)
        self.start, self.before_seconds, self.max_seconds = time.monotonic(), 0.0, max_seconds
        self.budget = self._budget(_ROUNDS_SHARE)
        self._check_same(model, training, validation)
        self.tasks = training
        self.data = {rule: self._data() for rule in config.labels}
        self.labels = {
            rule: [BugLabels(rule, task, config.teachers, config.expansions, answers) for task in training]
            for rule in config.labels
        }
        self.examiner = self._examiner("validation", validation, seed=config.seed)
        self.original = self.out / "models" / "original.asnet"
        _write(self.original, model)
        self.best_path = self.original
        self.best = standing(self._exams(self.examiner, self.original))
        self.seen: set[tuple[int, frozenset[str]]] = set()
        self.taught: set[frozenset[str]] = set()
        self.round, self.stalled, self.learned = 0, 0, 0
        self._restore()
        self.budget = self._budget(_ROUNDS_SHARE)

    def _budget(self, share: float) -> Budget:
        """What is left of a share of the time, which is for all sessions together."""
        if self.max_seconds is None:
            return Budget()
        return Budget(seconds=max(0.0, share * self.max_seconds - self.seconds))

    def _check_time(self) -> None:
        if self.budget.is_over:
            raise LimitReached("the time for retraining was up; allow more --seconds", "seconds")

    def _data(self) -> TrainingData:
        """The exact labels of small tasks, to which those of bugs are added."""
        config = AsnetConfig(
            max_states=self.config.max_states,
            max_samples=self.config.max_samples,
            seed=self.config.seed,
            threads=self.config.threads,
        )
        data = make_data(self.model, self.tasks, (), config)
        data.budget = self.budget
        data.enumerate()
        return data

    def _check_same(self, model: AsnetModel, training: Sequence[Task], validation: Sequence[Task]) -> None:
        weights = hashlib.sha256(
            b"".join(module.weights.tobytes() for layer in model.action_modules for module in layer)
        ).hexdigest()
        about = {
            "config": json.loads(json.dumps(asdict(replace(self.config, threads=1)))),
            "model": weights,
            "tasks": [task_digest(task).hex() for task in (*training, *validation)],
        }
        known = self.store.read(ABOUT)
        if known is None:
            write_whole(self.out / ABOUT, json.dumps(about))
        elif known != json.dumps(about):
            raise InputError(
                f"{self.out}: holds a retraining with another policy, tasks or options; choose another --out"
            )

    def _examiner(
        self, name: str, tasks: Sequence[Task], *, seed: int, oracle: tuple[str, ...] = ()
    ) -> Examiner:
        exam = ExamConfig(
            pool=self.config.pool, seed=seed, teacher="astar+greedy", expansions=1000, oracle=oracle
        )
        examiner = Examiner(exam, self.out / name)
        for number, task in enumerate(tasks):
            examiner.add(task, name=f"task-{number}", budget=self.budget)
        return examiner

    @property
    def seconds(self) -> float:
        """Over all sessions."""
        return self.before_seconds + time.monotonic() - self.start

    def work(self, progress: Callable[[Round], None], watch: Watch) -> str | None:
        """Round after round; returns the limit that ended it, if one did. Half a round leaves no model."""
        config = self.config
        try:
            while self.round < config.rounds and self.stalled < config.patience:
                with watch():
                    tested, bugs, better = self._turn()
                kept = better is not None
                if better is not None:  # only now: a limit may end the round before
                    self.best, self.best_path = better
                self.round += 1
                self.stalled = 0 if kept else self.stalled + 1
                done = Round(self.round, tested, bugs, self.learned, kept, self.best, self.seconds)
                line = {**asdict(done), "model": self.best_path.name, "stalled": self.stalled}
                self.store.append(ROUNDS, line)
                progress(done)
        except LimitReached as error:
            for path in (self.out / "models").glob(f"{self._prefix}*"):
                path.unlink()
            return error.limit
        return None

    @property
    def _prefix(self) -> str:
        """How the names of the models of this round begin."""
        return f"round-{self.round + 1:02d}-"

    def _turn(self) -> tuple[int, int, tuple[Standing, Path] | None]:
        """The work of a round: how many states were tested and bugs found, and the model if it is a better one."""
        self._check_time()
        tested, bugs = self._find_bugs()
        for task, bug in bugs:
            self._learn(task, bug)
        return tested, len(bugs), self._train() if bugs or self.learned else None

    def _find_bugs(self) -> tuple[int, list[tuple[int, dict[str, Any]]]]:
        """Tests the best model on new states of all training tasks."""
        tested, found = 0, []
        for number, task in enumerate(self.tasks):
            config = Config(
                policy=f"asnet:{self.best_path}",
                pool=self.config.pool,
                seed=self.config.seed + _ROUND_SEED * (self.round + 1),
                oracle=self.config.oracle,
                effort=1.0,  # time is for training: bugs that are hard to prove teach no more than others
                max_steps=1000,
                recheck=False,
                faults=False,
                unit_cost=True,
                seconds=self.budget.seconds_left,
            )
            session = Session(config, task=task, policy=Asnet(self.best_path))
            for _ in session.events():
                pass
            self._check_time()
            report = Report(session.record, tally=session.tally)
            tested += report.tested
            for bug in report.bugs:
                line = self._bug_line(number, bug)
                if line is not None:
                    found.append((number, line))
        return tested, found

    def _bug_line(self, number: int, bug: Bug) -> dict[str, Any] | None:
        """A bug as it is kept; None where it was learned before, or is one of the validation states."""
        key = (number, frozenset(bug.state))
        is_known = key in self.seen or any(
            frozenset(state.facts) == key[1]
            for each in self.examiner.tasks
            if each.task is self.tasks[number]
            for state in each.states
        )
        if is_known or bug.plan is None:
            return None
        gap = None if bug.gap.lo == float("inf") else bug.gap.lo
        return {
            "task": number,
            "facts": list(bug.state),
            "plan": bug.plan,
            "run": bug.run[: self.config.max_run],
            "gap": gap,
            "round": self.round,
        }

    def _learn(self, number: int, line: dict[str, Any]) -> None:
        """Writes a bug down and adds the states along its better plan to the training data."""
        self.store.append(BUGS, line)
        self._add(number, line)

    def _add(self, number: int, line: dict[str, Any]) -> None:
        task = self.tasks[number]
        state = task.state(line["facts"])
        self.seen.add((number, frozenset(state.facts)))
        most = self.config.max_weight
        weight = most if line["gap"] is None else max(1, min(most, round(line["gap"])))
        for rule, data in self.data.items():
            for sample in self.labels[rule][number].of_bug(state, plan=line["plan"], run=line["run"]):
                self._check_time()
                for _ in range(weight):
                    data.trainer.add_sample(number, sample.state, sample.regrets)
                self.taught.add(frozenset(sample.state.facts))
        self.learned = len(self.taught)

    def _train(self) -> tuple[Standing, Path] | None:
        """Trains every variant from the best model on; keeps the best of all, if it is better than that."""
        best, found = self.best, None
        ways = product(self.data.items(), self.config.variants)
        start = _parameters(next(iter(self.data.values())), self.best_path)
        for (rule, data), variant in ways:
            learned = self._trained(data, variant, start)
            for mix in self.config.mixes:
                mixed = (start + np.float32(mix) * (learned - start)).astype(np.float32)
                path = self.out / "models" / f"{self._prefix}{rule}-{variant}-{mix:g}.asnet"
                _write(path, with_parameters(self.model, data.trainer, mixed))
                now = standing(self._exams(self.examiner, path))
                if now.is_better(best):
                    best, found = now, (now, path)
        return found

    def _trained(self, data: TrainingData, variant: Variant, start: Floats) -> Floats:
        trainer, config = data.trainer, self.config
        zeros = np.zeros_like(start)
        text = f"{config.seed} {self.round} {variant}"
        random_state = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
        trainer.restore(start, zeros, zeros, 0, random_state)
        recent = []
        for _ in range(config.epochs):
            trainer.train(
                config.batches,
                loss=variant.loss,
                max_regret=variant.max_regret,
                batch=64,
                rate=config.rate,
                dropout=0.1,
                weight_decay=0.0,
                task_power=0.5,
                budget=self.budget,
            )
            self._check_time()
            recent.append(trainer.parameters)
        mean: Floats = np.stack(recent).mean(axis=0, dtype=np.float64).astype(np.float32)
        return mean

    def _exams(self, examiner: Examiner, path: Path) -> list[Exam]:
        return [self._exam(examiner, path, number, self.budget) for number in range(len(examiner.tasks))]

    def _exam(self, examiner: Examiner, path: Path, number: int, budget: Budget) -> Exam:
        exam = examiner.exam(f"asnet:{path}", number, whole=True, budget=budget)
        if exam is None:
            raise LimitReached("the time was up while a policy was examined; allow more --seconds", "seconds")
        return exam

    def measure(self, tasks: Sequence[Task]) -> Change:
        """The first model against the best one, on states that no round has seen."""
        self.budget = self._budget(1.0)
        seed = self.config.seed + _HELD_OUT_SEED
        examiner = self._examiner("held-out", tasks, seed=seed, oracle=(DEFAULT_ORACLE,))
        known = self.taught | {facts for _, facts in self.seen}
        known |= {  # states by which the model was chosen, where the tasks are the same
            frozenset(state.facts)
            for each in self.examiner.tasks
            if any(each.task is task for task in tasks)
            for state in each.states
        }
        keep = [[frozenset(state.facts) not in known for state in each.states] for each in examiner.tasks]
        exams: dict[Path, list[Exam]] = {self.original: [], self.best_path: []}
        left = len(tasks) * len(exams)
        for number in range(len(tasks)):
            for path, done in exams.items():
                seconds = self.budget.seconds_left
                share = Budget(seconds=None if seconds is None else seconds / left)
                done.append(self._exam(examiner, path, number, share))
                left -= 1
        parents = [each.parents for each in examiner.tasks]
        return change(exams[self.original], exams[self.best_path], keep=keep, parents=parents)

    def _restore(self) -> None:
        lines = self.store.lines(ROUNDS)
        self.store.cut(ROUNDS, len(lines))
        with reading(self.out / BUGS):
            bugs = [line for line in self.store.lines(BUGS) if line["round"] < len(lines)]
        self.store.cut(BUGS, len(bugs))
        with reading(self.out / BUGS):
            for line in bugs:
                self._add(line["task"], line)
        if lines:
            last = lines[-1]
            with reading(self.out / ROUNDS):
                self.round, self.stalled = len(lines), int(last["stalled"])
                self.before_seconds = float(last["seconds"])
                self.best = read_fields(Standing, last["standing"])
                self.best_path = self.out / "models" / last["model"]


def _parameters(data: TrainingData, path: Path) -> Floats:
    """The parameters of a model on disk, in the order of the trainer."""
    model = read_asnet(path)
    fresh = make_data(model, data.tasks[:1], (), replace(data.config, threads=1)).trainer
    return fresh.parameters


def _write(path: Path, model: AsnetModel) -> None:
    try:
        write_asnet(path, model)
    except OSError as error:
        raise InputError(
            f"{path}: the model cannot be written: {error.strerror}; make room and give the same command "
            "again to go on"
        ) from None
