"""Finite-domain tasks straight from their definition: read SAS text, apply actions, check a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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
    """Read SAS version 3; ValueError with the line number where the text breaks the format.

    Axioms and conditional effects are refused. Without a metric every action costs 1.
    """
    lines = _Lines(text)
    lines.expect("begin_version", "3", "end_version", "begin_metric")
    metric = lines.integer(below=2)
    lines.expect("end_metric")
    facts = tuple(_variable(lines) for _ in range(lines.integer()))
    sizes = [len(values) for values in facts]
    for _ in range(lines.integer()):
        _mutex_group(lines, sizes)
    lines.expect("begin_state")
    initial = tuple(lines.integer(below=size) for size in sizes)
    lines.expect("end_state", "begin_goal")
    goal = _pairs(lines, lines.integer(), sizes)
    lines.expect("end_goal")
    actions = tuple(_action(lines, sizes, metric=bool(metric)) for _ in range(lines.integer()))
    if lines.integer() != 0:
        raise ValueError(f"line {lines.number}: axioms are not supported")
    lines.finish()
    return Task(facts, initial, goal, actions)


class _Lines:
    """Hands out the lines of a text one by one and knows the number of the last one."""

    def __init__(self, text: str) -> None:
        self._rest: Iterator[str] = iter(text.split("\n"))
        self.number = 0

    def next(self) -> str:
        self.number += 1
        line = next(self._rest, None)
        if line is None:
            raise ValueError(f"line {self.number}: the text ends too early")
        return line.strip()

    def expect(self, *words: str) -> None:
        for word in words:
            if (line := self.next()) != word:
                raise ValueError(f"line {self.number}: {word!r} expected, not {line!r}")

    def integers(self, count: int) -> Sequence[int]:
        words = self.next().split()
        if len(words) != count or not all(word.removeprefix("-").isdecimal() for word in words):
            raise ValueError(f"line {self.number}: {count} integers expected, not {' '.join(words)!r}")
        return [int(word) for word in words]

    def integer(self, *, below: int | None = None) -> int:
        return self.within(self.integers(1)[0], below)

    def within(self, number: int, below: int | None) -> int:
        if number < 0 or (below is not None and number >= below):
            raise ValueError(f"line {self.number}: {number} is out of range")
        return number

    def finish(self) -> None:
        if any(line.strip() for line in self._rest):
            raise ValueError(f"line {self.number + 1}: text after the end")


def _variable(lines: _Lines) -> tuple[str | None, ...]:
    lines.expect("begin_variable")
    lines.next()
    if lines.integers(1)[0] != -1:
        raise ValueError(f"line {lines.number}: axioms are not supported")
    values = tuple(_atom(lines.next()) for _ in range(lines.integer()))
    lines.expect("end_variable")
    return values


def _atom(text: str) -> str | None:
    """`Atom on(a, b)` becomes `(on a b)`."""
    kind, _, atom = text.partition(" ")
    if kind not in ("Atom", "NegatedAtom"):
        return None
    name, _, arguments = atom.rstrip(")").partition("(")
    pddl = f"({' '.join([name, *arguments.replace(',', ' ').split()])})"
    return pddl if kind == "Atom" else f"(not {pddl})"


def _mutex_group(lines: _Lines, sizes: Sequence[int]) -> None:
    lines.expect("begin_mutex_group")
    for _ in range(lines.integer()):
        _pairs(lines, 1, sizes)
    lines.expect("end_mutex_group")


def _pairs(lines: _Lines, count: int, sizes: Sequence[int]) -> dict[int, int]:
    facts: dict[int, int] = {}
    for _ in range(count):
        variable, value = lines.integers(2)
        _put(lines, facts, variable, value, sizes)
    return facts


def _put(lines: _Lines, facts: dict[int, int], variable: int, value: int, sizes: Sequence[int]) -> None:
    lines.within(value, sizes[lines.within(variable, len(sizes))])
    if facts.setdefault(variable, value) != value:
        raise ValueError(f"line {lines.number}: two values for variable {variable}")


def _action(lines: _Lines, sizes: Sequence[int], *, metric: bool) -> Action:
    lines.expect("begin_operator")
    name = f"({lines.next()})"
    precondition = _pairs(lines, lines.integer(), sizes)
    effect: dict[int, int] = {}
    for _ in range(lines.integer()):
        conditions, variable, before, after = lines.integers(4)  # more where there are conditions
        lines.within(conditions, 1)
        if before != -1:
            _put(lines, precondition, variable, before, sizes)
        _put(lines, effect, variable, after, sizes)
    cost = lines.integer()
    lines.expect("end_operator")
    return Action(name, precondition, effect, cost if metric else 1)
