"""Policy selection: ranks the checkpoints of a training by testing them on validation tasks."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from misstep.budget import Budget, Watch
from misstep.errors import InputError, LimitReached, MisstepError
from misstep.record.store import DirectoryStore
from misstep.support.plain import read_fields, reading
from misstep.training.examiner import Examiner, digest_of
from misstep.training.score import (
    Comparison,
    Counts,
    Exam,
    Grade,
    chances,
    compare,
    grades,
    order_at_zero,
    scores,
    tabulate,
)

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
_EXAM_FIELDS = [each.name for each in fields(Exam)]
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
    """0 says that it was not trained at all."""

    @property
    def is_untrained(self) -> bool:
        """Whether it is a random beginning, as the log of its training says."""
        return self.epoch == 0

    @property
    def is_logged(self) -> bool:
        """Whether a log of its training tells its loss or epoch."""
        return self.loss is not None or self.epoch is not None

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
    pool_solved: int | None = None
    """Of a policy that solves no validation task: from how many pool states it reaches the goal; None where that
    decides nothing and was not looked at."""

    def as_json(self) -> dict[str, Any]:
        """One policy in what `misstep select --json` prints."""
        return {
            "policy": self.candidate.file,
            "score": self.score,
            **asdict(self.grade),
            "chance": self.chance,
            "pool_solved": self.pool_solved,
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

    @property
    def unlogged(self) -> int:
        """Of how many checkpoints neither the loss nor the epoch is known, so that one may be untrained."""
        return sum(not each.candidate.is_logged for each in self.ranking)

    def as_json(self, criterion: Criterion) -> dict[str, Any]:
        """One object: the best by a criterion, the ranking by score, and how sure it is."""
        return {
            "best": self.choices[criterion].candidate.file,
            "criterion": criterion,
            "ranking": [each.as_json() for each in self.ranking],
            "choices": {name: each.candidate.file for name, each in self.choices.items()},
            "tasks": self.tasks,
            "same_as_first": self.same,
            "unlogged": self.unlogged,
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
    """What was found out about checkpoints, by content and task: a killed selection loses one exam at most.

    Answers for several sets of tasks and options stand side by side in a folder, each in a file of its own.
    """

    def __init__(self, folder: Path, *, about: dict[str, Any]) -> None:
        self._store = DirectoryStore(folder)
        self.known: dict[tuple[str, int], Exam] = {}
        self.file = self._file_about(about)
        lines = self._store.lines(self.file)
        self._store.cut(self.file, len(lines))
        if not lines:
            self._store.append(self.file, {"about": about})
        for number, line in enumerate(lines[1:], start=2):
            with reading(f"{folder / self.file}:{number}"):
                told = {key: line[key] for key in _EXAM_FIELDS if key in line}
                self.known[line["digest"], line["number"]] = read_fields(Exam, told)

    def _file_about(self, about: dict[str, Any]) -> str:
        """The usual file, or one for these tasks and options where the usual one has answers for others."""
        text = json.dumps(about, sort_keys=True)
        own = f"answers-{hashlib.sha256(text.encode()).hexdigest()[:16]}.jsonl"
        for file in (ANSWERS, own):
            lines = self._store.lines(file)
            with reading(f"{Path(self._store.where) / file}:1"):
                if not lines or lines[0]["about"] == json.loads(text):
                    return file
        raise InputError(
            f"{Path(self._store.where) / own}: is about other tasks or options than its name says; delete it"
        )

    def put(self, candidate: Candidate, number: int, exam: Exam) -> None:
        """Keeps an exam."""
        self.known[candidate.digest, number] = exam
        line = {"policy": candidate.file, "digest": candidate.digest, "number": number, **asdict(exam)}
        self._store.append(self.file, line)

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
    tried, found = [candidates[at] for at in chosen], [done[at] for at in chosen]
    try:
        if limit is None and all(candidates[at].is_untrained or solves_nothing(done[at]) for at in done):
            with watch():
                look_at_pools(tried, found, examiner, book, budget)
    except LimitReached as reached:
        limit = reached.limit
    return rank(
        tried,
        found,
        examiner.pools,
        failed=failed,
        left=len(candidates) - len(done) - len(failed),
        limit=limit,
        seed=seed,
    )


def solves_nothing(exams: Iterable[Exam]) -> bool:
    """Whether a policy solves none of the validation tasks, so that its score is 0."""
    return all(exam.initial is None for exam in exams)


def look_at_pools(
    candidates: Sequence[Candidate],
    exams: Sequence[list[Exam]],
    examiner: Examiner,
    book: AnswerBook,
    budget: Budget | None = None,
) -> None:
    """Enters into the exams of trained policies that solve no task how many pool states they solve.

    That ranks them, since all have the score 0. LimitReached where the time is up before all of it is known.
    """
    for candidate, of_one in zip(candidates, exams, strict=True):
        if candidate.is_untrained or not solves_nothing(of_one):
            continue
        for number, exam in enumerate(of_one):
            if exam.pool_solved is None:
                solved = examiner.pool_solved(candidate.policy, number, budget=budget)
                if solved is None:
                    raise LimitReached("the time was up while a policy was examined", "seconds")
                of_one[number] = replace(exam, pool_solved=solved)
                book.put(candidate, number, of_one[number])


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

    Those that solve no task follow in the order of `order_at_zero`; those that were not trained come last,
    whatever they solve. `samples` draws of the tasks say how sure it is; none are drawn where it is 0, and all
    chances are 0 then.
    """
    table = tabulate(exams, pools)
    points = scores(table.sum(axis=1))
    sums, odds = grades(table), chances(table, seed=seed, samples=samples)
    solved = _pool_solved(candidates, exams)
    ranked = [
        Ranked(candidate, float(points[at]), sums[at], _total_cost(exams[at]), float(odds[at]), solved[at])
        for at, candidate in enumerate(candidates)
    ]
    order = sorted(range(len(ranked)), key=lambda at: _place(ranked[at], at))
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


def _place(each: Ranked, at: int) -> tuple[object, ...]:
    """Where a policy stands in the ranking; the smallest is first."""
    about = each.candidate
    if each.grade.solved_tasks > 0:
        return about.is_untrained, -round(each.score, 12), each.cost, at
    by = order_at_zero(each.pool_solved or 0, about.loss, about.epoch)
    return about.is_untrained, 0.0, *(-value for value in by), -at


def _pool_solved(candidates: Sequence[Candidate], exams: Sequence[Sequence[Exam]]) -> list[int | None]:
    """Of each policy without a solved task the pool states that it solves; None where not all were looked at.

    What is known of some alone, from a selection before, says nothing about the others.
    """
    found: list[int | None] = [None] * len(exams)
    for at, of_one in enumerate(exams):
        if solves_nothing(of_one) and not candidates[at].is_untrained:
            counts = [exam.pool_solved for exam in of_one if exam.pool_solved is not None]
            if len(counts) < len(of_one):
                return [None] * len(exams)
            found[at] = sum(counts)
    return found


def _against(table: Counts, first: int, others: Sequence[int]) -> Comparison | None:
    return compare(table, first, others[0]) if others else None


def _total_cost(exams: Iterable[Exam]) -> float:
    return sum(cost for exam in exams for cost in (exam.initial, *exam.costs) if cost is not None)


def _choices(ranked: Sequence[Ranked], best: Ranked) -> dict[Criterion, Ranked]:
    """`solved`: most validation tasks, the earliest of them; where none is solved, the first of the ranking.

    `loss`: least training loss. `early`: the first after so many epochs in a row in which a run solved all
    training tasks, else the last.
    """
    chosen: dict[Criterion, Ranked] = {"pi-test": best}
    trained = [each for each in ranked if not each.candidate.is_untrained] or ranked
    most = max(trained, key=lambda each: each.grade.solved_tasks)
    chosen["solved"] = most if most.grade.solved_tasks > 0 else best
    logged = [each for each in ranked if each.candidate.loss is not None]
    if not logged:
        return chosen
    chosen["loss"] = max(logged, key=lambda each: order_at_zero(0, each.candidate.loss, None))
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
