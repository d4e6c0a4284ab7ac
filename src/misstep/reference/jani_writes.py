"""Variables of JANI models and what a step writes to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from misstep.reference.checked import Refused, need
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

    def read(self, left: dict[str, Any]) -> Any:
        """Take the value out of a state that is written as names with values, an array cell by cell."""
        if self.length is None:
            return self._read_cell(left, self.name)
        return tuple(self._read_cell(left, f"{self.name}[{i}]") for i in range(self.length))

    def _read_cell(self, left: dict[str, Any], name: str) -> Any:
        value = left.pop(name, None)
        if self.has(value):
            return value
        raise Refused(f"a state gives {name} a value that it cannot have: {str(value)[:60]}")

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
        if self.has(value):
            return value
        raise Refused(f"{str(value)[:60]} is out of the bounds of {self.name}")


class Write(NamedTuple):
    """An assignment to a variable, or to one cell of it; both functions see the values before it."""

    variable: Variable
    cell: Evaluate | None
    value: Evaluate


class Assignment(NamedTuple):
    """A write of one value or, where `options` is given, of any of the values that it computes."""

    order: int
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
    if value is True or value is False:
        return value
    raise Refused(f"a condition is neither true nor false: {str(value)[:60]}")


def write(env: list[Any], writes: Sequence[Write]) -> None:
    """Carry out assignments that happen at once: all are computed before the first one is written.

    Two different values for one target are an error of the model, so nothing is concluded from such a step.
    """
    new: dict[tuple[int, Any], tuple[Variable, Any]] = {}
    for variable, cell, value in writes:
        target = (variable.place, None if cell is None else cell(env))
        known = new.setdefault(target, (variable, result := value(env)))
        need(known[1] == result, f"two values are assigned to {variable.name} at once")
    for (place, cell), (variable, value) in new.items():
        if cell is not None:
            env[place] = _with_cell(env[place], cell, variable.stored(value), variable)
        elif variable.length is None:
            env[place] = variable.stored(value)
        else:
            need(len(value) == variable.length, f"an array of another length is assigned to {variable.name}")
            env[place] = tuple(variable.stored(x) for x in value)


def _with_cell(array: tuple[Any, ...], cell: Any, value: Any, variable: Variable) -> tuple[Any, ...]:
    """The array with another value in one cell."""
    need(
        type(cell) is int and 0 <= cell < len(array), f"there is no cell {str(cell)[:60]} of {variable.name}"
    )
    return (*array[:cell], value, *array[cell + 1 :])


def each(assignment: Assignment, env: Sequence[Any]) -> list[Write]:
    """One write for each value that the assignment may assign."""
    options = assignment.options(env) if assignment.options else ()
    return [assignment.write._replace(value=_always(x)) for x in options]


def _always(value: Any) -> Evaluate:
    return lambda env: value


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
