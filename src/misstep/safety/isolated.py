"""Python functions as policies for JANI models, in a process of their own."""

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from misstep._core import SafetyPolicy
from misstep.answers.asking import Ended, Overdue
from misstep.budget import Budget
from misstep.config import Config
from misstep.errors import InputError, LimitReached, PolicyError
from misstep.isolation.host import Host
from misstep.policies.python import find_object
from misstep.safety.model import SafetyTask, StateDict
from misstep.safety.policy import Python, function_policy, policy_part
from misstep.support.describe import describe_error


def open_policy(config: Config, task: SafetyTask, *, budget: Budget) -> SafetyPolicy:
    """The policy that a configuration names, in a process of its own where that is wanted."""
    part = policy_part(config.policy)
    is_function = isinstance(part, Python)
    if config.isolate and not is_function:
        raise InputError(
            f"policy `{config.policy}`: on JANI models only python: policies live in a process of their own; "
            "leave `isolate` out"
        )
    if isinstance(part, Python) and config.isolate is not False:
        host = Host()
        host.open(FunctionService(part.function), memory_mb=config.memory_mb, budget=budget)
        return function_policy(IsolatedFunction(host, config.call_seconds, budget), task)
    return part.bind(task, filter=config.filter)


@dataclass(frozen=True, slots=True)
class FunctionService:
    """What travels to the process: the function by name."""

    function: str

    def open(self) -> tuple[dict[str, Any], Callable[[bytes], bytes]]:
        """Imports the function."""
        function = find_object(self.function)
        if not callable(function):
            raise PolicyError(f"python:{self.function}: that is no function of (state, applicable labels)")

        def answer(question: bytes) -> bytes:
            try:
                label = function(*pickle.loads(question))
            except BaseException as error:  # SystemExit and KeyboardInterrupt are the policy's failures, too.
                return json.dumps({"error": f"the policy raised {describe_error(error)}"}).encode()
            if label is not None and not isinstance(label, str):
                return json.dumps({"error": f"the policy answered {label!r:.80}, which is no label"}).encode()
            return json.dumps({"label": label}).encode()

        return {}, answer


@dataclass(slots=True)
class IsolatedFunction:
    """Asks the process; a failure is a PolicyError, which ends the run as failed."""

    host: Host
    call_seconds: float
    budget: Budget

    def __call__(self, state: StateDict, labels: tuple[str, ...], /) -> str | None:
        """The label that the function chose."""
        question = pickle.dumps((state, labels))
        try:
            answer = json.loads(self.host.ask(question, seconds=self.call_seconds, budget=self.budget))
        except Ended as ended:
            raise PolicyError(str(ended)) from None
        except Overdue:
            if (limit := self.budget.over) in ("seconds", "stopped"):
                raise LimitReached("the time was up while the policy was asked", str(limit)) from None
            raise PolicyError(f"the policy gave no answer within {self.call_seconds:g} seconds") from None
        if "error" in answer:
            raise PolicyError(answer["error"])
        label: str | None = answer["label"]
        return label
