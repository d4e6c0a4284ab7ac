"""Worlds: lifted planning tasks as plain data, their PDDL text, and what their actions do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import misstep

Atom = tuple[str, ...]
State = frozenset[Atom]


class Literal(NamedTuple):
    """An atom over objects or parameters (`?x`), or its negation. The predicate `=` compares two of them."""

    atom: Atom
    positive: bool = True

    def bound(self, binding: dict[str, str]) -> Literal:
        """With objects in the place of parameters."""
        return Literal((self.atom[0], *(binding.get(term, term) for term in self.atom[1:])), self.positive)

    def holds(self, state: State) -> bool:
        """Whether it is true in a state; `=` needs none."""
        is_true = self.atom[1] == self.atom[2] if self.atom[0] == "=" else self.atom in state
        return is_true == self.positive

    def __str__(self) -> str:
        text = f"({' '.join(self.atom)})"
        return text if self.positive else f"(not {text})"


@dataclass(frozen=True)
class Schema:
    """An action schema. `either` lists literals of which one must hold, beside all of `needs`."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    needs: tuple[Literal, ...]
    either: tuple[Literal, ...]
    effects: tuple[Literal, ...]
    cost: int | Atom | None
    """A number, a function of parameters, or nothing: then it costs nothing where the task has a metric."""


class Action(NamedTuple):
    """A ground action."""

    name: str
    needs: tuple[Literal, ...]
    either: tuple[Literal, ...]
    adds: State
    deletes: State
    cost: int

    def applies(self, state: State) -> bool:
        """Whether the precondition holds."""
        return all(one.holds(state) for one in self.needs) and (
            not self.either or any(one.holds(state) for one in self.either)
        )

    def after(self, state: State) -> State:
        """The next state: what is deleted and added at once holds."""
        return (state - self.deletes) | self.adds


@dataclass(frozen=True)
class World:
    """A domain and a problem."""

    supertypes: dict[str, str]
    """Of each type, with `object` above all."""
    objects: dict[str, str]
    predicates: dict[str, tuple[str, ...]]
    schemas: tuple[Schema, ...]
    initial: State
    goal: tuple[Literal, ...]
    values: dict[Atom, int]
    """Of cost functions."""
    has_metric: bool

    def is_a(self, name: str, kind: str) -> bool:
        """Whether an object is of a type; `a b` is either of two."""
        at = self.objects[name]
        kinds = kind.split()
        while at != "object" and at not in kinds:
            at = self.supertypes[at]
        return at in kinds

    def is_goal(self, state: State) -> bool:
        """Whether the goal holds."""
        return all(one.holds(state) for one in self.goal)

    def actions(self) -> Iterator[Action]:
        """All ground actions that PDDL has; one whose cost has no value is none."""
        for schema in self.schemas:
            choices = [[o for o in self.objects if self.is_a(o, kind)] for _, kind in schema.parameters]
            for chosen in product(*choices):
                binding = dict(zip((name for name, _ in schema.parameters), chosen, strict=True))
                cost = self._cost(schema, binding)
                if cost is None:
                    continue
                effects = [one.bound(binding) for one in schema.effects]
                yield Action(
                    f"({' '.join((schema.name, *chosen))})",
                    tuple(one.bound(binding) for one in schema.needs),
                    tuple(one.bound(binding) for one in schema.either),
                    frozenset(one.atom for one in effects if one.positive),
                    frozenset(one.atom for one in effects if not one.positive),
                    cost,
                )

    def _cost(self, schema: Schema, binding: dict[str, str]) -> int | None:
        if not self.has_metric:
            return 1
        if isinstance(schema.cost, tuple):
            return self.values.get(Literal(schema.cost).bound(binding).atom)
        return schema.cost or 0

    def load(self) -> misstep.Task:
        """As misstep reads it."""
        return misstep.load(self.domain(), self.problem())

    def domain(self) -> str:
        """The domain as PDDL."""
        kinds = [f"{name} - {above}" for name, above in self.supertypes.items()]
        lines = ["(define (domain torture)"]
        flags = ":typing :negative-preconditions :disjunctive-preconditions :equality :action-costs"
        lines += [f" (:requirements :strips {flags})", f" (:types {' '.join(kinds)})"]
        constants = [f"{name} - {kind}" for name, kind in self.objects.items() if name in self._constants()]
        lines.append(f" (:constants {' '.join(constants)})")
        predicates = [f"({name}{_typed(_numbered(kinds))})" for name, kinds in self.predicates.items()]
        lines.append(f" (:predicates {' '.join(predicates)})")
        if self.has_metric:
            used = [schema.cost for schema in self.schemas if isinstance(schema.cost, tuple)]
            # A function of which no value is known is used by schemas all the same.
            functions = {atom[0]: len(atom) - 1 for atom in (*self.values, *used)}
            declared = [
                f"({name}{_typed(_numbered(['object'] * size))}) - number" for name, size in functions.items()
            ]
            lines.append(f" (:functions (total-cost) - number {' '.join(declared)})")
        lines += [self._schema(schema) for schema in self.schemas]
        return "\n".join([*lines, ")"])

    def problem(self) -> str:
        """The problem as PDDL."""
        objects = [f"{name} - {kind}" for name, kind in self.objects.items() if name not in self._constants()]
        init = [f"({' '.join(atom)})" for atom in sorted(self.initial)]
        lines = ["(define (problem p) (:domain torture)", f" (:objects {' '.join(objects)})"]
        if self.has_metric:
            init += ["(= (total-cost) 0)"]
            init += [f"(= ({' '.join(atom)}) {value})" for atom, value in self.values.items()]
        lines += [f" (:init {' '.join(init)})", f" (:goal (and {' '.join(map(str, self.goal))}))"]
        if self.has_metric:
            lines.append(" (:metric minimize (total-cost))")
        return "\n".join([*lines, ")"])

    def _constants(self) -> set[str]:
        """Objects that schemas name; they must be known to the domain."""
        literals = [one for s in self.schemas for one in (*s.needs, *s.either, *s.effects)]
        return {term for one in literals for term in one.atom[1:] if term in self.objects}

    def _schema(self, schema: Schema) -> str:
        needs = [str(one) for one in schema.needs]
        if schema.either:
            needs.append(f"(or {' '.join(map(str, schema.either))})")
        effects = [str(one) for one in schema.effects]
        if self.has_metric and schema.cost is not None:
            cost = schema.cost if isinstance(schema.cost, int) else f"({' '.join(schema.cost)})"
            effects.append(f"(increase (total-cost) {cost})")
        return (
            f" (:action {schema.name} :parameters ({_typed(schema.parameters).strip()})\n"
            f"  :precondition (and {' '.join(needs)})\n  :effect (and {' '.join(effects)}))"
        )


def _numbered(kinds: tuple[str, ...] | list[str]) -> list[tuple[str, str]]:
    return [(f"?x{number}", kind) for number, kind in enumerate(kinds)]


def _typed(names: tuple[tuple[str, str], ...] | list[tuple[str, str]]) -> str:
    texts = []
    for name, kind in names:
        texts.append(f" {name} - (either {kind})" if " " in kind else f" {name} - {kind}")
    return "".join(texts)
