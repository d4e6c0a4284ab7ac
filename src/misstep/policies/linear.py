"""`linear:FILE.json`: generalised linear policies, which score actions by a few lifted features."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misstep._core import Action, Heuristic, State, StateBatch
from misstep.errors import InputError, PolicyError
from misstep.formats.sexp import Source
from misstep.support.suggest import did_you_mean
from misstep.task import Task

FORMAT = "misstep-linear-1"

FEATURES = {
    "any": "1 for every action",
    "achieves": "how many goal facts it makes true",
    "destroys": "how many goal facts it makes false",
    "relaxed": "1 where it is in the relaxed plan of h^FF",
    "spoils": "how many actions of that plan are applicable before it and not after it",
    "cost": "its cost",
    "closer": "1 where h^FF is smaller after it",
    "further": "1 where h^FF is larger after it",
}
"""What is asked of every applicable action, in this order. Each schema has its own weight for each."""
# Larger weights could add up to infinities, and their differences to no number at all.
_MAX_WEIGHT = 1e100


@dataclass(frozen=True)
class Linear:
    """The applicable action with the highest weighted sum of features, by name on ties; weights as JSON.

    The features look at the goal, the relaxed plan of h^FF and the successor, never at single objects: one
    file serves every task of its domain. `python -m misstep.training.imitation` trains such files.
    """

    file: Path = field(metadata={"help": "the weights, JSON"})

    def bind(self, task: Task, /) -> "LinearPolicy":
        """Reads the weights; PolicyError where the task has a schema that they do not have."""
        return LinearPolicy(task, read_weights(self.file), source=str(self.file))


def schema_of(action: Action) -> str:
    """The first word of an action's name."""
    return action.name.strip("()").split(" ", 1)[0]


class ActionFeatures:
    """The features of all applicable actions of a state, for one task."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._heuristic = Heuristic(task, "ff")
        self._goal = dict(task.goal)
        self._conditions = [dict(action.precondition) for action in task.actions]
        self._effects = [action.effect for action in task.actions]
        self._spoils: dict[tuple[int, int], bool] = {}

    def __call__(self, states: StateBatch, /) -> list[tuple[list[Action], NDArray[np.float64]]]:
        """For each state its applicable actions by name, and a row of features for each of them.

        All successors are evaluated in one native call; values never depend on which states come together.
        """
        found = [sorted(self._task.successors(state), key=_by_name) for state in states]
        after = [successor for successors in found for _, successor in successors]
        before = self._heuristic.evaluate(states)
        estimates = self._heuristic.evaluate(self._task.batch(after)) if after else np.zeros(0)
        rows, at = [], 0
        for state, successors, here in zip(states, found, before, strict=True):
            actions = [action for action, _ in successors]
            there = estimates[at : at + len(actions)]
            at += len(actions)
            rows.append((actions, self._table(state, actions, there < here, there > here)))
        return rows

    def _table(
        self, state: State, actions: list[Action], closer: NDArray[np.bool_], further: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        values = state.values
        relaxed = {action.index for action in self._heuristic.relaxed_plan(state) or ()}
        ready = [action.index for action in actions if action.index in relaxed]
        table = np.zeros((len(actions), len(FEATURES)))
        for row, action in enumerate(actions):
            index = action.index
            changed = [(v, new) for v, new in self._effects[index] if v in self._goal and values[v] != new]
            table[row, :6] = (
                1,
                sum(self._goal[variable] == new for variable, new in changed),
                sum(self._goal[variable] == values[variable] for variable, _ in changed),
                index in relaxed,
                sum(self._does_spoil(index, other) for other in ready if other != index),
                action.cost,
            )
        table[:, 6], table[:, 7] = closer, further
        return table

    def _does_spoil(self, first: int, second: int) -> bool:
        """Whether the first action makes the second inapplicable."""
        known = self._spoils.get((first, second))
        if known is None:
            needs = self._conditions[second]
            known = any(needs.get(variable, new) != new for variable, new in self._effects[first])
            self._spoils[first, second] = known
        return known


class LinearPolicy:
    """The applicable action with the highest score, the first by name on ties."""

    def __init__(self, task: Task, weights: Mapping[str, Mapping[str, float]], *, source: str) -> None:
        self.task = task
        self._features = ActionFeatures(task)
        schemas = sorted({schema_of(action) for action in task.actions})
        if missing := [name for name in schemas if name not in weights]:
            raise PolicyError(
                f"{source}: no weights for the action schema `{missing[0]}` of {task.source}; there are some "
                f"for {', '.join(sorted(weights)) or 'none'}: give a task of the domain it was trained on"
            )
        rows = {name: [weights[name].get(feature, 0.0) for feature in FEATURES] for name in schemas}
        self._weights = np.array([rows[schema_of(action)] for action in task.actions], np.float64)

    def __call__(self, states: StateBatch, /) -> list[Action | None]:
        """The best action of each state."""
        answers: list[Action | None] = []
        for actions, scores in self.scores(states):
            answers.append(actions[int(scores.argmax())] if actions else None)
        return answers

    def scores(self, states: StateBatch, /) -> list[tuple[list[Action], NDArray[np.float64]]]:
        """For each state its applicable actions by name, and their scores."""
        return [
            (actions, weighted(self._weights[[action.index for action in actions]], table))
            for actions, table in self._features(states)
        ]


def weighted(weights: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of each row, added up from left to right: a product of matrices may add in another order."""
    total = np.zeros(len(table))
    for column in range(table.shape[1]):
        total += weights[:, column] * table[:, column]
    return total


def read_weights(path: str | Path) -> dict[str, dict[str, float]]:
    """The weights of a file by schema and feature; what is not there is 0. InputError for a bad file."""
    source = Source.read(path, kind="linear policy")
    try:
        content = json.loads(source.text)
    except json.JSONDecodeError as error:
        raise source.error(error.pos, f"this is not JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: this JSON cannot be read: {error}") from None
    given = content.get("format") if isinstance(content, dict) else None
    if given != FORMAT:
        raise InputError(f'{path}: no linear policy: `"format": "{FORMAT}"` was expected, not {given!r}')
    weights = content.get("weights")
    if not isinstance(weights, dict) or not all(isinstance(row, dict) for row in weights.values()):
        raise InputError(
            f'{path}: its weights are written {{"weights": {{"SCHEMA": {{"FEATURE": number, ...}}, ...}}}}'
        )
    return {
        schema.lower(): {
            name: _weight(name, value, f"{path}: weights of `{schema}`") for name, value in row.items()
        }
        for schema, row in weights.items()
    }


def _weight(name: str, value: Any, where: str) -> float:
    if name not in FEATURES:
        hint = did_you_mean(name, FEATURES) or f"features: {', '.join(FEATURES)}"
        raise InputError(f"{where}: unknown feature `{name}`; {hint}")
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _MAX_WEIGHT:
        raise InputError(f"{where}: the weight of `{name}` is {json.dumps(value)}; write a finite number")
    return float(value)


def _by_name(successor: tuple[Action, State]) -> str:
    return successor[0].name
