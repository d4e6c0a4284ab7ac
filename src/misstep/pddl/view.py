"""The PDDL side of a task: what learned policies need beside the finite-domain variables."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from misstep.pddl import Atom, Problem, Schema, atoms_in


class GroundAtom(NamedTuple):
    """A predicate and its objects, as indices into the view's `predicates` and `objects`."""

    predicate: int
    objects: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A term that an action's binding fills: the position among the schema's parameters."""

    index: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A term that is the same in every ground action: an index into the view's `objects`."""

    object: int


Term: TypeAlias = Parameter | Constant


class LiftedAtom(NamedTuple):
    """An atom of a schema."""

    predicate: int
    terms: tuple[Term, ...]

    def ground(self, binding: Sequence[int]) -> GroundAtom:
        """The atom under a binding of the schema's parameters to objects."""
        objects = (binding[term.index] if isinstance(term, Parameter) else term.object for term in self.terms)
        return GroundAtom(self.predicate, tuple(objects))


class PredicateInfo(NamedTuple):
    """A declared predicate."""

    name: str
    arity: int


class SchemaInfo(NamedTuple):
    """An action schema as relational networks see it.

    `atoms` are the distinct atoms of precondition, then effect, in source order, sign ignored, `=` left out.
    Atoms under a quantifier that use its variables have no single ground atom and are left out; `quantified`
    says that there were some.
    """

    name: str
    parameters: tuple[str, ...]
    atoms: tuple[LiftedAtom, ...]
    quantified: bool


class Binding(NamedTuple):
    """Where a ground action comes from: its schema's index and the objects of its parameters."""

    schema: int
    objects: tuple[int, ...]


@dataclass(frozen=True)
class PddlView:
    """The PDDL view of one task; built on demand, all indices fixed by the order in the PDDL files.

    The set of true atoms of a state is its FDR facts plus `static_atoms`.
    """

    problem: Problem
    fact_names: Sequence[Sequence[str | None]]
    action_names: Sequence[str]

    @cached_property
    def objects(self) -> tuple[str, ...]:
        """Domain constants first, then the problem's objects."""
        return tuple(thing.name for thing in self.problem.objects)

    @cached_property
    def object_types(self) -> tuple[str, ...]:
        """The declared type of each object."""
        return tuple(thing.types[0] for thing in self.problem.objects)

    @property
    def supertypes(self) -> dict[str, tuple[str, ...]]:
        """Every type with all types above it, itself first, `object` last."""
        return self.problem.domain.supertypes

    @cached_property
    def predicates(self) -> tuple[PredicateInfo, ...]:
        """Declared predicates; `=` is not among them."""
        declared = self.problem.domain.predicates.values()
        return tuple(PredicateInfo(predicate.name, len(predicate.parameters)) for predicate in declared)

    @cached_property
    def schemas(self) -> tuple[SchemaInfo, ...]:
        """Action schemas in source order, also those without ground actions."""
        return tuple(self._schema(schema) for schema in self.problem.domain.schemas)

    @cached_property
    def bindings(self) -> tuple[Binding, ...]:
        """One for each ground action, in the task's order."""
        index = {schema.name: at for at, schema in enumerate(self.problem.domain.schemas)}
        result = []
        for name in self.action_names:
            schema, *objects = name[1:-1].split()
            result.append(Binding(index[schema], tuple(self._object_index[thing] for thing in objects)))
        return tuple(result)

    @cached_property
    def fact_atoms(self) -> tuple[tuple[GroundAtom | None, ...], ...]:
        """By variable and value the atom that holds there, or nothing (negated atoms, `none of those`)."""
        return tuple(tuple(map(self._parse, names)) for names in self.fact_names)

    @cached_property
    def static_atoms(self) -> tuple[GroundAtom, ...]:
        """Atoms that are true in every state and have no FDR fact, in the order of `:init`."""
        facts = {atom for atoms in self.fact_atoms for atom in atoms}
        return tuple(atom for atom in map(self._ground, self.problem.init) if atom not in facts)

    @cached_property
    def goal_atoms(self) -> tuple[GroundAtom, ...]:
        """All positive goal atoms of the PDDL, also those that hold in every state."""
        return tuple(map(self._ground, self.problem.goal))

    @cached_property
    def negative_goal_atoms(self) -> tuple[GroundAtom, ...]:
        """Atoms that the goal wants false."""
        return tuple(map(self._ground, self.problem.negative_goal))

    def atoms(self, values: Sequence[int]) -> list[GroundAtom]:
        """All atoms that are true in the state with these variable values."""
        pairs = zip(self.fact_atoms, values, strict=True)
        facts = [atom for atoms, value in pairs if (atom := atoms[value]) is not None]
        return [*self.static_atoms, *facts]

    def text(self, atom: GroundAtom) -> str:
        """The atom as PDDL."""
        words = (self.predicates[atom.predicate].name, *(self.objects[thing] for thing in atom.objects))
        return "(" + " ".join(words) + ")"

    @cached_property
    def _object_index(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.objects)}

    @cached_property
    def _predicate_index(self) -> dict[str, int]:
        return {predicate.name: at for at, predicate in enumerate(self.predicates)}

    def _ground(self, atom: Atom) -> GroundAtom:
        objects = tuple(self._object_index[thing] for thing in atom.terms)
        return GroundAtom(self._predicate_index[atom.predicate], objects)

    def _parse(self, name: str | None) -> GroundAtom | None:
        if name is None or name.startswith("(not "):
            return None
        predicate, *objects = name[1:-1].split()
        if predicate not in self._predicate_index:  # The translator's own, in tasks that it found trivial.
            return None
        return self._ground(Atom(predicate, tuple(objects)))

    def _schema(self, schema: Schema) -> SchemaInfo:
        parameters = tuple(parameter.name for parameter in schema.parameters)
        position = {name: Parameter(at) for at, name in enumerate(parameters)}
        atoms: dict[LiftedAtom, None] = {}
        quantified = False
        for atom, bound in atoms_in((schema.precondition, schema.effect)):
            if atom.predicate == "=":
                continue
            if bound.intersection(atom.terms):
                quantified = True
                continue
            terms = tuple(position.get(term) or Constant(self._object_index[term]) for term in atom.terms)
            atoms[LiftedAtom(self._predicate_index[atom.predicate], terms)] = None
        return SchemaInfo(schema.name, parameters, tuple(atoms), quantified)
