"""Units of the training experiment: all four ways to train on one domain, and what each chosen policy solves."""

import json
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from misstep._core import PolicyGraph
from misstep.errors import LimitReached, MisstepError
from misstep.pddl import read_domain
from misstep.policies.asnet import Asnet
from misstep.record.store import write_whole
from misstep.task import Task, load
from misstep.training.asnet_config import make_config
from misstep.training.examiner import ExamConfig
from misstep.training.selection import AnswerBook, Selection, find_candidates, rank
from misstep.training.tree import MODES, Mode, TreeConfig, train_tree

MAX_STEPS = 1000


@dataclass(frozen=True, slots=True)
class TrainingScale:
    """How much of the paper's experiment is done."""

    epochs: int
    """Of all models of one way to train together."""
    training: int
    validation: int
    tests: int
    pool: int
    """States of a validation task."""
    seconds: float
    """When one training is cut short."""
    batches: int = 100
    """Minibatches an epoch."""

    def tree(self, mode: Mode) -> TreeConfig:
        """The parameters of Algorithm 2 for this number of epochs; half of them are the start-up phase."""
        inits = 4 if self.epochs >= 16 else 2
        start = max(1, self.epochs // (2 * inits))
        return TreeConfig(mode=mode, inits=inits, start=start, main=max(0, self.epochs - inits * start))


@dataclass(frozen=True, slots=True)
class TrainingUnit:
    """A domain with its tasks."""

    row: str
    domain: Path
    training: tuple[Path, ...]
    validation: tuple[Path, ...]
    tests: tuple[Path, ...]

    @property
    def file(self) -> str:
        """The name of the file with its results."""
        return f"{self.row.lower()}.json"


def training_scale(seconds: float) -> TrainingScale:
    """What one domain may take, of which a third goes into loading tasks and into tests."""
    share = seconds * 2 / 3 / len(MODES)
    tasks = max(2, min(40, round(math.sqrt(seconds) / 2)))
    return TrainingScale(
        epochs=max(4, min(40, int(share / 2))),
        training=min(20, tasks),
        validation=min(40, tasks),
        tests=min(30, tasks),
        pool=max(5, min(50, int(share))),
        seconds=round(max(2.0, share), 1),
    )


def run_training(unit: TrainingUnit, scale: TrainingScale, out: Path, seed: int) -> str | None:
    """Does a unit and writes its results; the reason where that was not possible."""
    try:
        read = read_domain(unit.domain)
        tasks = {
            part: [load(read, problem, unit_cost=True) for problem in getattr(unit, part)]
            for part in ("training", "validation", "tests")
        }
        done = {}
        for mode in MODES:
            folder = out / unit.row.lower() / mode
            done[mode] = _trained(mode, tasks, scale, folder, seed)
    except MisstepError as error:
        return f"{unit.row}: {error}"
    result = {"modes": done, "tests": [str(path) for path in unit.tests], "scale": asdict(scale)}
    write_whole(out / unit.file, json.dumps(result) + "\n")
    return None


def _trained(
    mode: Mode, tasks: dict[str, list[Task]], scale: TrainingScale, folder: Path, seed: int
) -> dict[str, Any]:
    config = make_config("published", batches=scale.batches, solved_epochs=None, seed=seed, threads=1)
    tree = scale.tree(mode)
    try:
        train_tree(
            tasks["training"],
            tasks["validation"],
            config,
            tree,
            out=folder,
            exam=ExamConfig(pool=scale.pool, seed=seed),
            max_seconds=scale.seconds,
        )
    except LimitReached:
        return {"models": 0, "is_cut": True, "chosen": {}, "solved": {}}
    chosen = selection_of(folder)
    solved = {
        each.candidate.file: solved_tasks(Path(each.candidate.file), tasks["tests"])
        for each in chosen.ranking
    }
    best = max(solved, key=lambda file: sum(solved[file]))
    files = {name: each.candidate.file for name, each in chosen.choices.items()} | {"best": best}
    first = next((each for each in chosen.ranking if (each.candidate.epoch or 0) <= tree.start), None)
    return {
        "models": len(chosen.ranking),
        "is_cut": len(chosen.ranking) < tree.epochs + tree.inits,
        "chosen": files,
        "solved": {name: solved[file] for name, file in files.items()},
        "start": None if first is None else sum(solved[first.candidate.file]),
    }


def selection_of(folder: Path) -> Selection:
    """What each criterion chooses among the models of a training that is done, from the answers that it kept."""
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    book = AnswerBook(folder / "selection", about=about)
    try:
        pools = [_states(folder / "selection" / "pools" / f"{name}.jsonl") for name in about["pools"]]
        known = book.known
    finally:
        book.close()
    tested = [
        candidate
        for candidate in find_candidates(folder)
        if all((candidate.digest, number) in known for number in range(len(pools)))
    ]
    exams = [[known[each.digest, number] for number in range(len(pools))] for each in tested]
    return rank(tested, exams, pools)


def _states(pool: Path) -> int:
    return len(pool.read_text(encoding="utf-8").splitlines())


def solved_tasks(model: Path, tasks: Sequence[Task], *, threads: int = 1) -> list[bool]:
    """By task whether the policy's run reaches the goal."""
    policy = Asnet(model)

    def is_solved(task: Task) -> bool:
        graph = PolicyGraph(task, policy.bind(task), dead_ends=False, recheck=False)
        [run] = graph.run(task.batch([task.initial_state]), max_steps=MAX_STEPS)
        return bool(run.outcome == "solved")

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(is_solved, tasks))
