"""Variables of JANI models and what a step writes to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from misstep.reference.checked import need
from misstep.reference.jani_expressions import Evaluate

TYPES = {"bool": bool, "int": int, "real": float}


@dataclass(frozen=True)
class Variable:
    """A variable, its place in the environment, and the values that it (or each of its cells) can have."""

    name: str
    place: int
    kind: str
    low: float
    high: float
    length: int | None

    def cells(self) -> list[str]:
        """The names under which certificates write it."""
        return [self.name] if self.length is None else [f"{self.name}[{i}]" for i in range(self.length)]

    def has(self, value: object) -> bool:
        """Whether a cell can have this value. Reals may leave their bounds, integers may not."""
        if type(value) is not TYPES[self.kind]:
            return False
        if isinstance(value, float):
            return math.isfinite(value)
        return self.kind == "bool" or self.low <= value <= self.high  # type: ignore[operator]

    def stored(self, value: Any) -> Any:
        """A value as the variable keeps it; refused where it cannot, as an assignment out of bounds."""
        if self.kind == "real" and type(value) in (int, float):
            value = float(value) + 0.0  # without a negative zero
        need(self.has(value), f"{str(value)[:60]} is out of the bounds of {self.name}")
        return value


class Write(NamedTuple):
    """An assignment to a variable, or to one cell of it; both functions see the values before it."""

    variable: Variable
    cell: Evaluate | None
    value: Evaluate


class Assignment(NamedTuple):
    """A write of one value or, where `options` is given, of any of the values that it computes."""

    index: int
    write: Write
    options: Callable[[Sequence[Any]], Iterable[Any]] | None


class Update(NamedTuple):
    """What one automaton does in a step: writes in groups of ascending index, and the location after them."""

    groups: Sequence[tuple[int, Sequence[Write]]]
    place: int | None
    location: str


class Destination(NamedTuple):
    """A possible end of an edge. Without options it has one update, which is made once."""

    probability: Evaluate
    assignments: Sequence[Assignment]
    update: Update


class Edge(NamedTuple):
    """A guard and what may happen where it holds."""

    guard: Evaluate
    destinations: Sequence[Destination]


def truth(value: object) -> bool:
    """A truth value; a number is none, so a condition that is a number is refused."""
    need(value is True or value is False, f"a condition is neither true nor false: {str(value)[:60]}")
    return value is True


def write(env: list[Any], writes: Sequence[Write]) -> None:
    """All values and cells are computed before the first one is written; no two writes have one target."""
    new = [(w.variable, None if w.cell is None else w.cell(env), w.value(env)) for w in writes]
    if len(new) > 1:
        targets = [(variable.place, cell) for variable, cell, _ in new]
        need(len(set(targets)) == len(targets), "two values are assigned to one variable at once")
    for variable, cell, value in new:
        if cell is not None:
            old = env[variable.place]
            need(type(cell) is int and 0 <= cell < len(old), f"there is no cell {cell} of {variable.name}")
            env[variable.place] = (*old[:cell], variable.stored(value), *old[cell + 1 :])
        elif variable.length is None:
            env[variable.place] = variable.stored(value)
        else:
            need(len(value) == variable.length, f"an array of another length is assigned to {variable.name}")
            env[variable.place] = tuple(variable.stored(x) for x in value)


def each(assignment: Assignment, env: Sequence[Any]) -> list[Write]:
    """One write for each value that the assignment may assign."""
    options = assignment.options(env) if assignment.options else ()
    return [assignment.write._replace(value=lambda _, x=x: x) for x in options]


def grouped(writes: Iterable[tuple[int, Write]]) -> list[tuple[int, list[Write]]]:
    """Writes by their index, in ascending order."""
    groups: dict[int, list[Write]] = {}
    for index, write in writes:
        groups.setdefault(index, []).append(write)
    return sorted(groups.items(), key=lambda group: group[0])


def merged(updates: Sequence[Update]) -> list[tuple[int, list[Write]]]:
    """The groups of several automata that move together: equal indices are one group."""
    return grouped(
        (index, write) for update in updates for index, writes in update.groups for write in writes
    )
