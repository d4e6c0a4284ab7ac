"""Tasks with sets of facts as integers, one bit a fact, so that large proofs are checked quickly."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from misstep.reference.checked import need
from misstep.reference.fdr import Facts, State, Task


@dataclass(frozen=True)
class BitAction:
    """Applicable where all bits of `needs` are set; clears those of `clears`, then sets those of `adds`."""

    needs: int
    clears: int
    adds: int
    cost: int


@dataclass(frozen=True)
class BitTask:
    """The facts of a task are numbered through in the order of its file, variable by variable."""

    task: Task

    @cached_property
    def first(self) -> tuple[int, ...]:
        """The number of each variable's first fact; at the end, the number of all facts."""
        numbers = [0]
        for values in self.task.facts:
            numbers.append(numbers[-1] + len(values))
        return tuple(numbers)

    @cached_property
    def actions(self) -> tuple[BitAction, ...]:
        """In the order of the file."""
        return tuple(
            BitAction(
                self._bits(action.precondition),
                sum(self.values_of(variable) for variable in action.effect),
                self._bits(action.effect),
                action.cost,
            )
            for action in self.task.actions
        )

    @cached_property
    def adding(self) -> tuple[tuple[int, ...], ...]:
        """For each fact, the numbers of the actions that add it."""
        found: list[list[int]] = [[] for _ in range(self.first[-1])]
        for number, action in enumerate(self.actions):
            for fact in facts_in(action.adds):
                found[fact].append(number)
        return tuple(map(tuple, found))

    @cached_property
    def goal(self) -> int:
        """The facts of the goal."""
        return self._bits(self.task.goal)

    @cached_property
    def variable_of(self) -> tuple[int, ...]:
        """For each fact, all facts of its variable."""
        return tuple(
            self.values_of(variable) for variable, values in enumerate(self.task.facts) for _ in values
        )

    def state(self, values: State) -> int:
        """The facts of a state."""
        return sum(1 << start + value for start, value in zip(self.first, values, strict=False))

    def facts(self, numbers: Iterable[int]) -> int:
        """A set of facts by their numbers, each of which must exist."""
        found = 0
        for number in numbers:
            need(type(number) is int and 0 <= number < self.first[-1], f"there is no fact {number!r}")
            found |= 1 << number
        return found

    def values_of(self, variable: int) -> int:
        """All facts of a variable."""
        return (1 << self.first[variable + 1]) - (1 << self.first[variable])

    def is_contradictory(self, facts: int) -> bool:
        """Whether two of the facts are values of the same variable, so that no state has them all."""
        return any((self.variable_of[fact] & facts).bit_count() > 1 for fact in facts_in(facts))

    def _bits(self, facts: Facts) -> int:
        return sum(1 << self.first[variable] + value for variable, value in facts.items())


def facts_in(bits: int) -> Iterable[int]:
    """The numbers of the facts in a set."""
    while bits:
        yield (bits & -bits).bit_length() - 1
        bits &= bits - 1
