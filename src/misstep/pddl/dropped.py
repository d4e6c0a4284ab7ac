"""Explains which action schemas the translator left out of a task, as warnings."""

import re
from collections.abc import Iterator

from misstep.pddl import And, Atom, Formula, Problem, Schema, atoms_in

_OPERATOR = re.compile(r"^begin_operator\n(\S+)", re.MULTILINE)


def translation_warnings(problem: Problem, sas: str, *, unit_cost: bool) -> list[str]:
    """What a user should know about the difference between the PDDL and the SAS text made from it."""
    domain = problem.domain
    warnings = [*problem.warnings]
    present = set(_OPERATOR.findall(sas))
    dropped = [schema for schema in domain.schemas if schema.name not in present]
    for schema in domain.schemas:
        if not unit_cost and isinstance(schema.cost, Atom):
            warnings += _missing_costs(schema, schema.cost, problem, dropped=schema in dropped)
    if "dummy" not in domain.predicates and "Atom dummy(val1)" in sas:
        holds = (
            "holds in every state"
            if "begin_goal\n1\n0 0\n" in sas
            else "cannot be reached, even by relaxed plans"
        )
        warnings.append(
            f"{problem.source.name}: the goal {holds}; the translator wrote a trivial task without actions"
        )
        return warnings
    missing = [schema.name for schema in dropped if not any(f"`{schema.name}`" in text for text in warnings)]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        warnings.append(
            f"{problem.source.name}: no action of {names} can ever be applied and change something; "
            "the translator dropped the schema"
        )
    return warnings


def _missing_costs(schema: Schema, cost: Atom, problem: Problem, *, dropped: bool) -> Iterator[str]:
    """The translator silently skips every ground action whose cost function has no initial value."""
    end = "the translator drops such actions; add the values or use --unit-cost (unit_cost=True)"
    if not any(value.predicate == cost.predicate for value in problem.values):
        if dropped:
            yield (
                f"{problem.source.name}: action schema `{schema.name}` is dropped: its cost `{cost}` has no "
                f"initial value in this problem; {end}"
            )
        return
    example = next(_uncovered(schema, cost, problem), None)
    if example is not None:
        yield (
            f"{problem.source.name}: some actions of `{schema.name}` are dropped: their cost "
            f"`{example}` has no initial value; {end}"
        )


def _uncovered(schema: Schema, cost: Atom, problem: Problem) -> Iterator[Atom]:
    """Cost terms without a value, for bindings that a static precondition such as `(road ?a ?b)` allows."""
    changing = {atom.predicate for atom, _ in atoms_in(other.effect for other in problem.domain.schemas)}
    for guard in _conjuncts(schema.precondition):
        if guard.predicate in changing or guard.predicate == "=":
            continue
        if not {term for term in cost.terms if term.startswith("?")} <= set(guard.terms):
            continue
        for atom in problem.init:
            if atom.predicate != guard.predicate:
                continue
            binding = dict(zip(guard.terms, atom.terms, strict=True))
            term = Atom(cost.predicate, tuple(binding.get(word, word) for word in cost.terms))
            if term not in problem.values:
                yield term


def _conjuncts(formula: Formula) -> Iterator[Atom]:
    match formula:
        case Atom():
            yield formula
        case And(parts):
            for part in parts:
                yield from _conjuncts(part)
