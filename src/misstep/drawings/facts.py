"""What can be said of a task's facts before anything is drawn: who moves, where to, what excludes what."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from misstep._core import Action
from misstep.task import Task


class Words(NamedTuple):
    """An atom as words."""

    predicate: str
    objects: tuple[str, ...]


class Move(NamedTuple):
    """An action changes one argument of an atom: something goes from here to there."""

    predicate: str
    position: int
    start: str
    end: str
    cost: int


def read_words(name: str | None) -> Words | None:
    """The words of a fact's name; None where nothing holds, or the opposite of an atom."""
    if name is None or name.startswith("(not ") or not name.startswith("("):
        return None
    predicate, *objects = name[1:-1].split() or [""]
    return Words(predicate, tuple(objects))


@dataclass(frozen=True)
class Facts:
    """The facts of a task by variables: two facts of one variable never hold together."""

    task: Task

    @cached_property
    def variables(self) -> list[list[Words | None]]:
        """By variable and value."""
        return [
            [read_words(self.task.fact_name(variable, value)) for value in range(size)]
            for variable, size in enumerate(self.task.domain_sizes)
        ]

    @cached_property
    def atoms(self) -> dict[str, list[tuple[str, ...]]]:
        """The arguments of all atoms that change, by predicate."""
        found: dict[str, list[tuple[str, ...]]] = {}
        for values in self.variables:
            for atom in filter(None, values):
                found.setdefault(atom.predicate, []).append(atom.objects)
        return found

    def arity(self, predicate: str) -> int | None:
        """How many arguments its atoms have; None where they differ, as the atoms of a SAS task may."""
        found = {len(objects) for objects in self.atoms[predicate]}
        return found.pop() if len(found) == 1 else None

    @cached_property
    def fixed(self) -> dict[str, list[tuple[str, ...]]]:
        """The arguments of all atoms that hold in every state, by predicate; none where PDDL is absent."""
        found: dict[str, list[tuple[str, ...]]] = {}
        view = self.task.pddl
        if view is None:
            return found
        for atom in view.static_atoms:
            name = view.predicates[atom.predicate].name
            found.setdefault(name, []).append(tuple(view.objects[at] for at in atom.objects))
        return found

    @cached_property
    def alike(self) -> list[set[str]]:
        """Objects of one type of which the same predicates speak, in the same positions."""
        spoken: dict[str, set[tuple[str, int]]] = {}
        for predicate, atoms in self.atoms.items():
            for objects in atoms:
                for at, name in enumerate(objects):
                    spoken.setdefault(name, set()).add((predicate, at))
        view = self.task.pddl
        types = {} if view is None else dict(zip(view.objects, view.object_types, strict=True))
        found: dict[tuple[str | None, frozenset[tuple[str, int]]], set[str]] = {}
        for name, said in spoken.items():
            found.setdefault((types.get(name), frozenset(said)), set()).add(name)
        return list(found.values())

    def side(self, predicate: str, position: int) -> set[str]:
        """The objects that stand at a position of a predicate's atoms."""
        return {objects[position] for objects in self.atoms[predicate]}

    @cached_property
    def evidence(self) -> Counter[tuple[str, int]]:
        """How many atoms say of the object at this position where or how it is: they exclude each other."""
        found: Counter[tuple[str, int]] = Counter()
        for present in self._exclusive():
            for thing in set.intersection(*(set(atom.objects) for atom in present)):
                for atom in present:
                    found.update(
                        (atom.predicate, at) for at, name in enumerate(atom.objects) if name == thing
                    )
        return found

    @cached_property
    def always_said(self) -> dict[str, list[set[str]]]:
        """For an object, the predicates of each variable that says something of it in every state."""
        found: dict[str, list[set[str]]] = {}
        for values in self.variables:
            present = [atom for atom in values if atom is not None]
            if len(present) == len(values) > 1:
                for thing in set.intersection(*(set(atom.objects) for atom in present)):
                    found.setdefault(thing, []).append({atom.predicate for atom in present})
        return found

    def is_single(self, predicate: str, position: int) -> bool:
        """Whether the initial state and the goal say it at most once of each object at this position."""
        return all(
            len(there) == len(set(there))
            for facts in (self._first, self._last)
            if (there := [atom.objects[position] for atom in facts if atom.predicate == predicate])
        )

    @cached_property
    def _first(self) -> list[Words]:
        return [atom for name in self.task.initial_state.facts if (atom := read_words(name)) is not None]

    @cached_property
    def _last(self) -> list[Words]:
        wanted = (self.variables[variable][value] for variable, value in self.task.goal)
        return [atom for atom in wanted if atom is not None]

    @cached_property
    def wandering(self) -> set[str]:
        """Unary predicates that hold for one object at a time: `(robot-at c)`."""
        found: set[str] = set()
        for present in self._exclusive():
            alike = Counter(atom.predicate for atom in present if len(atom.objects) == 1)
            found |= {predicate for predicate, count in alike.items() if count > 1}
        return found

    @cached_property
    def beside(self) -> dict[str, set[str]]:
        """For a unary predicate, those that exclude it for the same object."""
        found: dict[str, set[str]] = {}
        for present in self._exclusive():
            common = set.intersection(*(set(atom.objects) for atom in present))
            for atom in present:
                if len(atom.objects) == 1 and atom.objects[0] in common:
                    found.setdefault(atom.predicate, set()).update(other.predicate for other in present)
        return found

    @cached_property
    def moves(self) -> list[Move]:
        """What actions move, from where to where."""
        found = dict.fromkeys(move for action in self.task.actions for move in self._moves(action))
        return list(found)

    def _moves(self, action: Action) -> Iterator[Move]:
        before = dict(action.precondition)
        for variable, value in action.effect:
            if variable not in before:
                continue
            old, new = self.variables[variable][before[variable]], self.variables[variable][value]
            if old is None or new is None or old.predicate != new.predicate:
                continue
            if len(old.objects) != len(new.objects):  # a SAS task may name any atoms: `(at home)`, `(at)`
                continue
            pairs = zip(old.objects, new.objects, strict=True)
            changed = [(at, one, other) for at, (one, other) in enumerate(pairs) if one != other]
            if len(changed) == 1:
                yield Move(new.predicate, *changed[0], action.cost)

    def _exclusive(self) -> Iterator[list[Words]]:
        """The atoms of each variable that has several."""
        for values in self.variables:
            present = [atom for atom in values if atom is not None]
            if len(present) > 1:
                yield present
