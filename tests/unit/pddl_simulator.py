"""PDDL semantics on plain sets of atoms, slow and obvious: what the FDR side is compared with."""

from collections.abc import Iterator
from itertools import product

from misstep.pddl import And, Atom, Exists, Forall, Formula, Imply, Not, Or, Problem, Schema, Typed

Atoms = frozenset[Atom]
Binding = dict[str, str]


class Simulator:
    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.schemas = {schema.name: schema for schema in problem.domain.schemas}
        self.initial: Atoms = frozenset(problem.init)

    def bindings(self, variables: tuple[Typed, ...]) -> Iterator[Binding]:
        supertypes = self.problem.domain.supertypes
        choices = [
            [
                thing.name
                for thing in self.problem.objects
                if set(variable.types) & set(supertypes[thing.types[0]])
            ]
            for variable in variables
        ]
        for chosen in product(*choices):
            yield dict(zip((variable.name for variable in variables), chosen, strict=True))

    def holds(self, formula: Formula, atoms: Atoms, binding: Binding) -> bool:
        match formula:
            case Atom("=", (left, right)):
                return binding.get(left, left) == binding.get(right, right)
            case Atom():
                return _ground(formula, binding) in atoms
            case Not(part):
                return not self.holds(part, atoms, binding)
            case And(parts):
                return all(self.holds(part, atoms, binding) for part in parts)
            case Or(parts):
                return any(self.holds(part, atoms, binding) for part in parts)
            case Imply(premise, conclusion):
                return not self.holds(premise, atoms, binding) or self.holds(conclusion, atoms, binding)
            case Forall(variables, part):
                return all(self.holds(part, atoms, binding | more) for more in self.bindings(variables))
            case Exists(variables, part):
                return any(self.holds(part, atoms, binding | more) for more in self.bindings(variables))

    def effects(self, formula: Formula, binding: Binding) -> Iterator[tuple[Atom, bool]]:
        match formula:
            case Atom():
                yield _ground(formula, binding), True
            case Not(Atom() as atom):
                yield _ground(atom, binding), False
            case And(parts):
                for part in parts:
                    yield from self.effects(part, binding)
            case Forall(variables, part):
                for more in self.bindings(variables):
                    yield from self.effects(part, binding | more)
            case _:
                raise AssertionError(formula)

    def bind(self, name: str) -> tuple[Schema, Binding]:
        """`(drive red depot mill)` as a schema and a binding."""
        schema_name, *objects = name.strip("()").split()
        schema = self.schemas[schema_name]
        return schema, dict(zip((parameter.name for parameter in schema.parameters), objects, strict=True))

    def applicable(self, name: str, atoms: Atoms) -> bool:
        schema, binding = self.bind(name)
        return self.holds(schema.precondition, atoms, binding)

    def apply(self, name: str, atoms: Atoms) -> Atoms:
        """Deletes first, then adds: an atom that is both deleted and added is true afterwards."""
        schema, binding = self.bind(name)
        changes = list(self.effects(schema.effect, binding))
        deleted = {atom for atom, add in changes if not add}
        added = {atom for atom, add in changes if add}
        return (atoms - deleted) | added

    def all_applicable(self, atoms: Atoms) -> Iterator[str]:
        for schema in self.problem.domain.schemas:
            for binding in self.bindings(schema.parameters):
                if self.holds(schema.precondition, atoms, binding):
                    yield "(" + " ".join((schema.name, *binding.values())) + ")"


def _ground(atom: Atom, binding: Binding) -> Atom:
    return Atom(atom.predicate, tuple(binding.get(term, term) for term in atom.terms))
