"""What networks with one score for each action of a task share: the state as numbers, the best action."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from misstep._core import Action, StateBatch
from misstep.answers.answer import bad_answer
from misstep.errors import PolicyError
from misstep.task import Task

Encoder: TypeAlias = Callable[[StateBatch], NDArray[np.float32]]


def state_encoder(task: Task, width: int | None, *, source: str) -> Encoder:
    """The encoding for a network that takes `width` numbers a state (None: it takes any).

    One number for each fact (variable by variable, value by value, in the task's order), 1 where the fact
    holds and 0 elsewhere; or, where `width` is the number of variables, the value of each variable.
    """
    sizes = np.asarray(task.domain_sizes, dtype=np.int64)
    facts = int(sizes.sum())
    if width is None or width == facts:
        starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))

        def one_hot(states: StateBatch) -> NDArray[np.float32]:
            encoded = np.zeros((len(states), facts), dtype=np.float32)
            encoded[np.arange(len(states))[:, None], starts + states.values] = 1
            return encoded

        return one_hot
    if width == task.num_variables:
        return lambda states: states.values.astype(np.float32)
    raise PolicyError(
        f"{source}: the network takes {width} numbers a state, but this task has {facts} facts and "
        f"{task.num_variables} variables; it was made for another task or another encoding"
    )


def check_outputs(task: Task, width: int, *, source: str) -> None:
    """PolicyError unless the network gives one score for each action."""
    if width != len(task.actions):
        raise PolicyError(
            f"{source}: the network gives {width} scores a state, but this task has {len(task.actions)} "
            "actions; it was made for another task"
        )


def best_actions(task: Task, states: StateBatch, scores: NDArray[Any]) -> list[Action | None]:
    """The applicable action with the highest score, the first of equals.

    Nothing where no action is applicable, or none has a score above minus infinity. A score that is not a
    number makes the answer a failure with that reason; scores of inapplicable actions do not matter.
    """
    answers: list[Action | None] = []
    for state, row in zip(states, scores, strict=True):
        actions = task.applicable(state)
        if not actions:
            answers.append(None)
            continue
        candidates = row[[action.index for action in actions]]
        unknown = np.isnan(candidates)
        if unknown.any():
            worst = actions[int(unknown.argmax())].name
            answers.append(bad_answer(f"the network's score of {worst} is not a number"))
            continue
        best = int(candidates.argmax())
        answers.append(None if candidates[best] == -np.inf else actions[best])
    return answers
