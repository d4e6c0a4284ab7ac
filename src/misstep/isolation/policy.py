"""A policy on a classical task in a process of its own."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from misstep._core import Action, Budget, NativePolicy, StateBatch
from misstep.answers.answer import ActionNames, Answer, BadAnswer
from misstep.answers.asking import Asker, ask_policy
from misstep.answers.guard import best_batch_of, warnings_of
from misstep.errors import PolicyError
from misstep.isolation.host import Host
from misstep.plugins import make_policy_part
from misstep.policy import bind_policy
from misstep.support.describe import describe_error
from misstep.task import Task

_NOTHING, _BAD = -1, -2
_GIVEN, _NONE_GIVEN, _GIVEN_UP = b"a", b"x", b"d"


@dataclass(frozen=True, slots=True)
class PolicyService:
    """What travels to the process: the task, and the policy by name."""

    task: Task
    policy: str

    def open(self) -> tuple[dict[str, Any], Callable[[bytes], bytes]]:
        """Binds the policy to the task."""
        policy = bind_policy(make_policy_part(self.policy), self.task)
        names = ActionNames(self.task)
        about = {
            "best_batch": None if isinstance(policy, NativePolicy) else best_batch_of(policy),
            "warnings": warnings_of(policy),
        }

        def answer(question: bytes) -> bytes:
            values = np.frombuffer(bytearray(question), dtype=np.int32)
            states = StateBatch(self.task, values.reshape(-1, self.task.num_variables))
            try:
                return _written(ask_policy(policy, names, states))
            except PolicyError as error:
                return _GIVEN_UP + str(error).encode()
            except BaseException as error:  # SystemExit and KeyboardInterrupt are the policy's failures, too.
                return _written(BadAnswer(f"the policy raised {describe_error(error)}"))

        return about, answer


class IsolatedPolicy(Asker):
    """Asks a policy that lives in a process of its own."""

    def __init__(self, host: Host, task: Task, about: dict[str, Any]) -> None:
        self.host = host
        self.task = task
        self.best_batch = about["best_batch"] or _LARGE_BATCH
        self.warnings = [str(text) for text in about["warnings"]]
        self._answers = _Answers(task)

    @classmethod
    def open(
        cls,
        host: Host,
        task: Task,
        policy: str,
        *,
        memory_mb: float | None = None,
        budget: Budget | None = None,
    ) -> "IsolatedPolicy":
        """Loads the policy in the host's process; raises what loading it raises."""
        about = host.open(PolicyService(task, policy), memory_mb=memory_mb, budget=budget)
        return cls(host, task, about)

    def ask(
        self, states: StateBatch, *, seconds: float | None, budget: Budget | None
    ) -> list[Answer] | BadAnswer:
        """Asks the process."""
        question = np.ascontiguousarray(states.values, dtype=np.int32).tobytes()
        answer = self.host.ask(question, seconds=seconds, budget=budget)
        kind, data = answer[:1], answer[1:]
        if kind == _GIVEN_UP:
            raise PolicyError(data.decode(errors="replace"))
        if kind == _NONE_GIVEN:
            return BadAnswer(*json.loads(data))
        numbers = np.frombuffer(data, dtype=np.int32, count=len(states))
        bad = json.loads(data[numbers.nbytes :] or b"[]")
        answers = [self._answers[number] for number in numbers.tolist()]
        for at, reason, outcome in bad:
            answers[at] = BadAnswer(reason, outcome)
        return answers

    def words(self) -> str:
        """What the process printed last."""
        return self.host.words()


_LARGE_BATCH = 256
"""For native policies, which do not say what suits them."""


class _Answers(dict[int, Answer]):
    """What the numbers that travel stand for; actions are made when they are needed."""

    def __init__(self, task: Task) -> None:
        super().__init__({_NOTHING: None, _BAD: BadAnswer("the policy gave no answer")})
        self.actions = task.actions

    def __missing__(self, number: int) -> Answer:
        if not 0 <= number < len(self.actions):
            raise PolicyError(f"the policy's process answered {number}, which means nothing; it is broken")
        self[number] = self.actions[number]
        return self[number]


def _written(answers: list[Answer] | BadAnswer) -> bytes:
    if isinstance(answers, BadAnswer):
        return _NONE_GIVEN + json.dumps([answers.reason, answers.outcome]).encode()
    numbers = np.fromiter(map(_number, answers), dtype=np.int32, count=len(answers))
    written = _GIVEN + numbers.tobytes()
    if _BAD not in numbers:
        return written
    bad = [(at, one.reason, one.outcome) for at, one in enumerate(answers) if isinstance(one, BadAnswer)]
    return written + json.dumps(bad).encode()


def _number(answer: Answer) -> int:
    if answer is None:
        return _NOTHING
    return answer.index if isinstance(answer, Action) else _BAD
