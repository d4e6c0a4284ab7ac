"""Validation tasks with fixed pools: every policy is tested on the same states, against the same plans."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from misstep._core import Action, State
from misstep.bench import set_up
from misstep.budget import Budget
from misstep.claim import Claim, plan_claim
from misstep.config import Config
from misstep.errors import InputError, LimitReached
from misstep.events import Judged
from misstep.judge import Verdict
from misstep.lab import Lab
from misstep.oracle import Case, OraclePart, make_oracles
from misstep.plugins import make_part
from misstep.policy import PolicyPart
from misstep.record.pool_file import PoolWriter, read_pool
from misstep.record.store import write_whole
from misstep.session import Session
from misstep.support.plain import reading
from misstep.task import Task
from misstep.training.score import Exam
from misstep.training.teachers import Teacher, replayed

# Walks need no policy where nothing is biased; a fuzzing session wants one all the same.
_ANY_POLICY = "heuristic:ff"


@dataclass(frozen=True, kw_only=True)
class ExamConfig:
    """How policies are examined; the same for all that are compared."""

    pool: int = 50
    """Pool states of a task."""
    seed: int = 0
    teacher: str = "greedy"
    """Makes the plans that policies are held against, once for every pool state; `A+B`: the better plan."""
    expansions: int = 1000
    """What it may expand for one state."""
    oracle: tuple[str, ...] = ()
    """Oracles that are asked about every policy besides, such as `bounds`."""
    max_steps: int = 1000
    """A run of a policy ends after so many actions."""
    unit_cost: bool = True

    def __post_init__(self) -> None:
        for name, least in (("pool", 1), ("seed", 0), ("expansions", 1), ("max_steps", 1)):
            if getattr(self, name) < least:
                raise InputError(f"option `{name}` is {getattr(self, name)}; it must be at least {least}")


@dataclass(frozen=True)
class GivenPlans:
    """An oracle that was told plans before: it is asked about many policies and searches for none."""

    plans: Mapping[State, tuple[Action, ...]]
    name = "given"

    def bind(self, lab: Lab, /) -> "GivenPlans":
        """The plans hold for every policy."""
        return self

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """The plan of the state, if there is one."""
        plan = self.plans.get(case.state)
        if plan is not None:
            yield plan_claim(case.state, plan, self.name)


@dataclass(frozen=True, slots=True)
class ValidationTask:
    """A task with its pool and plans."""

    name: str
    task: Task
    pool_file: Path
    states: tuple[State, ...]
    parents: tuple[int | None, ...]
    """By state the number of the one that its walk started in."""
    plans: Mapping[State, tuple[Action, ...]]


@dataclass
class Examiner:
    """Tests policies on validation tasks, whose pools and plans it makes once and keeps in a directory."""

    config: ExamConfig
    folder: Path
    tasks: list[ValidationTask] = field(default_factory=list)
    _oracles: Sequence[OraclePart] = field(init=False)
    _teachers: Sequence[Teacher] = field(init=False)

    def __post_init__(self) -> None:
        self._oracles = make_oracles(self.config.oracle) if self.config.oracle else []
        self._teachers = [make_part("teacher", name) for name in self.config.teacher.split("+")]
        try:
            (self.folder / "pools").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.folder}: cannot write there: {error.strerror}") from None

    @property
    def pools(self) -> list[int]:
        """The sizes of the pools."""
        return [len(each.states) for each in self.tasks]

    @property
    def pool_names(self) -> list[str]:
        """By these the pools are told apart: they say what each was made from."""
        return [each.pool_file.stem for each in self.tasks]

    def add(self, task: Task, *, name: str, budget: Budget | None = None) -> ValidationTask:
        """Takes a task in. Its pool is made by unbiased walks; no policy has a part in it or in the plans.

        LimitReached where the budget was used up before all was there; it is made anew the next time.
        """
        about = {**vars(self.config), "oracle": None, "max_steps": None, "sas": task.sas}
        digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
        stem = self.folder / "pools" / f"{len(self.tasks):03d}-{Path(name).stem}-{digest}"
        pool_file, plan_file = stem.with_suffix(".jsonl"), stem.with_suffix(".plans.json")
        if not plan_file.is_file():
            budget = budget or Budget()
            self._make_pool(task, pool_file, budget)
            plans = []
            for entry in read_pool(pool_file, task):
                _check_time(budget)
                plans.append(self._plan(task, entry.state))
            write_whole(plan_file, json.dumps(plans))
        entries = read_pool(pool_file, task)
        with reading(plan_file):
            plans = json.loads(plan_file.read_text(encoding="utf-8"))
            known = {
                entry.state: tuple(replayed(task, entry.state, names))
                for entry, names in zip(entries, plans, strict=True)
                if names is not None
            }
        states, parents = tuple(entry.state for entry in entries), tuple(entry.parent for entry in entries)
        made = ValidationTask(name, task, pool_file, states, parents, known)
        self.tasks.append(made)
        return made

    def _make_pool(self, task: Task, path: Path, budget: Budget) -> None:
        config = Config(policy=_ANY_POLICY, pool=self.config.pool, seed=self.config.seed, recheck=False)
        bench = set_up(config, Budget(), task=task)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        draft.unlink(missing_ok=True)
        with PoolWriter(draft, made_by={"seed": self.config.seed}) as writer:
            for entry in bench.fuzz(budget):
                writer.write(entry)
        _check_time(budget)
        draft.replace(path)

    def _plan(self, task: Task, state: State) -> list[str] | None:
        if task.is_goal(state):
            return []
        plans = []
        for teacher in self._teachers:
            answer = teacher.answer(task, state, max_expansions=self.config.expansions)
            if answer.plan is not None:
                plans.append(replayed(task, state, answer.plan))
            if answer.optimal and plans:
                break
        best = min(plans, key=lambda plan: sum(action.cost for action in plan), default=None)
        return None if best is None else [action.name for action in best]

    def exam(
        self,
        policy: str,
        at: int,
        *,
        part: PolicyPart | None = None,
        whole: bool = False,
        budget: Budget | None = None,
    ) -> Exam | None:
        """One policy on one task; None where the time was up before the pool was tested.

        Where the initial state is not solved the pool is looked at only if the `whole` is wanted: the task is
        out of the policy's range, as the paper says.
        """
        validation = self.tasks[at]
        config = Config(
            policy=policy,
            pool_file=validation.pool_file,
            effort=1.0,  # many policies are compared, all with the same
            max_steps=self.config.max_steps,
            recheck=False,
            faults=False,
            extend=False,
            seconds=None if budget is None else budget.seconds_left,
        )
        task = validation.task
        given: list[OraclePart] = [GivenPlans(validation.plans), *self._oracles]
        bench = set_up(config, Budget(), task=task, policy=part, parts={"oracle": given})
        [run] = bench.graph.run(task.batch([task.initial_state]), max_steps=self.config.max_steps)
        initial = float(run.spent) if run.outcome == "solved" else None
        if initial is None and not whole:
            return Exam(validation.name, None)
        session = Session(config, task=task, policy=bench.policy, parts={"oracle": given})
        last: dict[int, Judged] = {}
        for event in session.events():
            if isinstance(event, Judged):
                last[event.id] = event
        if budget is not None and budget.is_over and len(last) < len(validation.states):
            return None
        judged = [last[number] for number in sorted(last)]
        return Exam(
            validation.name,
            initial,
            tuple(event.cost.hi if event.outcome == "solved" else None for event in judged),
            tuple(event.verdict is Verdict.BUG for event in judged),
            tuple(event.verdict is Verdict.CLEARED for event in judged),
        )

    def pool_solved(
        self, policy: str, at: int, *, part: PolicyPart | None = None, budget: Budget | None = None
    ) -> int | None:
        """From how many pool states of a task the policy reaches the goal; None where the time was up before.

        Nothing is searched for, so this costs far less than an exam.
        """
        validation = self.tasks[at]
        config = Config(policy=policy, max_steps=self.config.max_steps, recheck=False)
        bench = set_up(config, Budget(), task=validation.task, policy=part)
        starts = validation.task.batch(validation.states)
        runs = bench.graph.run(starts, max_steps=self.config.max_steps, budget=budget or Budget())
        if len(runs) < len(validation.states):
            return None
        return sum(run.outcome == "solved" for run in runs)


def _check_time(budget: Budget) -> None:
    if budget.is_over:
        raise LimitReached("the time was up while pools and plans were made; allow more --seconds", "seconds")


def digest_of(path: Path) -> str:
    """What a policy's file contains, for telling whether it is still the same."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
