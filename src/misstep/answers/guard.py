"""Guards policies written in Python: one that raises, hangs or answers nonsense ends as a clear outcome."""

import math
import reprlib
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from itertools import islice
from queue import SimpleQueue
from typing import Literal, TypeAlias, cast

from misstep._core import Action, NativePolicy, State, StateBatch
from misstep.errors import InputError, PolicyError
from misstep.policy import Policy, PolicyPart
from misstep.support.describe import cut, describe_error
from misstep.task import Task

DEFAULT_MAX_SECONDS = 60.0
_DEFAULT_BATCH = 256
# So many failures may be bad luck.
_FEW_FAILURES = 20


@dataclass(frozen=True, slots=True)
class BadAnswer:
    """An answer that is no action, with the reason; `stuck` means that the policy failed to answer at all."""

    reason: str
    outcome: Literal["illegal", "stuck"] = "illegal"


Answer: TypeAlias = Action | BadAnswer | None


def bad_answer(reason: str, *, outcome: Literal["illegal", "stuck"] = "illegal") -> Action:
    """A `BadAnswer` in the place of an action, so that policies keep their simple type."""
    return cast(Action, BadAnswer(reason, outcome))


def bind_guarded(part: PolicyPart, task: Task, *, max_seconds: float | None = DEFAULT_MAX_SECONDS) -> Policy:
    """The policy that a part makes for a task, guarded unless it is native."""
    return guarded(part.bind(task), task, max_seconds=max_seconds)


def guarded(policy: Policy, task: Task, *, max_seconds: float | None = DEFAULT_MAX_SECONDS) -> Policy:
    """The policy in a guard; native policies neither raise nor hang and stay as they are."""
    if isinstance(policy, NativePolicy | Guard):
        return policy
    return Guard(policy, task, max_seconds=max_seconds)


def failures_of(policy: Policy) -> Mapping[State, str]:
    """The states on which a policy failed so far, with the reasons; none where it is not guarded."""
    return policy.failures if isinstance(policy, Guard) else {}


def reason_of(policy: Policy, state: State) -> str | None:
    """Why the policy's answer for a state was no decision, where it was none."""
    return failures_of(policy).get(state)


def failure_report(policy: Policy) -> str | None:
    """Why it makes no sense to go on: the policy failed on most of the states that it was asked for."""
    failures = failures_of(policy)
    if len(failures) < _FEW_FAILURES or not isinstance(policy, Guard) or 2 * len(failures) < policy.asked:
        return None
    state, reason = next(iter(failures.items()))
    return (
        f"the policy failed on {len(failures)} of {policy.asked} states and was given up; the first was "
        f"{cut(str(state))}: {reason}"
    )


class Guard:
    """A policy whose failures are contained.

    Where the policy raises on a batch, or gives too many or too few answers, it is asked again state by
    state. A state on which it raises gets no answer (outcome `stuck`); an answer that is neither an action of
    this task nor None stays a non-action (outcome `illegal`). `failures` keeps the reason for each of these.

    A call that takes longer than `max_seconds` raises PolicyError, and so does every later call, at once: the
    call is still under way in a thread that nobody can stop. PolicyError from the policy itself (a server
    that is gone) and KeyboardInterrupt pass through.
    """

    def __init__(
        self, policy: Policy, task: Task, *, max_seconds: float | None = DEFAULT_MAX_SECONDS
    ) -> None:
        if max_seconds is not None and not max_seconds > 0:
            raise InputError(f"max_seconds is {max_seconds}; a policy needs more than 0 seconds to answer")
        if not callable(policy):
            raise PolicyError(f"a policy is a callable of states, but this is {_shown(policy)}")
        self.policy = policy
        self.task = task
        self.max_seconds = None if max_seconds is None or math.isinf(max_seconds) else max_seconds
        self.best_batch = _best_batch(policy)
        self.failures: dict[State, str] = {}
        """Why a state got no action, for every state where the policy raised or answered nonsense."""
        self.asked = 0
        """How many states it was asked for."""
        self.batches_split = 0
        """How many batches had to be asked again state by state."""
        self._dead: str | None = None
        self._busy = threading.Lock()
        self._worker = _Worker()

    def __call__(self, states: StateBatch, /) -> list[Action | None]:
        """One answer for each state; never raises anything but PolicyError and KeyboardInterrupt."""
        with self._busy:
            if len(states) == 0:
                return []
            if self._dead is not None:
                raise PolicyError(f"{self._dead}; it is not asked again")
            self.asked += len(states)
            answers = self._ask(states)
            if isinstance(answers, BadAnswer):
                if len(states) == 1:
                    answers = [answers]
                else:
                    self.batches_split += 1
                    answers = [self._ask_one(state) for state in states]
            bad = any(isinstance(answer, BadAnswer) for answer in answers)
            return self._remember(states, answers) if bad else cast(list[Action | None], answers)

    def _ask_one(self, state: State) -> Answer:
        answers = self._ask(self.task.batch([state]))
        return answers if isinstance(answers, BadAnswer) else answers[0]

    def _ask(self, states: StateBatch) -> list[Answer] | BadAnswer:
        """The answers, or why there are none for the batch as a whole."""
        job = self._worker.run(lambda: _ask(self.policy, self.task, states), max_seconds=self.max_seconds)
        if not job.done.is_set():
            one = f" (the state {cut(str(states[0]))})" if len(states) == 1 else ""
            self._dead = (
                f"the policy gave no answer for {len(states)} states{one} within {self.max_seconds:g} "
                "seconds and was given up"
            )
            raise PolicyError(f"{self._dead}; allow more seconds a call, or ask for fewer states at once")
        if isinstance(job.error, PolicyError | KeyboardInterrupt):
            raise job.error
        if job.error is not None:
            return BadAnswer(f"the policy raised {describe_error(job.error)}", "stuck")
        return job.result

    def _remember(self, states: StateBatch, answers: list[Answer]) -> list[Action | None]:
        result: list[Action | None] = []
        for state, answer in zip(states, answers, strict=True):
            if isinstance(answer, BadAnswer):
                self.failures[state] = answer.reason
                result.append(cast(Action, answer) if answer.outcome == "illegal" else None)
            else:
                result.append(answer)
        return result


def _ask(policy: Policy, task: Task, states: StateBatch) -> "list[Answer] | BadAnswer":
    """Calls the policy and looks at its answers; runs in the worker: all of it may be the user's code."""
    answers: object = policy(states)
    if isinstance(answers, str | bytes | Mapping | Set) or not isinstance(answers, Iterable):
        return BadAnswer(
            f"the policy returned {_shown(answers)} where a list with one answer for each state was expected"
        )
    given = list(islice(answers, len(states) + 1))
    if len(given) != len(states):
        count = "more" if len(given) > len(states) else str(len(given))
        asked = "1 state" if len(states) == 1 else f"{len(states)} states"
        return BadAnswer(f"the policy was asked for {asked} and gave {count} answers")
    return [_checked(answer, task) for answer in given]


def _checked(answer: object, task: Task) -> Answer:
    if answer is None or isinstance(answer, BadAnswer):
        return answer
    if not isinstance(answer, Action):
        return BadAnswer(
            f"the policy answered {_shown(answer)}; an answer is an Action (task.actions[index] or "
            "task.action(name)) or None"
        )
    if answer.index >= len(task.actions) or answer != task.actions[answer.index]:
        return BadAnswer(f"the policy answered {answer.name}, an action of another task")
    return answer


def _best_batch(policy: object) -> int:
    size = getattr(policy, "best_batch", _DEFAULT_BATCH)
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise PolicyError(f"the policy's best_batch is {_shown(size)}; it must be a number from 1 on")
    return size


def _shown(value: object) -> str:
    try:
        text = reprlib.repr(value)
    except Exception:
        text = "something that cannot be shown"
    return "None" if value is None else f"{text} ({type(value).__name__})"


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
