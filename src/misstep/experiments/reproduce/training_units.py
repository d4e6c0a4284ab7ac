"""Units of the training experiment: all ways to train on one domain once, and what each chosen policy solves."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from misstep._core import PolicyGraph
from misstep.errors import LimitReached, MisstepError
from misstep.pddl import read_domain
from misstep.policies.asnet import Asnet
from misstep.record.store import write_whole
from misstep.support.plain import from_plain, reading, to_plain
from misstep.task import Task, load
from misstep.training.asnet_config import make_config
from misstep.training.examiner import ExamConfig
from misstep.training.tree import MODES, Mode, TreeConfig, TreeResult, train_tree
from misstep.training.tree_files import models_in

MAX_STEPS = 1000
OFFLINE = "offline"
"""The training whose models the criteria choose among: mode `line` with more epochs than online."""
FIRST_CHOICE: Mode = "line-pi-test"
"""The first way that chooses; the others that do begin with the same models, and copy them."""
TEACHER = "greedy"
"""The paper does not name its planner. Plans of A* differ from state to state among many that are equally short, and
what is learned from them holds for far fewer larger tasks than the paper's policies (docs/reproduce-training.md)."""
_INITS = 4
_START = 5
_MOST_ONLINE = 40
_MOST_OFFLINE = 240
_MOST_RUNS = 4
_LINE_EPOCHS = 30
# Of each way online for every initialisation; with less time there are fewer of these.
_TREE_EPOCHS = 10
# The experiment is repeated rather than made longer once it has so many models: online all, and half of those offline.
_RUN_MODELS = 300
# What a model costs in the average domain, in processor seconds: an epoch of 700 minibatches, and its exam.
_MODEL_SECONDS = 2.7
# What a run costs besides, or a third of it where the time is short and so are tasks and pools: loading, the
# examiner's plans, and running models on the test tasks.
_RUN_SECONDS = 75
# A heavy domain may take so many times as long as the average one before its trainings are cut short.
_PATIENCE = 2.5


@dataclass(frozen=True, slots=True)
class TrainingScale:
    """How much of the paper's experiment is done."""

    runs: int
    """How often all of it is repeated, with other seeds; the paper has 4."""
    offline: int
    """Epochs of the training that the criteria choose from; the paper has 240."""
    online: int
    """Epochs of each of the four ways to train; the paper has 40, 60, 80 and 240."""
    training: int
    validation: int
    tests: int
    pool: int
    """States of a validation task."""
    seconds: float
    """When all trainings of one domain and run together are cut short."""
    batches: int = 700
    """Minibatches an epoch."""

    def line(self) -> TreeConfig:
        """Of the offline training. With little time there are few lines: `early` needs 20 epochs in a row."""
        inits = max(1, min(_INITS, self.offline // _LINE_EPOCHS))
        return TreeConfig(mode="line", inits=inits, start=max(1, self.offline // inits), main=0)

    def tree(self, mode: Mode) -> TreeConfig:
        """The parameters of Algorithm 2 online; at most half of the epochs are the start-up phase."""
        inits = max(1, min(_INITS, self.online // _TREE_EPOCHS))
        start = max(1, min(_START, self.online // (2 * inits)))
        return TreeConfig(mode=mode, inits=inits, start=start, main=max(0, self.online - inits * start))

    @property
    def epochs(self) -> int:
        """Of all trainings together."""
        return self.offline + len(MODES) * self.online

    @property
    def models(self) -> int:
        """Of all trainings together, random ones and copies included; fewer where the time ends a training."""
        trees = [self.line(), *(self.tree(mode) for mode in MODES)]
        return sum(tree.inits + tree.effective.epochs for tree in trees)

    @property
    def online_models(self) -> int:
        """Of all ways to train online, without those that are copied from the first one that chooses."""
        trees = [self.tree(mode) for mode in MODES]
        copied = sum(tree.start_models for tree in trees if tree.mode not in ("line", FIRST_CHOICE))
        return sum(tree.inits + tree.epochs for tree in trees) - copied


@dataclass(frozen=True, slots=True)
class TrainingUnit:
    """A domain with its tasks, in one of the runs of the experiment."""

    row: str
    run: int
    domain: Path
    training: tuple[Path, ...]
    validation: tuple[Path, ...]
    tests: tuple[Path, ...]

    @property
    def name(self) -> str:
        """Of its folder."""
        return f"{self.row.lower()}-{self.run}"

    @property
    def file(self) -> str:
        """The name of the file with its results."""
        return f"{self.name}.json"


@dataclass(frozen=True, slots=True)
class WayResult:
    """What came of one way to train in one domain."""

    models: int
    is_cut: bool
    """Whether the time ended the training before its last epoch."""
    chosen: dict[str, str]
    """By criterion the file of the model that it chooses; empty where the time ended before the first epoch."""
    solved: dict[str, tuple[bool, ...]]
    """By criterion whether the chosen model solves each of the test tasks."""
    start: int | None = None
    """How many test tasks the choice of the start-up phase alone would have solved, where there is one."""


@dataclass(frozen=True, slots=True)
class UnitResult:
    """What a unit leaves in its file."""

    modes: dict[str, WayResult]
    """By `OFFLINE` and the names of the ways to train online."""
    tests: tuple[str, ...]
    """The files of the test tasks."""
    scale: TrainingScale

    def __post_init__(self) -> None:
        if missing := {OFFLINE, *MODES} - self.modes.keys():
            raise ValueError(f"there is nothing about `{min(missing)}`")
        if any(way.chosen.keys() != way.solved.keys() for way in self.modes.values()):
            raise ValueError("not every choice has a list of solved tasks, or the other way round")
        if any(len(each) != len(self.tests) for way in self.modes.values() for each in way.solved.values()):
            raise ValueError(f"not every list of solved tasks is about {len(self.tests)} tasks")


def training_scale(seconds: float) -> TrainingScale:
    """What is possible with so many processor seconds for one domain.

    A sixth of the models of a run come from each way online until these have their 40 epochs, all others offline.
    """
    runs = max(1, min(_MOST_RUNS, _models_in(seconds) // _RUN_MODELS))
    seconds /= runs
    models = _models_in(seconds)
    tasks = max(2, int(seconds / 4))
    scale = TrainingScale(
        runs=runs,
        offline=0,
        online=max(2, min(_MOST_ONLINE, models // 6)),
        training=min(20, tasks),
        validation=min(40, tasks),
        tests=min(30, tasks),
        pool=max(5, min(50, int(seconds / 6))),
        seconds=round(max(4.0, _PATIENCE * seconds), 1),
    )
    return replace(scale, offline=max(4, min(_MOST_OFFLINE, models - scale.online_models - _INITS)))


def _models_in(seconds: float) -> int:
    return int((seconds - min(_RUN_SECONDS, seconds / 3)) / _MODEL_SECONDS)


def run_training(unit: TrainingUnit, scale: TrainingScale, out: Path, seed: int) -> str | None:
    """Does a unit and writes its results; the reason where that was not possible."""
    try:
        read = read_domain(unit.domain)
        training, validation, tests = (
            [load(read, problem, unit_cost=True) for problem in part]
            for part in (unit.training, unit.validation, unit.tests)
        )
        work = _Domain(training, validation, tests, scale, out / unit.name, seed + unit.run)
        done = {OFFLINE: work.offline()} | {mode: work.online(mode) for mode in MODES}
    except MisstepError as error:
        return f"{unit.row}, run {unit.run + 1}: {error}"
    result = UnitResult(done, tuple(map(str, unit.tests)), scale)
    write_whole(out / unit.file, json.dumps(to_plain(result)) + "\n")
    return None


def result_in(file: Path) -> UnitResult:
    """What a unit has left; InputError where it is not as it was written."""
    with reading(file):
        return from_plain(UnitResult, json.loads(file.read_text(encoding="utf-8")))


def models_made(folder: Path) -> int:
    """How many models the trainings of a unit have made so far, in the folder of that unit."""
    return sum(models_in(training) for training in folder.glob("*"))


@dataclass(frozen=True)
class _Domain:
    """The trainings of a domain: they share teachers' answers, pools, and what is known of equal models."""

    training: Sequence[Task]
    validation: Sequence[Task]
    tests: Sequence[Task]
    scale: TrainingScale
    folder: Path
    seed: int

    def offline(self) -> WayResult:
        """One long training, and what each criterion chooses among its models."""
        done = self._trained(OFFLINE, self.scale.line())
        if done is None:
            return _NOTHING
        files: dict[str, str] = {name: each.candidate.file for name, each in done.selection.choices.items()}
        solved = {name: solved_tasks(Path(file), self.tests) for name, file in files.items()}
        others = [each.candidate.file for each in done.selection.ranking]
        files["best"], solved["best"] = best_on(others, self.tests)
        return _result(done, files, solved)

    def online(self, mode: Mode) -> WayResult:
        """One way to train, its final policy, and the policy that the start-up phase alone would have given."""
        tree = self.scale.tree(mode)
        done = self._trained(mode, tree)
        if done is None:
            return _NOTHING
        chosen = done.selection.choices["pi-test"].candidate.file
        result = _result(done, {"pi-test": chosen}, {"pi-test": solved_tasks(Path(chosen), self.tests)})
        first = [each for each in done.selection.ranking if _is_of_start(each.candidate.digest, tree)]
        if mode != "line" and first:
            return replace(result, start=sum(solved_tasks(Path(first[0].candidate.file), self.tests)))
        return result

    def _trained(self, name: str, tree: TreeConfig) -> TreeResult | None:
        """Nothing where the time ended before the first epoch."""
        scale = self.scale
        try:
            return train_tree(
                self.training,
                self.validation,
                make_config(
                    "published",
                    teachers=(TEACHER,),
                    batches=scale.batches,
                    solved_epochs=None,
                    seed=self.seed,
                    threads=1,
                ),
                tree,
                out=self.folder / name,
                exam=ExamConfig(pool=scale.pool, seed=self.seed),
                answers=self.folder / "selection",
                cache=self.folder / "teachers.sqlite",
                like=self.folder / FIRST_CHOICE,
                max_seconds=round(scale.seconds * tree.epochs / scale.epochs, 1),
            )
        except LimitReached:
            return None


_NOTHING = WayResult(models=0, is_cut=True, chosen={}, solved={})


def _result(done: TreeResult, files: dict[str, str], solved: dict[str, tuple[bool, ...]]) -> WayResult:
    return WayResult(len(done.selection.ranking), done.limit is not None, files, solved)


def _is_of_start(node: str, tree: TreeConfig) -> bool:
    """Models are numbered as they were made; the start-up phase comes first."""
    return int(node[1:]) < tree.start_models


def best_on(models: Iterable[str], tests: Sequence[Task]) -> tuple[str, tuple[bool, ...]]:
    """The first of the models that solve most; one that cannot catch up any more is not run to the end."""
    best, most = "", (False,) * len(tests)
    for model in models:
        solved = solved_tasks(Path(model), tests, beating=sum(most) if best else None)
        if not best or sum(solved) > sum(most):
            best, most = model, solved
    return best, most


def solved_tasks(model: Path, tasks: Sequence[Task], *, beating: int | None = None) -> tuple[bool, ...]:
    """By task whether the policy's run reaches the goal.

    Once it cannot be `beating` so many solved tasks any more, the others are not run and count as unsolved.
    """
    policy = Asnet(model)
    solved: list[bool] = []
    for task in tasks:
        if beating is not None and sum(solved) + len(tasks) - len(solved) <= beating:
            break
        graph = PolicyGraph(task, policy.bind(task), dead_ends=False, recheck=False)
        [run] = graph.run(task.batch([task.initial_state]), max_steps=MAX_STEPS)
        solved.append(bool(run.outcome == "solved"))
    return (*solved, *[False] * (len(tasks) - len(solved)))
