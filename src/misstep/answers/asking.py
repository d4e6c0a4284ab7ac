"""How a policy is asked: in a thread of this process, so that the caller can stop waiting for it."""

import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from itertools import islice
from queue import SimpleQueue

from misstep._core import Action, Budget, StateBatch
from misstep.answers.answer import ActionNames, Answer, BadAnswer, read_answer, shown
from misstep.policy import Policy

ONE_STATE = "if it is a function of one state, lift it with misstep.per_state(FUNCTION)"
LOOK_SECONDS = 0.1
"""Between two looks at a budget while somebody waits."""


class Overdue(Exception):
    """There was no answer in time. `is_lost`: the call still goes on, so nothing can be asked any more."""

    def __init__(self, *, is_lost: bool) -> None:
        super().__init__("no answer in time")
        self.is_lost = is_lost


class Ended(Exception):
    """The process that the policy lives in ended while it was asked; the text says how."""


class Asker(ABC):
    """Somebody who puts states to a policy and waits for the answers, but not for ever."""

    best_batch: int
    warnings: list[str]

    @abstractmethod
    def ask(
        self, states: StateBatch, *, seconds: float | None, budget: Budget | None
    ) -> list[Answer] | BadAnswer:
        """The answers, or why there are none for the batch as a whole.

        Raises Overdue after `seconds`, or where the budget is over before, Ended where the policy's process
        ended, PolicyError where it makes no sense to ask on, and whatever a policy of this process raises.
        """

    def words(self) -> str:
        """The last that the policy printed, where that is not to be seen anyway."""
        return ""


def waits(seconds: float | None, budget: Budget | None) -> Iterable[float]:
    """How long to wait until the next look, again and again, while there is time."""
    end = None if seconds is None else time.monotonic() + seconds
    while budget is None or budget.over in (None, "memory"):
        left = LOOK_SECONDS
        if end is not None:
            left = min(left, end - time.monotonic())
        if budget is not None and budget.seconds_left is not None:
            left = min(left, budget.seconds_left)
        if end is not None and left <= 0:
            return
        yield max(left, 0.001)


def ask_policy(policy: Policy, names: ActionNames, states: StateBatch) -> list[Answer] | BadAnswer:
    """Calls the policy and looks at its answers; all of it may be the user's code."""
    answers: object = policy(states)
    if isinstance(answers, str | bytes | Mapping | Set) or not isinstance(answers, Iterable):
        return BadAnswer(
            f"the policy returned {shown(answers)} where a list with one answer for each state was expected"
            f"; {ONE_STATE}"
        )
    given = list(islice(answers, len(states) + 1))
    if len(given) != len(states):
        count = "more" if len(given) > len(states) else str(len(given))
        asked = "1 state" if len(states) == 1 else f"{len(states)} states"
        return BadAnswer(f"the policy was asked for {asked} and gave {count} answers")
    are_actions = all(answer is None or isinstance(answer, Action) for answer in given)
    if are_actions and not names.depend_on_state:  # No state has to be made.
        return [None if answer is None else names.own(answer) for answer in given]
    return [read_answer(answer, state, names) for answer, state in zip(given, states, strict=True)]


@dataclass(slots=True)
class _Job:
    """One call: `done` is set once there is a result or an error."""

    work: Callable[[], list[Answer] | BadAnswer]
    done: threading.Event = field(default_factory=threading.Event)
    result: list[Answer] | BadAnswer = field(default_factory=list)
    error: BaseException | None = None


class ThreadAsker(Asker):
    """Asks a policy of this process in a thread."""

    def __init__(self, policy: Policy, names: ActionNames, *, best_batch: int, warnings: list[str]) -> None:
        self.policy = policy
        self.best_batch = best_batch
        self.warnings = warnings
        self._names = names
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        weakref.finalize(self, self._jobs.put, None)

    def ask(
        self, states: StateBatch, *, seconds: float | None, budget: Budget | None
    ) -> list[Answer] | BadAnswer:
        """Waits for the thread."""
        if self._thread is None or not self._thread.is_alive():  # A fork leaves threads behind.
            # A daemon, so that a policy that hangs does not keep the program from ending.
            self._thread = threading.Thread(
                target=_work_off, args=(self._jobs,), name="misstep-policy", daemon=True
            )
            self._thread.start()
        job = _Job(lambda: ask_policy(self.policy, self._names, states))
        self._jobs.put(job)
        if not any(job.done.wait(wait) for wait in waits(seconds, budget)):
            raise Overdue(is_lost=True)
        if job.error is not None:
            raise job.error
        return job.result


def _work_off(jobs: "SimpleQueue[_Job | None]") -> None:
    while (job := jobs.get()) is not None:
        try:
            job.result = job.work()
        except BaseException as error:  # Whatever user code raises, SystemExit too, belongs to the caller.
            job.error = error
        job.done.set()
        del job  # Or the states of the last call would live until the next one.
