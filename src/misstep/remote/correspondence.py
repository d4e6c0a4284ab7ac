"""How a task here and a policy server's own version of it correspond, by the names of facts and actions."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from misstep._core import Action, State, StateBatch
from misstep.answers.answer import BadAnswer
from misstep.errors import PolicyError
from misstep.task import Task

_ADVICE = "test on the server's own task instead (`remote_task`)"

_Facts: TypeAlias = NDArray[np.bool_]
_Test: TypeAlias = Callable[[_Facts], _Facts]


class Correspondence:
    """States of the task here as values of the server's variables, its operators as actions here.

    Both may come from different translations of one problem: other variables, another order, constant and
    unimportant facts left out. Each fact of the server is looked up by its atom; an atom that is no fact here
    is true where it holds in every state and false otherwise. Operators are actions of the same name. Initial
    state and goal must be the same; PolicyError says what is not.
    """

    def __init__(self, here: Task, there: Task, *, source: str) -> None:
        self._here = here
        self._there = there
        self._source = source
        self._same = here.sas == there.sas
        self._starts = np.concatenate(([0], np.cumsum(here.domain_sizes)[:-1])).astype(np.int64)
        self._num_facts = int(sum(here.domain_sizes))
        self.operator_names = [operator.name for operator in there.actions]
        self._actions: dict[str, Action] = {}
        self._tests: list[list[_Test]] = []
        if not self._same:
            self._match()

    def values(self, states: StateBatch) -> NDArray[np.int32]:
        """One row a state: its values in the server's task."""
        if self._same:
            return states.values
        holds = np.zeros((len(states), self._num_facts), dtype=np.bool_)
        holds[np.arange(len(states))[:, None], self._starts + states.values] = True
        result = np.empty((len(states), len(self._tests)), dtype=np.int32)
        for variable, tests in enumerate(self._tests):
            truth = np.stack([test(holds) for test in tests], axis=1)
            wrong = truth.sum(axis=1) != 1
            if wrong.any():
                facts = _facts_of(self._there, variable)
                state = states[int(wrong.argmax())]
                raise PolicyError(
                    f"{self._source}: the state {state} cannot be written in the server's task, where "
                    f"exactly one of these holds: {facts}; {_ADVICE}"
                )
            result[:, variable] = truth.argmax(axis=1)
        return result

    def action(self, state: State, operator: int) -> Action | BadAnswer:
        """The action here that an operator of the server stands for."""
        if not 0 <= operator < len(self.operator_names):
            return BadAnswer(
                f"the server answered operator {operator}; its task has the operators 0 to "
                f"{len(self.operator_names) - 1}",
                "illegal",
            )
        if self._same:
            return self._here.actions[operator]
        name = self.operator_names[operator]
        action = self._actions.get(name)
        if action is None:  # The translator here found it unreachable, or without effect.
            return BadAnswer(f"the server answered {name}, which is no action of the task here", "illegal")
        return self._here.meant(state, action)

    def _match(self) -> None:
        self._actions = {action.name: action for action in self._here.actions}
        names = self.operator_names
        if names and not any(name in self._actions for name in names):
            raise self._refusal(f"none of its {len(names)} operators is an action here, such as {names[0]}")
        column = _columns(self._here)
        view = self._here.pddl
        constant = set() if view is None else {view.text(atom) for atom in view.static_atoms}
        for variable, size in enumerate(self._there.domain_sizes):
            facts = [self._there.fact_name(variable, value) for value in range(size)]
            self._tests.append(_tests(facts, column, constant))
        self._compare_ends()

    def _compare_ends(self) -> None:
        start = self.values(self._here.batch([self._here.initial_state]))[0].tolist()
        for variable, (value, theirs) in enumerate(zip(start, self._there.initial_state.values, strict=True)):
            if value != theirs:
                ours = _fact(self._there, variable, value)
                raise self._refusal(
                    f"the initial states differ: {_fact(self._there, variable, theirs)} there, {ours} here"
                )
        goals = [{_fact(task, *fact) for fact in task.goal} for task in (self._there, self._here)]
        if goals[0] != goals[1]:
            example = min(goals[0] ^ goals[1])
            raise self._refusal(
                f"the goals differ: {example} is a goal only {'there' if example in goals[0] else 'here'}"
            )

    def _refusal(self, reason: str) -> PolicyError:
        return PolicyError(
            f"{self._source}: the server's task and {self._here.source} do not correspond: {reason}; "
            f"{_ADVICE}"
        )


def _columns(task: Task) -> dict[str, int]:
    """The atoms of a task with their place in the list of all its facts."""
    columns: dict[str, int] = {}
    at = 0
    for variable, size in enumerate(task.domain_sizes):
        for value in range(size):
            name = task.fact_name(variable, value)
            if name is not None and not name.startswith("(not "):
                columns.setdefault(name, at)
            at += 1
    return columns


def _tests(names: Sequence[str | None], column: Mapping[str, int], constant: set[str]) -> list[_Test]:
    """For each value of a variable whether it is the right one, given the facts that hold here."""

    def atom(name: str) -> _Test:
        if name in column:
            at = column[name]
            return lambda holds: holds[:, at]
        always = name in constant
        return lambda holds: np.full(len(holds), always)

    atoms = [atom(name) for name in names if name is not None and not name.startswith("(not ")]

    def none_of_those(holds: _Facts) -> _Facts:
        found = np.zeros(len(holds), dtype=np.bool_)
        for test in atoms:
            found |= test(holds)
        return ~found

    def negated(name: str) -> _Test:
        test = atom(name.removeprefix("(not ").removesuffix(")"))
        return lambda holds: ~test(holds)

    return [
        none_of_those if name is None else negated(name) if name.startswith("(not ") else atom(name)
        for name in names
    ]


def _fact(task: Task, variable: int, value: int) -> str:
    name = task.fact_name(variable, value)
    return name if name is not None else f"none of {_facts_of(task, variable)}"


def _facts_of(task: Task, variable: int) -> str:
    names = [task.fact_name(variable, value) for value in range(task.domain_sizes[variable])]
    shown = [name for name in names if name is not None][:6]
    return ", ".join(shown) + (", ..." if len(names) > 6 else "")
