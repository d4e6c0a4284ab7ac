"""Guards policies written in Python: one that raises, hangs or answers nonsense ends as a clear outcome."""

import math
import threading
import time
from collections.abc import Mapping
from typing import cast

from misstep._core import Action, Budget, NativePolicy, Run, State, StateBatch
from misstep.answers.answer import NO_NUMBER, NO_SUCH_ACTION, ActionNames, Answer, BadAnswer, shown
from misstep.answers.asking import ONE_STATE, Asker, Ended, Overdue, ThreadAsker
from misstep.errors import InputError, LimitReached, PolicyError
from misstep.policy import Policy, PolicyPart
from misstep.support.describe import cut, describe_error, plain_words
from misstep.task import Task

DEFAULT_MAX_SECONDS = 60.0
_DEFAULT_BATCH = 256
# So many failures may be bad luck.
_FEW_FAILURES = 20
# A policy in a process of its own that is silent or ends so often, without an answer between, is given up.
_MOST_HANGS = 5
_MOST_ENDS = 10
# A call should not take longer: a policy that needs more is asked for fewer states at once.
_CALL_SECONDS = 0.5
_GROWTH = 4


def bind_guarded(part: PolicyPart, task: Task, *, max_seconds: float | None = DEFAULT_MAX_SECONDS) -> Policy:
    """The policy that a part makes for a task, guarded unless it is native."""
    return guarded(part.bind(task), task, max_seconds=max_seconds)


def guarded(
    policy: Policy | Asker,
    task: Task,
    *,
    max_seconds: float | None = DEFAULT_MAX_SECONDS,
    budget: Budget | None = None,
) -> Policy:
    """The policy in a guard; native policies neither raise nor hang and stay as they are."""
    if isinstance(policy, NativePolicy | Guard):
        return policy
    return Guard(policy, task, max_seconds=max_seconds, budget=budget)


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
    return f"the policy answered {run.answer.name}, which is not applicable: {_unmet(run.answer, last)}"


_SHOWN_SPLITS = 3


def _unmet(action: Action, state: State) -> str:
    """Which facts an action lacks in a state; where the translator split it, what each split lacks."""
    values, task = state.values, cast(Task, state.task)
    splits = [task.actions[index] for index in task.splits.get(action.name, [action.index])]
    missing = [
        ", ".join(
            task.fact_name(variable, value) or "a fact without a name"
            for variable, value in split.precondition
            if values[variable] != value
        )
        for split in splits
    ]
    more = f", and {len(missing) - _SHOWN_SPLITS} more cases" if len(missing) > _SHOWN_SPLITS else ""
    return f"{'; nor '.join(missing[:_SHOWN_SPLITS])} does not hold{more}"


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

    A slow policy is asked for fewer states at once. A call that takes longer than `max_seconds` fails: a
    policy in a process of its own is killed, and goes on with the next state; one of this process cannot be
    stopped, so it is not asked again, and the states of this call and all later ones are `failed` at once.
    The same holds for a PolicyError from the policy itself (a server that is gone). LimitReached is raised
    where the budget's time is up first. KeyboardInterrupt passes through.
    """

    def __init__(
        self,
        policy: Policy | Asker,
        task: Task,
        *,
        max_seconds: float | None = DEFAULT_MAX_SECONDS,
        budget: Budget | None = None,
    ) -> None:
        if max_seconds is not None and not max_seconds > 0:
            raise InputError(f"max_seconds is {max_seconds}; a policy needs more than 0 seconds to answer")
        names = ActionNames(task)
        if isinstance(policy, Asker):
            self._asker = policy
        elif callable(policy):
            self._asker = ThreadAsker(
                policy, names, best_batch=best_batch_of(policy), warnings=warnings_of(policy)
            )
        else:
            raise PolicyError(f"a policy is a callable of states, but this is {shown(policy)}")
        self.policy = policy
        self.task = task
        self.budget = budget
        self.max_seconds = None if max_seconds is None or math.isinf(max_seconds) else max_seconds
        self.best_batch = self._asker.best_batch
        self.warnings = self._asker.warnings
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
        self._busy = threading.Lock()
        self._size = 1
        """So many states go into one call; it grows while the policy answers fast."""
        self._hangs = 0
        self._ends = 0

    def __call__(self, states: StateBatch, /) -> list[Action | None]:
        """One answer for each state; raises nothing but LimitReached and KeyboardInterrupt."""
        with self._busy:
            answers: list[Answer] = []
            while len(answers) < len(states):
                piece = self._next_piece(states, len(answers))
                answers += self._ask_piece(piece)
            self._count(states, answers)
            return cast(list[Action | None], answers)

    def words(self) -> str:
        """The last that the policy printed, in one line, where that is not to be seen anyway."""
        return plain_words(self._asker.words())

    def _next_piece(self, states: StateBatch, at: int) -> StateBatch:
        if self.dead is None and self.budget is not None and at > 0:
            self._check_time()
        size = len(states) if self.dead is not None else self._size
        if at == 0 and len(states) <= size:
            return states
        return StateBatch(self.task, states.values[at : at + size])

    def _ask_piece(self, states: StateBatch) -> list[Answer]:
        begin = time.perf_counter()
        answers = self._ask(states)
        self._adapt(len(states), time.perf_counter() - begin)
        if not isinstance(answers, BadAnswer):
            return answers
        if len(states) == 1 or self.dead is not None:
            return [answers] * len(states)
        self.batches_split += 1
        self._size = 1
        return [self._ask_one(state) for state in states]

    def _adapt(self, states: int, seconds: float) -> None:
        """Answers do not depend on the company in which states are asked, so the clock may decide."""
        if seconds > _CALL_SECONDS:
            self._size = max(1, min(self._size, int(states * _CALL_SECONDS / seconds)))
        elif states >= self._size:
            self._size = min(self.best_batch, self._size * _GROWTH)

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
        try:
            answers = self._asker.ask(states, seconds=self.max_seconds, budget=self.budget)
        except Overdue as overdue:
            self._check_time()
            return self._overdue(states, is_lost=overdue.is_lost)
        except Ended as ended:
            self._ends += len(states) == 1
            if self._ends >= _MOST_ENDS:
                self.dead = f"{ended}; so it went {self._ends} times in a row, and it is not asked again"
            return BadAnswer(str(ended))
        except (KeyboardInterrupt, LimitReached):  # A time limit may ring while we wait.
            raise
        except PolicyError as error:
            self.dead = str(error)
            return BadAnswer(self.dead)
        except BaseException as error:
            said = describe_error(error)
            hint = f"; {ONE_STATE}" if "StateBatch" in said else ""
            return BadAnswer(f"the policy raised {said}{hint}")
        self._hangs = self._ends = 0
        return answers

    def _overdue(self, states: StateBatch, *, is_lost: bool) -> BadAnswer:
        one = f" (the state {cut(str(states[0]))})" if len(states) == 1 else ""
        reason = (
            f"the policy gave no answer for {len(states)} states{one} within {self.max_seconds:g} seconds"
        )
        self._hangs += len(states) == 1
        if is_lost or self._hangs >= _MOST_HANGS:
            self.dead = f"{reason} and is not asked again; allow more seconds a call"
        return BadAnswer(self.dead or reason)

    def _check_time(self) -> None:
        """Raises LimitReached where the time of the whole test is up; memory may be freed again."""
        limit = None if self.budget is None else self.budget.over
        if limit in ("seconds", "stopped"):
            raise LimitReached("the time was up while the policy was asked; allow more --seconds", limit)


def best_batch_of(policy: object) -> int:
    """How many states a call should have at most, as the policy says; PolicyError where it says nonsense."""
    size = getattr(policy, "best_batch", _DEFAULT_BATCH)
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise PolicyError(f"the policy's best_batch is {shown(size)}; it must be a number from 1 on")
    return size
