"""Asks a Python function twice about states of a model: is it random now and then?"""

import time
from dataclasses import dataclass, field
from typing import Any

from misstep.answers.recheck import ENOUGH, KEPT, LEAST_SECONDS, how_sure
from misstep.budget import Budget
from misstep.errors import MisstepError
from misstep.safety.model import StateDict
from misstep.safety.policy import PolicyFunction
from misstep.support.describe import cut, describe_error


@dataclass(slots=True)
class Remembered:
    """A policy that remembers some of its answers. The game asks once a state and keeps to the answer."""

    function: PolicyFunction
    compared: int = 0
    _answers: list[tuple[StateDict, tuple[str, ...], str | None]] = field(default_factory=list)

    def __call__(self, state: StateDict, labels: tuple[str, ...], /) -> str | None:
        """What the function says."""
        answer = self.function(state, labels)
        if len(self._answers) < KEPT:
            self._answers.append((state, labels, answer))
        return answer

    def ask_again(self, budget: Budget) -> str | None:
        """What to warn of where an answer differs; a slow or failing policy is not asked for long."""
        begin, at = time.perf_counter(), 0
        while self._answers and self.compared < ENOUGH and not budget.is_over:
            if time.perf_counter() - begin > LEAST_SECONDS:
                return None
            state, labels, before = self._answers[at % len(self._answers)]
            at += 1
            try:
                answer = self.function(state, labels)
            except MisstepError:
                return None
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                return f"the policy raised {describe_error(error)} when it was asked again"
            self.compared += 1
            if answer != before:
                return (
                    f"the policy is not deterministic: in the state {cut(str(state))} it first chose {before}, "
                    f"later {answer}; what was found holds for its first answer in each state"
                )
        return None

    def as_json(self) -> dict[str, Any]:
        """How sure one can be that the policy is not random."""
        return how_sure(self.compared)
