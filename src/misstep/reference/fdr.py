"""Finite-domain tasks straight from their definition: read SAS text, apply actions, check a plan."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

State = tuple[int, ...]
Facts = Mapping[int, int]


@dataclass(frozen=True)
class Action:
    """A partial state that must hold and a partial state that is written over the current one."""

    name: str
    precondition: Facts
    effect: Facts
    cost: int

    def applicable(self, state: State) -> bool:
        """Whether the precondition is part of the state."""
        return holds(self.precondition, state)

    def apply(self, state: State) -> State:
        """The state after the action; ValueError where it is not applicable."""
        if not self.applicable(state):
            raise ValueError(f"{self.name} is not applicable")
        return tuple(self.effect.get(variable, value) for variable, value in enumerate(state))


@dataclass(frozen=True)
class Task:
    """`facts[variable][value]` is a PDDL atom, `(not ...)` around one, or None for "none of those"."""

    facts: tuple[tuple[str | None, ...], ...]
    initial: State
    goal: Facts
    actions: tuple[Action, ...]

    def is_goal(self, state: State) -> bool:
        """Whether the goal is part of the state."""
        return holds(self.goal, state)

    def successors(self, state: State) -> list[tuple[Action, State]]:
        """Every applicable action, in the order of the file, and where it leads."""
        return [(action, action.apply(state)) for action in self.actions if action.applicable(state)]

    def atoms(self, state: State) -> frozenset[str]:
        """The positive atoms that hold."""
        names = (self.facts[variable][value] for variable, value in enumerate(state))
        return frozenset(name for name in names if name is not None and not name.startswith("(not "))


def holds(facts: Facts, state: State) -> bool:
    """Whether a partial state is part of a state."""
    return all(state[variable] == value for variable, value in facts.items())


def validate(task: Task, state: State, plan: Iterable[str]) -> int:
    """The cost of a plan, given by action names, from a state to a goal state; ValueError if it is none."""
    cost = 0
    for name in plan:
        state, spent = step(task, state, name)
        cost += spent
    if not task.is_goal(state):
        raise ValueError("the plan ends in a state that is not a goal state")
    return cost


def step(task: Task, state: State, name: str) -> tuple[State, int]:
    """The state after the action of this name, and its cost; ValueError where it is not applicable.

    Where actions share a name (the translator splits disjunctions), the applicable ones must agree in effect.
    """
    choice = [action for action in task.actions if action.name == name and action.applicable(state)]
    if not choice:
        raise ValueError(f"{name} is not applicable")
    if len({action.apply(state) for action in choice}) > 1:
        raise ValueError(f"{name} is ambiguous")
    return choice[0].apply(state), min(action.cost for action in choice)


def parse(text: str) -> Task:
    """Read SAS version 3; ValueError where the text breaks the format.

    Axioms and conditional effects are refused. Without a metric every action costs 1.
    """
    names = ("version", "metric", "variable", "mutex_group", "state", "goal", "operator")
    text = "\n".join(line.strip() for line in text.split("\n"))
    block = re.compile(rf"^begin_({'|'.join(names)})\n(.*?)^end_\1$", re.M | re.S)
    found = [(kind, body.splitlines()) for kind, body in block.findall(text)]
    blocks = {name: [lines for kind, lines in found if kind == name] for name in names}
    counts = block.sub("", text).split()
    variables, groups, operators = blocks["variable"], blocks["mutex_group"], blocks["operator"]
    if counts != [str(len(variables)), str(len(groups)), str(len(operators)), "0"]:  # no axioms
        raise ValueError("the numbers of variables, mutex groups, operators and axioms do not fit the text")
    (version,), (metric,), (state,), (goal,) = map(blocks.__getitem__, ("version", "metric", "state", "goal"))
    if version != ["3"] or metric not in (["0"], ["1"]):
        raise ValueError("version 3 and a metric of 0 or 1 expected")
    facts = tuple(tuple(_atom(atom) for atom in atoms) for _, _, _, *atoms in variables)
    if any(layer != "-1" or int(size) != len(atoms) for _, layer, size, *atoms in variables):
        raise ValueError("a variable of an axiom, or with another number of values than it says")
    initial = tuple(int(value) for value in state)
    _partial([*enumerate(initial)], facts)
    if len(initial) != len(facts) or any(int(size) != len(pairs) for size, *pairs in groups):
        raise ValueError("a state or a mutex group of the wrong length")
    actions = tuple(_action(lines, facts, metric=metric == ["1"]) for lines in operators)
    return Task(facts, initial, _partial(_rows(goal, 2), facts), actions)


def _rows(lines: Sequence[str], width: int) -> list[tuple[int, ...]]:
    """The rows of integers that follow their number."""
    count, *rest = lines
    rows = [tuple(int(word) for word in line.split()) for line in rest]
    if int(count) != len(rows) or any(len(row) != width for row in rows):
        raise ValueError(f"{count} rows of {width} integers expected, not {rest}")
    return rows


def _partial(pairs: Iterable[tuple[int, ...]], domains: Sequence[Sequence[Any]]) -> Facts:
    """A partial state."""
    facts: dict[int, int] = {}
    for variable, value in pairs:
        if not (0 <= variable < len(domains) and 0 <= value < len(domains[variable])):
            raise ValueError(f"there is no value {value} of variable {variable}")
        if facts.setdefault(variable, value) != value:
            raise ValueError(f"two values for variable {variable}")
    return facts


def _action(lines: Sequence[str], domains: Sequence[Sequence[Any]], *, metric: bool) -> Action:
    name, size, *rest = lines
    count, cost = int(size), int(lines[-1])
    effects = _rows(rest[count:-1], 4)  # conditions would make a row longer
    required = _rows([size, *rest[:count]], 2)
    required += [(variable, before) for _, variable, before, _ in effects if before != -1]
    effect = _partial([(variable, after) for _, variable, _, after in effects], domains)
    if cost < 0:
        raise ValueError(f"{name} has a negative cost")
    return Action(f"({name})", _partial(required, domains), effect, cost if metric else 1)


def _atom(text: str) -> str | None:
    """`Atom on(a, b)` becomes `(on a b)`."""
    kind, _, atom = text.partition(" ")
    if kind not in ("Atom", "NegatedAtom"):
        return None
    name, _, arguments = atom.rstrip(")").partition("(")
    pddl = f"({' '.join([name, *arguments.replace(',', ' ').split()])})"
    return pddl if kind == "Atom" else f"(not {pddl})"
