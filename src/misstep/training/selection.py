"""Policy selection: ranks the checkpoints of a training by testing them on validation tasks."""

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from misstep.budget import Budget, Watch
from misstep.errors import InputError, LimitReached, MisstepError
from misstep.record.store import DirectoryStore
from misstep.support.plain import read_fields, reading
from misstep.training.examiner import Examiner, digest_of
from misstep.training.score import Comparison, Counts, Exam, Grade, chances, compare, grades, scores, tabulate

Criterion: TypeAlias = Literal["pi-test", "solved", "loss", "early"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)
KINDS = {
    ".asnet": "asnet",
    ".policy": "asnet",
    ".ckpt": "gnn",
    ".gnn": "gnn",
    ".onnx": "onnx",
    ".pt": "torch",
    ".pth": "torch",
    ".json": "linear",
}
"""What a file's ending says about the kind of policy."""
ANSWERS = "answers.jsonl"
# So many epochs in a row with all training tasks solved end the published training.
_EARLY_EPOCHS = 20


@dataclass(frozen=True, slots=True)
class Candidate:
    """A checkpoint. What training said about it is absent where there is no log."""

    policy: str
    """As users type it: KIND:FILE."""
    digest: str
    loss: float | None = None
    success_rate: float | None = None
    run: str | None = None
    epoch: int | None = None

    @property
    def file(self) -> str:
        """The file alone."""
        return self.policy.partition(":")[2]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A checkpoint with its result."""

    candidate: Candidate
    score: float
    grade: Grade
    cost: float
    """Summed over what it solves; for ties only."""
    chance: float
    """How often it is first when the validation tasks are drawn anew."""

    def as_json(self) -> dict[str, Any]:
        """As INTERFACE.md says, and a little more."""
        return {
            "policy": self.candidate.file,
            "score": self.score,
            **asdict(self.grade),
            "chance": self.chance,
        }


@dataclass(frozen=True, slots=True)
class Selection:
    """What selecting gave."""

    ranking: list[Ranked]
    choices: dict[Criterion, Ranked]
    """Which checkpoint each criterion chooses; `early` and `loss` need the log of a training."""
    tasks: int
    runner_up: Comparison | None
    """The first against the best of those that did not do exactly the same."""
    same: int
    """How many others did exactly as well as the first on every task."""
    failed: dict[str, str] = field(default_factory=dict)
    """Files that are no policies for these tasks, and why."""
    left: int = 0
    """Checkpoints that were not examined because of a limit."""
    limit: str | None = None
    """Which one: `seconds` or `memory`."""

    def as_json(self, criterion: Criterion) -> dict[str, Any]:
        """One object: the best by a criterion, the ranking by score, and how sure it is."""
        return {
            "best": self.choices[criterion].candidate.file,
            "criterion": criterion,
            "ranking": [each.as_json() for each in self.ranking],
            "choices": {name: each.candidate.file for name, each in self.choices.items()},
            "tasks": self.tasks,
            "same_as_first": self.same,
            "against_runner_up": None if self.runner_up is None else asdict(self.runner_up),
            "failed": self.failed,
            "left": self.left,
            "limit": self.limit,
        }


@dataclass(frozen=True, slots=True)
class SelectProgress:
    """Where selection is."""

    done: int
    of: int
    policy: str
    task: str


def find_candidates(folder: Path, *, kind: str | None = None) -> list[Candidate]:
    """The checkpoints in a directory, or in its `models`; of files with equal content the first counts."""
    inside = folder / "models" if (folder / "models").is_dir() else folder
    if not inside.is_dir():
        raise InputError(f"{folder}: is no directory; give one with the policies to be ranked")
    files = sorted(path for path in inside.iterdir() if path.is_file() and not path.name.startswith("."))
    if kind is None:
        files = [path for path in files if path.suffix in KINDS]
    told = _training_log(folder)
    found: dict[str, Candidate] = {}
    for path in files:
        digest = digest_of(path)
        about = told.get(path.stem, {})
        found.setdefault(digest, Candidate(f"{kind or KINDS[path.suffix]}:{path}", digest, **about))
    if not found:
        endings = ", ".join(KINDS)
        raise InputError(f"{inside}: has no policies ({endings}); name their kind with --kind")
    return list(found.values())


def _training_log(folder: Path) -> dict[str, dict[str, Any]]:
    """By the stem of a model's file what `log.jsonl` of its training says."""
    for log in (folder / "log.jsonl", folder.parent / "log.jsonl"):
        if not log.is_file():
            continue
        told = {}
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                said = json.loads(line)
                name = said.get("model") or f"{said['run']}-{said['epoch']:04d}"
                told[name] = {key: said[key] for key in ("loss", "success_rate", "run", "epoch")}
            except (ValueError, KeyError, TypeError):  # half a line, or a log of something else
                continue
        return told
    return {}


class AnswerBook:
    """What was found out about checkpoints, by content and task: a killed selection loses one exam at most."""

    def __init__(self, folder: Path, *, about: dict[str, Any]) -> None:
        self._store = DirectoryStore(folder)
        self.known: dict[tuple[str, int], Exam] = {}
        lines = self._store.lines(ANSWERS)
        self._store.cut(ANSWERS, len(lines))
        if not lines:
            self._store.append(ANSWERS, {"about": about})
        elif lines[0].get("about") != json.loads(json.dumps(about)):
            raise InputError(
                f"{folder}: holds answers for other validation tasks or options; choose another --out"
            )
        for number, line in enumerate(lines[1:], start=2):
            with reading(f"{folder / ANSWERS}:{number}"):
                told = {key: line[key] for key in ("task", "initial", "costs", "bugs")}
                self.known[line["digest"], line["number"]] = read_fields(Exam, told)

    def put(self, candidate: Candidate, number: int, exam: Exam) -> None:
        """Keeps an exam."""
        self.known[candidate.digest, number] = exam
        line = {"policy": candidate.file, "digest": candidate.digest, "number": number, **asdict(exam)}
        self._store.append(ANSWERS, line)

    def close(self) -> None:
        """Ends the use of the files."""
        self._store.close()


def open_book(examiner: Examiner) -> AnswerBook:
    """The answers that are kept in the examiner's folder; its tasks have to be there already."""
    return AnswerBook(examiner.folder, about={"config": vars(examiner.config), "tasks": examiner.pool_names})


def select(
    candidates: Sequence[Candidate],
    examiner: Examiner,
    book: AnswerBook,
    *,
    budget: Budget | None = None,
    watch: Watch = nullcontext,
    progress: Callable[[SelectProgress], None] = lambda _: None,
    seed: int = 0,
) -> Selection:
    """Examines all checkpoints and ranks them. Where the time is up those examined so far are ranked.

    The same where `watch`, which is around every examination, raises LimitReached.

    They are taken in an order that covers the whole training early: the first, the middle one, the quarters, ...
    """
    done: dict[int, list[Exam]] = {}
    failed: dict[str, str] = {}
    limit = None
    for count, at in enumerate(_coarse_to_fine(len(candidates))):
        try:
            with watch():
                exams = _examine(
                    candidates[at],
                    examiner,
                    book,
                    budget,
                    lambda task, count=count, at=at: progress(  # type: ignore[misc]
                        SelectProgress(count, len(candidates), candidates[at].file, task)
                    ),
                )
        except LimitReached as reached:
            limit = reached.limit
            break
        except MisstepError as error:
            failed[candidates[at].file] = str(error)
            continue
        done[at] = exams
    if not done:
        if limit is None:
            raise InputError(f"none of the policies can be used; {next(iter(failed.values()))}")
        raise LimitReached(f"no policy was examined within the limit on {limit}; allow more", limit)
    chosen = sorted(done)
    return rank(
        [candidates[at] for at in chosen],
        [done[at] for at in chosen],
        examiner.pools,
        failed=failed,
        left=len(candidates) - len(done) - len(failed),
        limit=limit,
        seed=seed,
    )


def _examine(
    candidate: Candidate,
    examiner: Examiner,
    book: AnswerBook,
    budget: Budget | None,
    tell: Callable[[str], None],
) -> list[Exam]:
    """LimitReached where the time is up before all is known."""
    exams = []
    for number, validation in enumerate(examiner.tasks):
        exam = book.known.get((candidate.digest, number))
        if exam is None:
            tell(validation.name)
            is_over = budget is not None and budget.is_over
            exam = None if is_over else examiner.exam(candidate.policy, number, budget=budget)
            if exam is None:
                raise LimitReached("the time was up while a policy was examined", "seconds")
            book.put(candidate, number, exam)
        exams.append(exam)
    return exams


def _coarse_to_fine(count: int) -> list[int]:
    return sorted(range(count), key=lambda at: (-(at & -at) if at else -count - 1, at))


def rank(
    candidates: Sequence[Candidate],
    exams: Sequence[Sequence[Exam]],
    pools: Sequence[int],
    *,
    failed: dict[str, str] | None = None,
    left: int = 0,
    limit: str | None = None,
    seed: int = 0,
    samples: int = 2000,
) -> Selection:
    """The ranking by score; ties go to cheaper runs, then to the earlier checkpoint.

    `samples` draws of the tasks say how sure it is; none are drawn where it is 0, and all chances are 0 then.
    """
    table = tabulate(exams, pools)
    points = scores(table.sum(axis=1))
    sums, odds = grades(table), chances(table, seed=seed, samples=samples)
    ranked = [
        Ranked(candidate, float(points[at]), sums[at], _total_cost(exams[at]), float(odds[at]))
        for at, candidate in enumerate(candidates)
    ]
    order = sorted(range(len(ranked)), key=lambda at: (-round(ranked[at].score, 12), ranked[at].cost, at))
    ranking = [ranked[at] for at in order]
    others = [at for at in order[1:] if not np.array_equal(table[at], table[order[0]])]
    return Selection(
        ranking=ranking,
        choices=_choices(ranked, ranking[0]),
        tasks=len(pools),
        runner_up=_against(table, order[0], others),
        same=len(order) - 1 - len(others),
        failed=failed or {},
        left=left,
        limit=limit,
    )


def _against(table: Counts, first: int, others: Sequence[int]) -> Comparison | None:
    return compare(table, first, others[0]) if others else None


def _total_cost(exams: Iterable[Exam]) -> float:
    return sum(cost for exam in exams for cost in (exam.initial, *exam.costs) if cost is not None)


def _choices(ranked: Sequence[Ranked], best: Ranked) -> dict[Criterion, Ranked]:
    """`solved`: most validation tasks, the earliest of them. `loss`: least training loss.

    `early`: the first after so many epochs in a row in which a run solved all training tasks, else the last.
    """
    chosen: dict[Criterion, Ranked] = {"pi-test": best}
    chosen["solved"] = max(ranked, key=lambda each: each.grade.solved_tasks)
    logged = [each for each in ranked if each.candidate.loss is not None]
    if not logged:
        return chosen
    chosen["loss"] = min(logged, key=lambda each: each.candidate.loss or 0.0)
    streaks: dict[str | None, int] = {}
    last = logged[-1]
    for each in sorted(logged, key=lambda each: (each.candidate.epoch or 0, each.candidate.run or "")):
        run = each.candidate.run
        last = each
        streaks[run] = streaks.get(run, 0) + 1 if (each.candidate.success_rate or 0) >= 0.999 else 0
        if streaks[run] >= _EARLY_EPOCHS:
            break
    chosen["early"] = last
    return chosen
