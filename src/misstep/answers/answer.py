"""What a policy may answer for a state, and how it is read: an action, its name, nothing; else the reason."""

import math
import numbers
import reprlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, cast

from misstep._core import Action, State
from misstep.task import Task

HOW_TO_ANSWER = "answer with an Action (task.actions[index] or task.action(name)), its name, or None"
_MAX_PROBABILITY = 1 + 1e-6
"""Sums in single precision may come out a little above 1."""


@dataclass(frozen=True, slots=True)
class BadAnswer:
    """An answer that is no action of the task, with the reason.

    `failed`: the policy gave no decision, so nothing follows about it. `illegal`: it decided, but named an
    action that the task does not have.
    """

    reason: str
    outcome: Literal["failed", "illegal"] = "failed"


Answer: TypeAlias = Action | BadAnswer | None

NO_NUMBER = BadAnswer("the network's output is not a number")
"""What native networks answer then."""
NO_SUCH_ACTION = BadAnswer("the policy chose an action that the task does not have", "illegal")
"""What native networks answer that know more actions than the task, such as those that change nothing."""


def bad_answer(reason: str, *, outcome: Literal["failed", "illegal"] = "failed") -> Action:
    """A `BadAnswer` in the place of an action, so that policies keep their simple type."""
    return cast(Action, BadAnswer(reason, outcome))


class ActionNames:
    """The actions of a task by name, written as in PDDL: case and blanks do not matter, nor the brackets.

    Where the translator split an action into several of its name, all of them are this action: an answer means
    the one that applies (`Task.meant`), however it names the action.
    """

    def __init__(self, task: Task) -> None:
        self.task = task

    @cached_property
    def _by_name(self) -> dict[str, Action]:
        return {action.name: action for action in self.task.actions}

    @property
    def depend_on_state(self) -> bool:
        """Whether which action is meant depends on the state."""
        return self.task.has_splits

    def find(self, name: str, state: State) -> Action | None:
        """The action of this name, None where there is none."""
        found = self._by_name.get("(" + " ".join(name.strip().strip("()").lower().split()) + ")")
        return None if found is None else self.task.meant(state, found)

    def own(self, action: Action, state: State | None = None) -> Action | BadAnswer:
        """The action that is meant, if it is one of the task's; the state is needed where that depends on it."""
        actions = self.task.actions
        if action.index >= len(actions) or action != actions[action.index]:
            return BadAnswer(f"the policy answered {action.name}, an action of another task", "illegal")
        return action if state is None else self.task.meant(state, action)

    def unknown(self, name: str) -> BadAnswer:
        """The answer with a name that no action has."""
        like = next(iter(self._by_name), "(move a b)")
        return BadAnswer(
            f"the policy answered {shown(name)}, which is no action of the task; actions are written like "
            f"{like}",
            "illegal",
        )


def read_answer(answer: object, state: State, names: ActionNames) -> Answer:
    """The action that a policy's answer for a state stands for, None for nothing, or why there is none."""
    if answer is None or isinstance(answer, BadAnswer):
        return answer
    if isinstance(answer, Action):
        return names.own(answer, state)
    if isinstance(answer, str):
        return names.find(answer, state) or names.unknown(answer)
    if isinstance(answer, Mapping):
        return BadAnswer(
            f"the policy answered {shown(answer)}, as if with probabilities; misstep tests deterministic "
            "policies: to test the likeliest action, say so (`python:FILE.py:NAME,argmax=true`, or "
            f"misstep.argmax(policy)); else {HOW_TO_ANSWER}"
        )
    if isinstance(answer, numbers.Integral) and not isinstance(answer, bool):
        return BadAnswer(
            f"the policy answered the number {shown(answer)}, which may count all actions or the applicable "
            f"ones; {HOW_TO_ANSWER}"
        )
    return BadAnswer(f"the policy answered {shown(answer)}; {HOW_TO_ANSWER}")


def likeliest(answer: object, state: State, names: ActionNames) -> Answer:
    """The action with the highest of the probabilities that a policy answered, the first of equals.

    Nothing where no action has a probability above 0. Other answers are read as those of any policy.
    """
    if not isinstance(answer, Mapping):
        return read_answer(answer, state, names)
    sums: defaultdict[Action | BadAnswer, float] = defaultdict(float)
    for key, value in answer.items():
        probability = _probability(value)
        if probability is None:
            return BadAnswer(
                f"the policy gave {shown(key)} the probability {shown(value)}; it is a number from 0 to 1"
            )
        action = read_answer(key, state, names)
        if action is None or (isinstance(action, BadAnswer) and action.outcome == "failed"):
            return BadAnswer(
                f"the policy gave a probability to {shown(key)}; give it to Actions or their names"
            )
        sums[action] += probability
    best = max(sums.values(), default=0.0)
    if best == 0:
        return None
    # Names without an action come last among equals: they have no number.
    return min(
        (action for action, probability in sums.items() if probability == best),
        key=lambda action: action.index if isinstance(action, Action) else math.inf,
    )


def _probability(value: object) -> float | None:
    if isinstance(value, str | bytes | bool):
        return None
    try:
        number = float(cast(float, value))  # numpy's numbers and tensors with one number will do
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return None
    return number if 0 <= number <= _MAX_PROBABILITY else None  # None for NaN too


def shown(value: object) -> str:
    """A value of the user's code in few words, with its type; never raises."""
    try:
        text = reprlib.repr(value)
    except Exception:
        text = "something that cannot be shown"
    return "None" if value is None else f"{text} ({type(value).__name__})"
