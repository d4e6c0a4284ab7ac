"""Policies for JANI models in a process of their own: Python functions, and networks of any kind."""

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misstep._core import SafetyPolicy
from misstep.answers.answer import shown
from misstep.answers.asking import Ended, Overdue
from misstep.budget import Budget
from misstep.config import Config
from misstep.errors import LimitReached, PolicyError
from misstep.formats.nnet import read_interface
from misstep.isolation.host import Host
from misstep.safety.model import SafetyTask, StateDict
from misstep.safety.policy import (
    Onnx,
    PolicyFunction,
    Python,
    function_policy,
    network_of,
    network_policy,
    policy_part,
    read_scores,
)
from misstep.safety.recheck import Remembered
from misstep.support.describe import describe_error


@dataclass(frozen=True, slots=True)
class OpenedPolicy:
    """A policy on a model, the process that it lives in if that is not ours, and what notices random answers."""

    policy: SafetyPolicy
    host: Host | None = None
    remembered: Remembered | None = None


def open_function(function: PolicyFunction, task: SafetyTask, *, host: Host | None = None) -> OpenedPolicy:
    """A function, here or behind a process."""
    remembered = Remembered(function)
    return OpenedPolicy(function_policy(remembered, task), host, remembered)


def open_policy(config: Config, task: SafetyTask, *, budget: Budget) -> OpenedPolicy:
    """The policy that a configuration names, in a process of its own where that is wanted.

    Functions and ONNX networks, which run other people's code, do so by default; every other kind on demand.
    """
    part = policy_part(config.policy)
    by_default = isinstance(part, Python | Onnx)
    if not (by_default if config.isolate is None else config.isolate):
        if isinstance(part, Python):
            return open_function(part.load(), task)
        return OpenedPolicy(part.bind(task, filter=config.filter))
    host = Host()
    try:
        if isinstance(part, Python):
            host.open(FunctionService(part.function), memory_mb=config.memory_mb, budget=budget)
            return open_function(IsolatedFunction(host, config.call_seconds, budget), task, host=host)
        file, activation = network_of(part)
        host.open(ScoresService(str(file.absolute()), activation), memory_mb=config.memory_mb, budget=budget)
        scores = IsolatedScores(host, config.call_seconds, budget)
        return OpenedPolicy(network_policy(file, task, filter=config.filter, scores=scores), host)
    except BaseException:
        host.close()
        raise


@dataclass(frozen=True, slots=True)
class FunctionService:
    """What travels to the process: the function by name."""

    function: str

    def open(self) -> tuple[dict[str, Any], Callable[[bytes], bytes]]:
        """Imports the function."""
        function = Python(self.function).load()

        def answer(question: bytes) -> bytes:
            try:
                label = function(*pickle.loads(question))
            except BaseException as error:  # SystemExit and KeyboardInterrupt are the policy's failures, too.
                return json.dumps({"error": f"the policy raised {describe_error(error)}"}).encode()
            if label is not None and not isinstance(label, str):
                said = f"the policy answered {shown(label)}; answer with a label, or None"
                return json.dumps({"error": said}).encode()
            return json.dumps({"label": label}).encode()

        return {}, answer


@dataclass(frozen=True, slots=True)
class ScoresService:
    """What travels to the process: the `.jani2nnet` file of a network. Rows of numbers go in, others come back."""

    file: str
    activation: str | None

    def open(self) -> tuple[dict[str, Any], Callable[[bytes], bytes]]:
        """Reads the network."""
        interface = read_interface(Path(self.file))
        scores = read_scores(interface, self.activation)

        def answer(question: bytes) -> bytes:
            row = np.frombuffer(question, np.float64).reshape(1, -1)
            return np.ascontiguousarray(scores(row)[0], np.float64).tobytes()

        return {}, answer


@dataclass(slots=True)
class _Asking:
    """Asks the process; a failure is a PolicyError, which ends the run as failed."""

    host: Host
    call_seconds: float
    budget: Budget

    def ask(self, question: bytes) -> bytes:
        try:
            return self.host.ask(question, seconds=self.call_seconds, budget=self.budget)
        except Ended as ended:
            raise PolicyError(str(ended)) from None
        except Overdue:
            if (limit := self.budget.over) in ("seconds", "stopped"):
                raise LimitReached("the time was up while the policy was asked", str(limit)) from None
            raise PolicyError(f"the policy gave no answer within {self.call_seconds:g} seconds") from None


@dataclass(slots=True)
class IsolatedFunction(_Asking):
    """A function in another process."""

    def __call__(self, state: StateDict, labels: tuple[str, ...], /) -> str | None:
        """The label that the function chose."""
        answer = json.loads(self.ask(pickle.dumps((state, labels))))
        if "error" in answer:
            raise PolicyError(answer["error"])
        label: str | None = answer["label"]
        return label


@dataclass(slots=True)
class IsolatedScores(_Asking):
    """A network in another process."""

    def __call__(self, row: NDArray[np.float64], /) -> NDArray[np.float64]:
        """The scores of one state, given and returned as a table of one row."""
        return np.frombuffer(self.ask(row.tobytes()), np.float64).reshape(1, -1)
