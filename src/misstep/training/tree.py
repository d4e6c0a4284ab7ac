"""Training that chooses where to go on (Eisenhut et al. 2025, Algorithm 2): a tree of models with test results."""

import hashlib
import json
import random
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from misstep._core import Budget
from misstep.budget import Watch
from misstep.errors import InputError, LimitReached
from misstep.formats.asnet_policy import write_asnet
from misstep.formats.safetensors import read_safetensors, write_safetensors
from misstep.policies.asnet import Asnet
from misstep.record.store import DirectoryStore, write_whole
from misstep.support.plain import reading
from misstep.support.whole_files import write_file
from misstep.task import Task
from misstep.training.asnet import Progress, TrainingResult, with_parameters
from misstep.training.asnet_config import AsnetConfig
from misstep.training.asnet_data import PoolEntry, TimeUp, TrainingData, make_data
from misstep.training.asnet_init import configured_model
from misstep.training.asnet_run import TrainerState, TrainingRun, visit_runs
from misstep.training.drawing import TreeNode, draw_tree
from misstep.training.examiner import ExamConfig, Examiner, digest_of
from misstep.training.score import Exam
from misstep.training.selection import (
    AnswerBook,
    Candidate,
    Selection,
    look_at_pools,
    open_book,
    rank,
    solves_nothing,
)
from misstep.training.teacher_cache import TeacherCache, task_digest
from misstep.training.tree_files import ABOUT, LOG, POOL, copy_start, model_file, node_file

Mode: TypeAlias = Literal["line", "line-pi-test", "tree", "tree-pi-test"]
MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeConfig:
    """The parameters of Algorithm 2, by the names of the paper in the comments."""

    mode: Mode = "tree-pi-test"
    inits: int = 4
    """Random initialisations (N_init)."""
    start: int = 5
    """Epochs of each of them before anything is chosen (N_start)."""
    main: int = 20
    """Epochs after that, each from a chosen model (N_main)."""
    branches: int = 4
    """How often one model may be trained on (N_exp); 1 in the mode `line-pi-test`."""

    def __post_init__(self) -> None:
        for name, least in (("inits", 1), ("start", 1), ("main", 0), ("branches", 1)):
            if getattr(self, name) < least:
                raise InputError(f"option `{name}` is {getattr(self, name)}; it must be at least {least}")

    @property
    def epochs(self) -> int:
        """Of all models together."""
        return self.inits * self.start + self.main

    @property
    def start_models(self) -> int:
        """Models of the start-up phase, the random ones that it begins with included; they come first."""
        return self.inits * (self.start + 1)

    @property
    def effective(self) -> "TreeConfig":
        """`line` spends everything in the start-up phase; `line-pi-test` trains a model on only once."""
        if self.mode == "line":
            return replace(self, start=max(1, self.epochs // self.inits), main=0, branches=1)
        return replace(self, branches=1) if self.mode == "line-pi-test" else self


@dataclass
class Node:
    """A model of the tree, with all that training goes on from."""

    number: int
    parent: int | None
    init: int
    depth: int
    state: TrainerState
    recent: list[Any]
    loss: float | None
    success_rate: float
    exams: list[Exam] = field(default_factory=list)
    expanded: int = 0

    @property
    def name(self) -> str:
        """Of its files."""
        return f"n{self.number:04d}"

    @property
    def line(self) -> str:
        """All models that come from the same initialisation."""
        return f"init-{self.init}"


@dataclass(frozen=True, slots=True)
class TreeResult(TrainingResult):
    """What came of it, with what every criterion would choose among all models."""

    selection: Selection


def train_tree(
    training: Sequence[Task],
    validation: Sequence[Task],
    config: AsnetConfig,
    tree: TreeConfig,
    *,
    out: Path,
    exam: ExamConfig | None = None,
    answers: Path | None = None,
    cache: Path | None = None,
    like: Path | None = None,
    max_seconds: float | None = None,
    watch: Watch = nullcontext,
    progress: Callable[[Progress], None] = lambda _: None,
    report: Callable[[str], None] = lambda _: None,
) -> TreeResult:
    """Trains and chooses, or goes on where a session in `out` was killed.

    Writes `models/nNUMBER.asnet`, `log.jsonl`, `tree.svg` and `final.asnet`. Every model is tested on the
    validation tasks; these are never trained on. Pools and answers are kept in `answers`, by default `selection`
    in `out`: trainings that share it, one after another, do not test equal models twice. `like` is the directory
    of another training: where its start-up phase is the same, that is copied, to the same result. `max_seconds` and
    `watch`, which is around all work, end training earlier.
    """
    if not validation:
        raise InputError("choosing models while training needs validation tasks; give some with --validation")
    try:
        (out / "models").mkdir(parents=True, exist_ok=True)
        (out / "nodes").mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be written to: {error.strerror}; choose another --out") from None
    start = time.monotonic()
    teachers = TeacherCache(cache or out / "teachers.sqlite")
    try:
        with watch():
            grower = _Grower(training, config, tree.effective, out, teachers, report, max_seconds, start)
        try:
            with watch():
                grower.validate_on(validation, exam or ExamConfig(), answers or out / "selection", like)
            return grower.grow(progress, watch)
        finally:
            grower.close()
    finally:
        teachers.close()


class _Grower:
    """The tree while it grows, and its files."""

    def __init__(
        self,
        training: Sequence[Task],
        config: AsnetConfig,
        tree: TreeConfig,
        out: Path,
        cache: TeacherCache,
        report: Callable[[str], None],
        max_seconds: float | None,
        start: float,
    ) -> None:
        view = training[0].pddl if training else None
        if view is None:
            raise InputError("training an ASNet needs tasks from PDDL, not from SAS")
        depth = tree.start + tree.main
        self.config = replace(config, epochs=depth)
        self.tree, self.out, self.max_seconds, self.start = tree, out, max_seconds, start
        self.view = view
        self.model = self._first_model(0)
        self.data: TrainingData = make_data(self.model, training, (), self.config, cache=cache, report=report)
        self.data.budget = Budget(seconds=max_seconds)
        self.data.enumerate()
        self.nodes: list[Node] = []
        self.store = DirectoryStore(out)
        self.book: AnswerBook | None = None
        self._pool_lines = 0

    def _first_model(self, init: int) -> Any:
        return configured_model(self.view, self.config, seed=self.config.seed + init, number=init)

    def validate_on(
        self, validation: Sequence[Task], exam: ExamConfig, folder: Path, like: Path | None
    ) -> None:
        """Makes the pools, and reads what an earlier session left, or the start-up phase of another training."""
        self.examiner = Examiner(exam, folder)
        for number, task in enumerate(validation):
            name = "task" if task.problem is None else Path(task.problem.source.name).name
            self.examiner.add(task, name=name or f"task-{number}", budget=self.data.budget)
        about = {
            "config": json.loads(json.dumps(asdict(replace(self.config, threads=1)))),
            "tree": asdict(self.tree),
            "tasks": [task_digest(task).hex() for task in self.data.tasks],
            "pools": self.examiner.pool_names,
        }
        self.book = open_book(self.examiner)
        self._restore(about, like)

    def close(self) -> None:
        """Closes the files."""
        self.store.close()
        if self.book is not None:
            self.book.close()

    @property
    def seconds(self) -> float:
        """Since the start of this session."""
        return time.monotonic() - self.start

    def grow(self, progress: Callable[[Progress], None], watch: Watch) -> TreeResult:
        """Start-up phase, main phase, final choice."""
        limit = None
        try:
            if not self.nodes:
                with watch():
                    self._first_states()
            while (parent := self._next(watch)) is not None:
                with watch():
                    self.data.check_time()
                    node = self._expand(parent)
                progress(self._told(node))
        except LimitReached as reached:
            limit = reached.limit
            if not self.nodes:
                raise LimitReached(f"no epoch ended within the limit on {limit}; allow more", limit) from None
        try:
            if limit is None and solves_nothing(self._first(self.nodes).exams):
                with watch():
                    self._look_at_pools()
        except LimitReached as reached:
            limit = reached.limit
        return self._finish(limit)

    def _first_states(self) -> None:
        data = self.data
        for number in range(data.num_training):
            data.visit(number, [data.tasks[number].initial_state], most=1)
        visit_runs(data, data.run(data.trainer.parameters, range(data.num_training)))
        data.require_labels()

    def _next(self, watch: Watch) -> Node | int | None:
        """The model to be trained on; a number stands for a random initialisation, None for the end."""
        tree, count = self.tree, len(self.nodes)
        per_init = tree.start + 1
        if count < tree.start_models:
            return count // per_init if count % per_init == 0 else self.nodes[-1]
        at = count - tree.start_models
        if at >= tree.main:
            return None
        open_nodes = [node for node in self.nodes if node.expanded < tree.branches]
        if tree.mode == "tree":
            return random.Random(f"{self.config.seed} {at}").choice(open_nodes)
        if solves_nothing(self._first(open_nodes).exams):
            with watch():
                self._look_at_pools()
        return self._first(open_nodes)

    def _first(self, nodes: Sequence[Node]) -> Node:
        """The best of these by the ranking of all."""
        order = {each.candidate.digest: place for place, each in enumerate(self._rank().ranking)}
        return min(nodes, key=lambda node: order[node.name])

    def _look_at_pools(self) -> None:
        """How many pool states those models solve that solve no validation task: nothing else tells them apart."""
        assert self.book is not None
        paths = [model_file(self.out, node.name) for node in self.nodes]
        candidates = [
            Candidate(f"asnet:{path}", digest_of(path), epoch=node.depth)
            for path, node in zip(paths, self.nodes, strict=True)
        ]
        exams = [node.exams for node in self.nodes]
        look_at_pools(candidates, exams, self.examiner, self.book, self.data.budget)

    def _expand(self, parent: Node | int) -> Node:
        number = len(self.nodes)
        if isinstance(parent, int):
            node = self._untrained(number, parent)
        else:
            variant = self.config.variants[parent.init % len(self.config.variants)]
            state = replace(parent.state, random_state=_random_state(self.config.seed, number))
            run = TrainingRun("tree", variant, state, epoch=parent.depth, recent=list(parent.recent))
            result = run.advance(self.data)
            parent.expanded += 1
            node = Node(
                number,
                parent.number,
                parent.init,
                parent.depth + 1,
                run.state,
                run.recent,
                result.loss,
                result.success_rate,
            )
        self._write(node)
        self.nodes.append(node)
        return node

    def _untrained(self, number: int, init: int) -> Node:
        model = self._first_model(init)
        config = replace(self.config, threads=1, seed=self.config.seed + init)
        trainer = make_data(model, self.data.tasks[:1], (), config).trainer
        state = TrainerState(*trainer.state())
        return Node(number, None, init, 0, state, [state.parameters], None, 0.0)

    def _write(self, node: Node) -> None:
        """Model, state, answers, pool, and the log's line at last: without it nothing of this counts."""
        path = model_file(self.out, node.name)
        parameters = np.stack(node.recent).mean(axis=0, dtype=np.float64).astype(np.float32)
        arrays = {name: getattr(node.state, name) for name in ("parameters", "means", "squares")}
        arrays |= {f"recent.{age}": each for age, each in enumerate(node.recent)}
        metadata = {"steps": str(node.state.steps), "random_state": str(node.state.random_state)}
        try:
            write_asnet(path, with_parameters(self.model, self.data.trainer, parameters))
            write_safetensors(node_file(self.out, node.name), arrays, metadata=metadata)
        except OSError as error:
            raise InputError(
                f"{path}: the model cannot be written: {error.strerror}; make room and give the same "
                "command again to go on"
            ) from None
        node.exams = self._examine(path)
        for entry in self.data.entries[self._pool_lines :]:
            self.store.append(POOL, asdict(entry))
        self._pool_lines = len(self.data.entries)
        line = {
            "model": node.name,
            "run": node.line,
            "epoch": node.depth,
            "parent": node.parent,
            "loss": node.loss,
            "success_rate": node.success_rate,
            "samples": self.data.size,
            "pool": self._pool_lines,
        }
        self.store.append(LOG, line)

    def _examine(self, path: Path) -> list[Exam]:
        assert self.book is not None
        candidate = Candidate(f"asnet:{path}", digest_of(path))
        part = Asnet(path)  # read once for all tasks
        exams = []
        for number in range(len(self.examiner.tasks)):
            exam = self.book.known.get((candidate.digest, number))
            if exam is None:
                exam = self.examiner.exam(candidate.policy, number, part=part, budget=self.data.budget)
                if exam is None:
                    raise TimeUp
                self.book.put(candidate, number, exam)
            exams.append(exam)
        return exams

    def _restore(self, about: dict[str, Any], like: Path | None) -> None:
        lines = self.store.lines(LOG)
        known = self.store.read(ABOUT)
        with reading(self.out / ABOUT):
            is_other = known is not None and json.loads(known) != about
        if is_other:
            raise InputError(
                f"{self.out}: holds a training with other tasks or options; choose another --out"
            )
        if known is None:
            if lines:
                raise InputError(f"{self.out}: holds another kind of training; choose another --out")
            write_whole(self.out / ABOUT, json.dumps(about))
        if like is not None and not lines:
            copy_start(like, self.store, about, count=self.tree.start_models)
            lines = self.store.lines(LOG)
        pool = self.store.lines(POOL)
        with reading(self.out / LOG):
            kept = int(lines[-1]["pool"]) if lines else 0
        if len(pool) < kept:
            raise InputError(f"{self.out / POOL}: has {len(pool)} lines, not {kept}; choose another --out")
        self.store.cut(POOL, kept)
        self.store.cut(LOG, len(lines))
        with reading(self.out / POOL):
            for entry in pool[:kept]:
                regrets = tuple((name, regret) for name, regret in entry["regrets"])
                self.data.restore(PoolEntry(entry["task"], tuple(entry["facts"]), regrets))
        self._pool_lines = kept
        for number, line in enumerate(lines):
            with reading(f"{self.out / LOG}:{number + 1}"):
                self.nodes.append(self._read(number, line))
                if line["parent"] is not None:
                    self.nodes[line["parent"]].expanded += 1

    def _read(self, number: int, line: dict[str, Any]) -> Node:
        path = node_file(self.out, line["model"])
        arrays, metadata = read_safetensors(path)
        try:
            state = TrainerState(
                arrays["parameters"],
                arrays["means"],
                arrays["squares"],
                int(metadata["steps"]),
                int(metadata["random_state"]),
            )
            recent = [arrays[f"recent.{age}"] for age in range(len(arrays) - 3)]
        except (KeyError, ValueError) as error:
            raise InputError(f"{path}: is damaged ({error}); choose another --out") from None
        exams = self._examine(model_file(self.out, line["model"]))
        return Node(
            number,
            line["parent"],
            int(line["run"].removeprefix("init-")),
            line["epoch"],
            state,
            recent,
            line["loss"],
            line["success_rate"],
            exams,
        )

    def _rank(self) -> Selection:
        candidates = [
            Candidate(
                f"asnet:{model_file(self.out, node.name)}",
                node.name,
                loss=node.loss,
                success_rate=node.success_rate,
                run=node.line,
                epoch=node.depth,
            )
            for node in self.nodes
        ]
        exams = [node.exams for node in self.nodes]
        return rank(candidates, exams, self.examiner.pools, samples=0)

    def _told(self, node: Node) -> Progress:
        done, of = len(self.nodes) - self.tree.inits, self.tree.epochs
        left = self.seconds / max(len(self.nodes), 1) * max(of - done, 0)
        if self.max_seconds is not None:
            left = min(left, max(0.0, self.max_seconds - self.seconds))
        return Progress(
            run=node.name if node.parent is None else f"{node.name} from n{node.parent:04d}",
            epoch=node.depth,
            loss=0.0 if node.loss is None else node.loss,
            success_rate=node.success_rate,
            solved=sum(exam.initial is not None for exam in node.exams),
            of=len(self.examiner.tasks),
            samples=self.data.size,
            seconds=self.seconds,
            left=left,
        )

    def _finish(self, limit: str | None) -> TreeResult:
        found = self._rank()
        best = self.nodes[int(found.ranking[0].candidate.digest[1:])]
        score = {each.candidate.digest: each.score for each in found.ranking}
        final = self.out / "final.asnet"
        try:
            write_file(final, model_file(self.out, best.name).read_bytes())
        except OSError as error:
            raise InputError(f"{final}: cannot be written: {error.strerror}; make room, try again") from None
        drawn = [TreeNode(node.number, node.parent, node.depth, score[node.name]) for node in self.nodes]
        write_whole(self.out / "tree.svg", draw_tree(drawn, best=best.number))
        return TreeResult(
            epochs=sum(node.parent is not None for node in self.nodes),
            final=final,
            models=self.out / "models",
            success_rate=best.success_rate,
            solved=found.ranking[0].grade.solved_tasks,
            seconds=self.seconds,
            limit=limit,
            selection=found,
        )


def _random_state(seed: int, number: int) -> int:
    """Random numbers for the training of a model: its own, so that branches differ."""
    return int.from_bytes(hashlib.sha256(f"{seed} {number}".encode()).digest()[:8], "little")
