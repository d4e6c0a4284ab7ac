"""Finite-domain tasks straight from their definition: read SAS text, apply actions, check a plan."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

State = tuple[int, ...]
Facts = Mapping[int, int]


class Refused(ValueError):
    """A file or a certificate is not what it says."""


def need(condition: bool, otherwise: str) -> None:
    """Refuse unless the condition holds."""
    if not condition:
        raise Refused(otherwise)


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
        need(self.applicable(state), f"{self.name} is not applicable")
        return tuple(self.effect.get(variable, value) for variable, value in enumerate(state))


@dataclass(frozen=True)
class Task:
    """`facts[variable][value]` is a PDDL atom, `(not ...)` around one, or None for "none of those"."""

    facts: tuple[tuple[str | None, ...], ...]
    initial: State
    goal: Facts
    actions: tuple[Action, ...]

    @cached_property
    def needing(self) -> Mapping[tuple[int, int], Sequence[int]]:
        """The numbers of actions, under every fact that they need."""
        found: dict[tuple[int, int], list[int]] = {}
        for number, action in enumerate(self.actions):
            for fact in action.precondition.items():
                found.setdefault(fact, []).append(number)
        return found

    def is_goal(self, state: State) -> bool:
        """Whether the goal is part of the state."""
        return holds(self.goal, state)

    def successors(self, state: State) -> list[tuple[Action, State]]:
        """Every applicable action, in the order of the file, and where it leads."""
        return [(action, action.apply(state)) for action in self.actions if action.applicable(state)]


def holds(facts: Facts, state: State) -> bool:
    """Whether a partial state is part of a state."""
    return all(state[variable] == value for variable, value in facts.items())


def validate(task: Task, state: State, plan: Iterable[str]) -> int:
    """The cost of a plan, given by action names, from a state to a goal state; ValueError if it is none."""
    cost = 0
    for name in plan:
        state, spent = step(task, state, name)
        cost += spent
    need(task.is_goal(state), "the plan ends in a state that is not a goal state")
    return cost


def step(task: Task, state: State, name: str) -> tuple[State, int]:
    """The state after the action of this name, and its cost; ValueError where it is not applicable.

    Where actions share a name (the translator splits disjunctions), the applicable ones must agree in effect.
    """
    choice = [action for action in task.actions if action.name == name and action.applicable(state)]
    agree = len({action.apply(state) for action in choice}) == 1
    need(agree, f"{name} is {'ambiguous' if choice else 'not applicable'}")
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
    expected = [str(len(variables)), str(len(groups)), str(len(operators)), "0"]  # no axioms
    need(
        counts == expected, "the numbers of variables, mutex groups, operators and axioms do not fit the text"
    )
    (version,), (metric,), (state,), (goal,) = map(blocks.__getitem__, ("version", "metric", "state", "goal"))
    need(version == ["3"] and metric in (["0"], ["1"]), "version 3 and a metric of 0 or 1 expected")
    facts = tuple(tuple(_atom(atom) for atom in atoms) for _, _, _, *atoms in variables)
    plain = all(layer == "-1" and int(size) == len(atoms) for _, layer, size, *atoms in variables)
    need(plain, "a variable of an axiom, or with another number of values than it says")
    initial = tuple(int(value) for value in state)
    _partial([*enumerate(initial)], facts)
    complete = len(initial) == len(facts) and all(int(size) == len(pairs) for size, *pairs in groups)
    need(complete, "a state or a mutex group of the wrong length")
    actions = tuple(_action(lines, facts, metric=metric == ["1"]) for lines in operators)
    return Task(facts, initial, _partial(_rows(goal, 2), facts), actions)


def _rows(lines: Sequence[str], width: int) -> list[tuple[int, ...]]:
    """The rows of integers that follow their number."""
    count, *rest = lines
    rows = [tuple(int(word) for word in line.split()) for line in rest]
    fits = int(count) == len(rows) and all(len(row) == width for row in rows)
    need(fits, f"{count} rows of {width} integers expected, not {rest}")
    return rows


def _partial(pairs: Iterable[tuple[int, ...]], domains: Sequence[Sequence[object]]) -> Facts:
    """A partial state."""
    facts: dict[int, int] = {}
    for variable, value in pairs:
        known = 0 <= variable < len(domains) and 0 <= value < len(domains[variable])
        need(known, f"there is no value {value} of variable {variable}")
        need(facts.setdefault(variable, value) == value, f"two values for variable {variable}")
    return facts


def _action(lines: Sequence[str], domains: Sequence[Sequence[object]], *, metric: bool) -> Action:
    name, size, *rest = lines
    count, cost = int(size), int(lines[-1])
    effects = _rows(rest[count:-1], 4)  # conditions would make a row longer
    required = _rows([size, *rest[:count]], 2)
    required += [(variable, before) for _, variable, before, _ in effects if before != -1]
    effect = _partial([(variable, after) for _, variable, _, after in effects], domains)
    need(cost >= 0, f"{name} has a negative cost")
    return Action(f"({name})", _partial(required, domains), effect, cost if metric else 1)


def _atom(text: str) -> str | None:
    """`Atom on(a, b)` becomes `(on a b)`."""
    kind, _, atom = text.partition(" ")
    if kind not in ("Atom", "NegatedAtom"):
        return None
    name, _, arguments = atom.rstrip(")").partition("(")
    pddl = f"({' '.join([name, *arguments.replace(',', ' ').split()])})"
    return pddl if kind == "Atom" else f"(not {pddl})"
