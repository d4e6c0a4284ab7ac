"""Guards policies written in Python: one that raises, hangs or answers nonsense ends as a clear outcome."""

import math
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from itertools import islice
from queue import SimpleQueue
from typing import cast

from misstep._core import Action, NativePolicy, Run, State, StateBatch
from misstep.answers.answer import (
    NO_NUMBER,
    NO_SUCH_ACTION,
    ActionNames,
    Answer,
    BadAnswer,
    read_answer,
    shown,
)
from misstep.errors import InputError, PolicyError
from misstep.policy import Policy, PolicyPart
from misstep.support.describe import cut, describe_error
from misstep.task import Task

DEFAULT_MAX_SECONDS = 60.0
_DEFAULT_BATCH = 256
# So many failures may be bad luck.
_FEW_FAILURES = 20


def bind_guarded(part: PolicyPart, task: Task, *, max_seconds: float | None = DEFAULT_MAX_SECONDS) -> Policy:
    """The policy that a part makes for a task, guarded unless it is native."""
    return guarded(part.bind(task), task, max_seconds=max_seconds)


def guarded(policy: Policy, task: Task, *, max_seconds: float | None = DEFAULT_MAX_SECONDS) -> Policy:
    """The policy in a guard; native policies neither raise nor hang and stay as they are."""
    if isinstance(policy, NativePolicy | Guard):
        return policy
    return Guard(policy, task, max_seconds=max_seconds)


def failures_of(policy: object) -> Mapping[State, str]:
    """The states for which a policy gave no action of the task, with the reasons; none without a guard."""
    return policy.failures if isinstance(policy, Guard) else {}


def failure_share(policy: object) -> float:
    """Of the states asked so far, the share for which there was no action of the task and no plain "nothing".

    A policy that is near 1 is broken, not bad: a test of it can end at once with one of the reasons.
    """
    if not isinstance(policy, Guard) or policy.asked == 0:
        return 0.0
    return (policy.failed + policy.unknown) / policy.asked


def reason_of(policy: object, state: State) -> str | None:
    """Why a policy's answer for a state is no action of the task; None where it is one or was not asked."""
    return failures_of(policy).get(state)


def reason_of_run(policy: object, run: Run) -> str | None:
    """Why a run ended `failed` or `illegal`, in words; None for all other outcomes."""
    if run.outcome not in ("failed", "illegal"):
        return None
    last = run.states[-1]
    if (reason := reason_of(policy, last)) is not None:
        return reason
    if run.answer is None:
        return (NO_NUMBER if run.outcome == "failed" else NO_SUCH_ACTION).reason
    values, task = last.values, cast(Task, last.task)
    unmet = [
        task.fact_name(variable, value) or "a fact without a name"
        for variable, value in run.answer.precondition
        if values[variable] != value
    ]
    return f"the policy answered {run.answer.name}, which is not applicable: {', '.join(unmet)} does not hold"


def warnings_of(policy: object) -> list[str]:
    """What a user should know about how a policy fits its task; shown like the warnings of the task."""
    return [str(text) for text in getattr(policy, "warnings", ())]


def failure_report(policy: object) -> str | None:
    """Why it makes no sense to go on: the policy is dead, or failed on most of what it was asked for."""
    if not isinstance(policy, Guard):
        return None
    if policy.dead is not None:
        return policy.dead
    if len(policy.failures) < _FEW_FAILURES or failure_share(policy) < 0.5:
        return None
    state, reason = next(iter(policy.failures.items()))
    return (
        f"the policy failed on {len(policy.failures)} states, {failure_share(policy):.0%} of what it was "
        f"asked for, and was given up; the first was {cut(str(state))}: {reason}"
    )


class Guard:
    """A policy whose failures are contained.

    Where the policy raises on a batch, or gives too many or too few answers, it is asked again state by
    state. A state on which it raises or answers nonsense gets a `BadAnswer`: the outcome is `failed`, since
    there was no decision, or `illegal` where it named an action that the task does not have. Names of actions
    are taken for the actions. `failures` keeps the reason for each of these states.

    A call that takes longer than `max_seconds`, and a PolicyError from the policy itself (a server that is
    gone), end the policy: the states of this call and all later ones are `failed` at once, for that reason.
    The call may still be under way, in a thread that nobody can stop. KeyboardInterrupt passes through.
    """

    def __init__(
        self, policy: Policy, task: Task, *, max_seconds: float | None = DEFAULT_MAX_SECONDS
    ) -> None:
        if max_seconds is not None and not max_seconds > 0:
            raise InputError(f"max_seconds is {max_seconds}; a policy needs more than 0 seconds to answer")
        if not callable(policy):
            raise PolicyError(f"a policy is a callable of states, but this is {shown(policy)}")
        self.policy = policy
        self.task = task
        self.max_seconds = None if max_seconds is None or math.isinf(max_seconds) else max_seconds
        self.best_batch = _best_batch(policy)
        self.warnings = warnings_of(policy)
        self.failures: dict[State, str] = {}
        """Why a state got no action, for every state where the policy failed or named an unknown action."""
        self.asked = 0
        """How many answers were given, those to questions asked again included."""
        self.failed = 0
        """How many of them were no decision at all."""
        self.unknown = 0
        """How many of them named an action that the task does not have."""
        self.batches_split = 0
        """How many batches had to be asked again state by state."""
        self.dead: str | None = None
        """Why the policy is not asked any more."""
        self._names = ActionNames(task)
        self._busy = threading.Lock()
        self._worker = _Worker()

    def __call__(self, states: StateBatch, /) -> list[Action | None]:
        """One answer for each state; raises nothing but KeyboardInterrupt."""
        with self._busy:
            if len(states) == 0:
                return []
            answers = self._ask(states)
            if isinstance(answers, BadAnswer):
                if len(states) == 1 or self.dead is not None:
                    answers = [answers] * len(states)
                else:
                    self.batches_split += 1
                    answers = [self._ask_one(state) for state in states]
            self._count(states, answers)
            return cast(list[Action | None], answers)

    def _count(self, states: StateBatch, answers: list[Answer]) -> None:
        self.asked += len(answers)
        if not any(isinstance(answer, BadAnswer) for answer in answers):
            return
        for state, answer in zip(states, answers, strict=True):
            if isinstance(answer, BadAnswer):
                self.failures[state] = answer.reason
                self.failed += answer.outcome == "failed"
                self.unknown += answer.outcome == "illegal"

    def _ask_one(self, state: State) -> Answer:
        answers = self._ask(self.task.batch([state]))
        return answers if isinstance(answers, BadAnswer) else answers[0]

    def _ask(self, states: StateBatch) -> list[Answer] | BadAnswer:
        """The answers, or why there are none for the batch as a whole."""
        if self.dead is not None:
            return BadAnswer(self.dead)
        job = self._worker.run(lambda: _ask(self.policy, self._names, states), max_seconds=self.max_seconds)
        if not job.done.is_set():
            one = f" (the state {cut(str(states[0]))})" if len(states) == 1 else ""
            self.dead = (
                f"the policy gave no answer for {len(states)} states{one} within {self.max_seconds:g} "
                "seconds and is not asked again; allow more seconds a call, or ask for fewer states at once"
            )
            return BadAnswer(self.dead)
        if isinstance(job.error, KeyboardInterrupt):
            raise job.error
        if isinstance(job.error, PolicyError):
            self.dead = str(job.error)
            return BadAnswer(self.dead)
        if job.error is not None:
            return BadAnswer(f"the policy raised {describe_error(job.error)}")
        return job.result


def _ask(policy: Policy, names: ActionNames, states: StateBatch) -> list[Answer] | BadAnswer:
    """Calls the policy and looks at its answers; runs in the worker: all of it may be the user's code."""
    answers: object = policy(states)
    if isinstance(answers, str | bytes | Mapping | Set) or not isinstance(answers, Iterable):
        return BadAnswer(
            f"the policy returned {shown(answers)} where a list with one answer for each state was expected"
        )
    given = list(islice(answers, len(states) + 1))
    if len(given) != len(states):
        count = "more" if len(given) > len(states) else str(len(given))
        asked = "1 state" if len(states) == 1 else f"{len(states)} states"
        return BadAnswer(f"the policy was asked for {asked} and gave {count} answers")
    if all(answer is None or isinstance(answer, Action) for answer in given):  # No state has to be made.
        return [None if answer is None else names.own(answer) for answer in given]
    return [read_answer(answer, state, names) for answer, state in zip(given, states, strict=True)]


def _best_batch(policy: object) -> int:
    size = getattr(policy, "best_batch", _DEFAULT_BATCH)
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise PolicyError(f"the policy's best_batch is {shown(size)}; it must be a number from 1 on")
    return size


@dataclass(slots=True)
class _Job:
    """One call: `done` is set once there is a result or an error."""

    work: Callable[[], list[Answer] | BadAnswer]
    done: threading.Event = field(default_factory=threading.Event)
    result: list[Answer] | BadAnswer = field(default_factory=list)
    error: BaseException | None = None


class _Worker:
    """A thread that calls the policy, so that the caller can stop waiting for it."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        weakref.finalize(self, self._jobs.put, None)

    def run(self, work: Callable[[], list[Answer] | BadAnswer], *, max_seconds: float | None) -> _Job:
        """Waits for the job; it is not done where the time ran out."""
        if self._thread is None or not self._thread.is_alive():  # A fork leaves threads behind.
            # A daemon, so that a policy that hangs does not keep the program from ending.
            self._thread = threading.Thread(
                target=_work_off, args=(self._jobs,), name="misstep-policy", daemon=True
            )
            self._thread.start()
        job = _Job(work)
        self._jobs.put(job)
        job.done.wait(max_seconds)
        return job


def _work_off(jobs: "SimpleQueue[_Job | None]") -> None:
    while (job := jobs.get()) is not None:
        try:
            job.result = job.work()
        except BaseException as error:  # Whatever user code raises, SystemExit too, belongs to the caller.
            job.error = error
        job.done.set()
        del job  # Or the states of the last call would live until the next one.
