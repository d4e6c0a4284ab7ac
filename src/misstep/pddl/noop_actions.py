"""Ground actions of the PDDL that change nothing, such as moving from a room to the same room.

The translator leaves them out, rightly so for planning. A policy that looks at all successors of a state sees
them, and its numbers may depend on them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

from misstep.errors import UnsupportedFeature
from misstep.pddl import And, Atom, Formula, Not, Schema
from misstep.pddl.view import GroundAtom, PddlView

Substitution: TypeAlias = dict[str, str]


class NoopAction(NamedTuple):
    """Applicable where all atoms of `required` and none of `forbidden` are true; the state stays as it is.

    Atoms that are true in every state are left out of `required`, and never true ones of `forbidden`.
    """

    name: str
    required: tuple[GroundAtom, ...]
    forbidden: tuple[GroundAtom, ...]


class _Literals(NamedTuple):
    positive: list[Atom]
    negative: list[Atom]


def noop_actions(view: PddlView) -> list[NoopAction]:
    """All of a task, by name. Costs little where no schema can be without effect, which is the usual case."""
    known = set(view.action_names)
    grounder = _Grounder(view)
    schemas = view.problem.domain.schemas
    found = {action.name: action for schema in schemas for action in grounder.noops(schema)}
    return [found[name] for name in sorted(found.keys() - known)]


class _Grounder:
    def __init__(self, view: PddlView) -> None:
        self.view = view
        self.always = {_atom(view, atom) for atom in view.static_atoms}
        self.facts = {_atom(view, atom): atom for atoms in view.fact_atoms for atom in atoms if atom}
        self.possible: dict[str, list[tuple[str, ...]]] = {}
        """By predicate the objects for which it is true in some state, or may be."""
        for atom in (*self.always, *self.facts):
            self.possible.setdefault(atom.predicate, []).append(atom.terms)

    def noops(self, schema: Schema) -> Iterator[NoopAction]:
        condition = _literals(schema, schema.precondition)
        effect = _literals(schema, schema.effect)
        added = {atom.predicate for atom in effect.positive}
        if any(atom in condition.positive and atom.predicate not in added for atom in effect.negative):
            return  # It always takes away what must be true before.
        # Every atom that is added must be true before: it is a precondition, or an atom that is always true.
        sources = [
            [atom for atom in (*condition.positive, *self.always) if atom.predicate == wanted.predicate]
            for wanted in effect.positive
        ]
        seen = set()
        for chosen in product(*sources):
            unifier = _unify(zip(effect.positive, chosen, strict=True))
            if unifier is None:
                continue
            for objects in self.bindings(schema, _apply(unifier, condition.positive), unifier):
                if objects not in seen:
                    seen.add(objects)
                    yield from self.ground(schema, condition, effect, objects)

    def bindings(
        self, schema: Schema, atoms: Sequence[Atom], unifier: Substitution
    ) -> Iterator[tuple[str, ...]]:
        """All objects for the parameters such that each of the atoms may be true."""
        allowed = {parameter.name: self.objects_of(parameter.types) for parameter in schema.parameters}

        def extend(atoms: Sequence[Atom], values: Substitution) -> Iterator[tuple[str, ...]]:
            if atoms:
                # The atom with the fewest open terms leaves the fewest possibilities.
                first = min(atoms, key=lambda atom: len(_variables(atom)))
                rest = [atom for atom in atoms if atom is not first]
                for objects in self.possible.get(first.predicate, []):
                    fresh = _unify([(first, Atom(first.predicate, objects))])
                    if fresh is not None:
                        yield from extend(_apply(fresh, rest) if fresh else rest, values | fresh)
                return
            found = [_value(values, _value(unifier, parameter.name)) for parameter in schema.parameters]
            free = next((term for term in found if term.startswith("?")), None)
            if free is not None:
                for thing in self.view.objects:
                    yield from extend((), values | {free: thing})
            elif all(
                thing in allowed[parameter.name]
                for parameter, thing in zip(schema.parameters, found, strict=True)
            ):
                yield tuple(found)

        yield from extend([atom for atom in atoms if atom.predicate != "="], {})

    def objects_of(self, types: tuple[str, ...]) -> set[str]:
        above = self.view.supertypes
        pairs = zip(self.view.objects, self.view.object_types, strict=True)
        return {name for name, kind in pairs if not {kind, *above.get(kind, ())}.isdisjoint(types)}

    def ground(
        self, schema: Schema, condition: _Literals, effect: _Literals, objects: tuple[str, ...]
    ) -> Iterator[NoopAction]:
        names = (parameter.name for parameter in schema.parameters)
        values = dict(zip(names, objects, strict=True))
        required, refused = _apply(values, condition.positive), _apply(values, condition.negative)
        added, deleted = _apply(values, effect.positive), _apply(values, effect.negative)
        if any(_differs(atom) is True for atom in required) or any(
            _differs(atom) is False for atom in refused
        ):
            return
        # Adding wins over deleting; what is deleted and not added must be false before.
        forbidden = {*refused, *(atom for atom in deleted if atom not in added)}
        if not forbidden.isdisjoint(self.always) or not forbidden.isdisjoint(required):
            return
        yield NoopAction(
            str(Atom(schema.name, objects)),
            tuple(self.facts[atom] for atom in dict.fromkeys(required) if atom in self.facts),
            tuple(sorted(self.facts[atom] for atom in forbidden if atom in self.facts)),
        )


def _atom(view: PddlView, atom: GroundAtom) -> Atom:
    names = tuple(view.objects[thing] for thing in atom.objects)
    return Atom(view.predicates[atom.predicate].name, names)


def _literals(schema: Schema, formula: Formula) -> _Literals:
    parts = _Literals([], [])
    todo = [formula]
    while todo:
        match todo.pop():
            case And(inner):
                todo.extend(reversed(inner))
            case Atom() as atom:
                parts.positive.append(atom)
            case Not(Atom() as atom):
                parts.negative.append(atom)
            case other:
                raise UnsupportedFeature(
                    f"action `{schema.name}` has `{type(other).__name__.lower()}` in its precondition or "
                    "effect; this policy wants conjunctions of literals"
                )
    return parts


def _variables(atom: Atom) -> set[str]:
    return {term for term in atom.terms if term.startswith("?")}


def _value(values: Mapping[str, str], term: str) -> str:
    return values.get(term, term)


def _apply(values: Mapping[str, str], atoms: Iterable[Atom]) -> list[Atom]:
    return [Atom(atom.predicate, tuple(_value(values, term) for term in atom.terms)) for atom in atoms]


def _unify(pairs: Iterable[tuple[Atom, Atom]]) -> Substitution | None:
    """Makes the terms of each pair equal; variables become objects, or other variables."""
    result: Substitution = {}
    for one, other in pairs:
        for left, right in zip(one.terms, other.terms, strict=True):
            a, b = _value(result, left), _value(result, right)
            if a == b:
                continue
            if not a.startswith("?"):
                a, b = b, a
            if not a.startswith("?"):
                return None
            result = {term: b if value == a else value for term, value in result.items()} | {a: b}
    return result


def _differs(atom: Atom) -> bool | None:
    """Whether an equation is false; nothing for other atoms."""
    return atom.terms[0] != atom.terms[1] if atom.predicate == "=" else None
