"""Ground actions of the PDDL that change nothing, such as moving from a room to the same room.

The translator leaves them out, rightly so for planning. A policy that looks at all successors of a state sees
them, and its numbers may depend on them.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

from misstep.errors import UnsupportedFeature
from misstep.formats.pddl import And, Atom, Formula, Not, Schema
from misstep.pddl_view import GroundAtom, PddlView


class NoopAction(NamedTuple):
    """Applicable where all atoms of `required` and none of `forbidden` are true; the state stays as it is.

    Atoms that are true in every state are left out of `required`.
    """

    name: str
    required: tuple[GroundAtom, ...]
    forbidden: tuple[GroundAtom, ...]


class _Parts(NamedTuple):
    positive: list[Atom]
    negative: list[Atom]


def noop_actions(view: PddlView) -> list[NoopAction]:
    """All of a task, by name. Costs little where no schema can be without effect, which is the usual case."""
    known = set(view.action_names)
    grounder = _Grounder(view)
    found = {action.name: action for schema in view.problem.domain.schemas for action in grounder.noops(schema)}
    return [found[name] for name in sorted(found.keys() - known)]


class _Grounder:
    def __init__(self, view: PddlView) -> None:
        self.view = view
        self.always = {view.text(atom) for atom in view.static_atoms}
        self.sometimes = {view.text(atom) for atoms in view.fact_atoms for atom in atoms if atom is not None}
        self.by_predicate: dict[str, list[tuple[str, ...]]] = {}
        for text in sorted(self.always | self.sometimes):
            predicate, *objects = text[1:-1].split()
            self.by_predicate.setdefault(predicate, []).append(tuple(objects))
        self.index = {text: atom for atoms in view.fact_atoms for atom in atoms if atom for text in [view.text(atom)]}

    def noops(self, schema: Schema) -> Iterator[NoopAction]:
        condition = self.literals(schema, schema.precondition)
        effect = self.literals(schema, schema.effect)
        # Every atom that is added must be true before: it is a precondition, or an atom that is always true.
        choices = [
            [other for other in condition.positive if other.predicate == added.predicate]
            + [Atom(added.predicate, terms) for terms in self.always_true(added.predicate)]
            for added in effect.positive
        ]
        seen = set()
        for sources in product(*choices):
            binding = self.unify(zip(effect.positive, sources, strict=True))
            if binding is None:
                continue
            for complete in self.bindings(schema, condition.positive, binding):
                objects = tuple(complete[parameter.name] for parameter in schema.parameters)
                if objects not in seen:
                    seen.add(objects)
                    yield from self.ground(schema, condition, effect, complete)

    def literals(self, schema: Schema, formula: Formula) -> _Parts:
        parts = _Parts([], [])
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
                        "effect; for this policy, write conjunctions of literals"
                    )
        return parts

    def always_true(self, predicate: str) -> list[tuple[str, ...]]:
        texts = ((terms, str(Atom(predicate, terms))) for terms in self.by_predicate.get(predicate, []))
        return [terms for terms, text in texts if text in self.always]

    def unify(self, pairs: Iterable[tuple[Atom, Atom]]) -> dict[str, str] | None:
        """Makes each pair equal: variables stand for objects or, where nothing more is known, for another one."""
        binding: dict[str, str] = {}

        def follow(term: str) -> str:
            while term in binding:
                term = binding[term]
            return term

        for one, other in pairs:
            for left, right in zip(map(follow, one.terms), map(follow, other.terms), strict=True):
                a, b = follow(left), follow(right)
                if a == b:
                    continue
                if a.startswith("?"):
                    binding[a] = b
                elif b.startswith("?"):
                    binding[b] = a
                else:
                    return None
        return {term: follow(term) for term in binding}

    def bindings(
        self, schema: Schema, condition: list[Atom], binding: Mapping[str, str]
    ) -> Iterator[dict[str, str]]:
        """All ways to give objects to the parameters such that each precondition can be true."""
        values: dict[str, str] = {}

        def value(term: str) -> str:
            term = binding.get(term, term)
            return values.get(term, term)

        # Preconditions with few possibilities first; `=` is checked at the end.
        todo = sorted(
            (atom for atom in condition if atom.predicate != "="),
            key=lambda atom: len(self.by_predicate.get(atom.predicate, [])),
        )
        allowed = {parameter.name: self.objects_of(parameter.types) for parameter in schema.parameters}
        names = [parameter.name for parameter in schema.parameters]

        def extend(at: int) -> Iterator[dict[str, str]]:
            if at < len(todo):
                terms = [value(term) for term in todo[at].terms]
                for objects in self.by_predicate.get(todo[at].predicate, []):
                    fresh: dict[str, str] = {}
                    for term, thing in zip(terms, objects, strict=True):
                        if term.startswith("?"):
                            if fresh.setdefault(term, thing) != thing:
                                break
                        elif term != thing:
                            break
                    else:
                        values.update(fresh)
                        yield from extend(at + 1)
                        for term in fresh:
                            del values[term]
                return
            free = next((value(name) for name in names if value(name).startswith("?")), None)
            if free is not None:
                for thing in self.view.objects:
                    values[free] = thing
                    yield from extend(at)
                del values[free]
            else:
                complete = {name: value(name) for name in names}
                if all(thing in allowed[name] for name, thing in complete.items()):
                    yield complete

        yield from extend(0)

    def objects_of(self, types: tuple[str, ...]) -> set[str]:
        above = self.view.supertypes
        pairs = zip(self.view.objects, self.view.object_types, strict=True)
        return {name for name, kind in pairs if set(types) & {kind, *above.get(kind, ())}}

    def ground(
        self, schema: Schema, condition: _Parts, effect: _Parts, values: Mapping[str, str]
    ) -> Iterator[NoopAction]:
        def texts(atoms: list[Atom]) -> list[str]:
            grounded = (Atom(atom.predicate, tuple(values.get(t, t) for t in atom.terms)) for atom in atoms)
            return [str(atom) for atom in grounded]

        def equal(text: str) -> bool | None:
            words = text[1:-1].split()
            return words[1] == words[2] if words[0] == "=" else None

        required, refused = texts(condition.positive), texts(condition.negative)
        added, deleted = texts(effect.positive), texts(effect.negative)
        if any(equal(text) is False for text in required) or any(equal(text) for text in refused):
            return
        # Adding wins over deleting; what is deleted and not added must be false before.
        forbidden = {*refused, *(text for text in deleted if text not in added)} - {"="}
        if forbidden & self.always or forbidden & set(required):
            return
        objects = " ".join(values[parameter.name] for parameter in schema.parameters)
        yield NoopAction(
            f"({schema.name} {objects})" if objects else f"({schema.name})",
            tuple(self.index[text] for text in dict.fromkeys(required) if text in self.index),
            tuple(self.index[text] for text in sorted(forbidden) if text in self.index),
        )
