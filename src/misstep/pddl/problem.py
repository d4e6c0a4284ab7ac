"""Reads and checks a PDDL problem against its domain."""

from itertools import pairwise
from pathlib import Path

from misstep.formats.sexp import Form, Node, Source, Symbol, parse
from misstep.pddl.domain import read_define, read_requirements
from misstep.pddl.formulas import read_condition, read_cost
from misstep.pddl.given import source_of
from misstep.pddl.model import And, Atom, Domain, Formula, Not, Problem
from misstep.pddl.scope import Scope
from misstep.support.suggest import did_you_mean

_SECTIONS = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric")


def read_problem(path: str | Path, domain: Domain) -> Problem:
    """Reads a problem of this domain from a file, or from PDDL text."""
    return parse_problem(source_of(path, kind="PDDL problem"), domain)


def parse_problem(source: Source, domain: Domain) -> Problem:
    """Reads a problem from its text."""
    form = parse(source)
    name, listed = read_define(form, source, "problem")
    sections: dict[str, Form] = {}
    for section in listed:
        head = str(section[0])
        if head == ":constraints":
            raise source.unsupported(section, "`:constraints`; misstep handles classical planning only")
        if head not in _SECTIONS and head != ":length":
            hint = did_you_mean(head, _SECTIONS) or f"sections are {', '.join(_SECTIONS)}"
            raise source.error(section, f"unknown section `{head}` in a problem; {hint}")
        if head in sections:
            raise source.error(section, f"a second `{head}` section; join the two")
        sections[head] = section
    for head in (":init", ":goal"):
        if head not in sections:
            raise source.error(form, f"the problem has no `{head}` section; add one")
    if ":requirements" in sections:
        read_requirements(sections[":requirements"], source)
    warnings = _check_domain_name(sections.get(":domain"), source, domain)
    scope = Scope(source, domain.supertypes, domain.predicates, domain.functions)
    scope.names |= {constant.name: constant.types for constant in domain.constants}
    objects = scope.single_typed_list(sections.get(":objects", [])[1:], "object")
    for thing, node in zip(objects, _names(sections.get(":objects", [])), strict=True):
        if thing.name in scope.names:
            raise source.error(
                node, f"object `{thing.name}` is already a constant of the domain; remove it here"
            )
    scope.names |= {thing.name: thing.types for thing in objects}
    init, values = _init(sections[":init"], scope)
    goal, negative_goal = _goal(sections[":goal"], scope)
    return Problem(
        name=name,
        domain=domain,
        objects=(*domain.constants, *objects),
        init=init,
        values=values,
        goal=goal,
        negative_goal=negative_goal,
        has_metric=_metric(sections.get(":metric"), scope),
        warnings=warnings,
        source=source,
        form=form,
    )


def _names(items: list[Node]) -> list[Node]:
    """The declared names of a typed list, without the section's head and the types."""
    return [node for before, node in pairwise(items) if node != "-" and before != "-"]


def _check_domain_name(section: Form | None, source: Source, domain: Domain) -> tuple[str, ...]:
    if section is None:
        return (f"{source.name}:1:1: the problem names no domain; `(:domain {domain.name})` is missing",)
    if len(section) != 2 or not isinstance(section[1], Symbol):
        raise source.error(section, f"one name was expected here; write `(:domain {domain.name})`")
    if section[1] == domain.name:
        return ()
    return (
        f"{source.where(section[1])}: the problem is for domain `{section[1]}`, but {domain.source.name} "
        f"defines `{domain.name}`; check that the two files belong together",
    )


def _init(section: Form, scope: Scope) -> tuple[tuple[Atom, ...], dict[Atom, int]]:
    source = scope.source
    atoms: dict[Atom, None] = {}
    values: dict[Atom, int] = {}
    for node in section[1:]:
        if not isinstance(node, Form) or not node:
            raise source.error(node, "an atom was expected here; write `(predicate object ...)`")
        head = node[0]
        if head == "=":
            if len(node) != 3 or not isinstance(node[1], Form) or not isinstance(node[2], Symbol):
                raise source.error(node, "write an initial value as `(= (function object ...) number)`")
            values[scope.function(node[1])] = read_cost(node[2], scope)
        elif head == "not":
            if len(node) != 2 or not isinstance(node[1], Form):
                raise source.error(node, "`not` takes one atom; write `(not (predicate object ...))`")
            scope.atom(node[1], check_types=True)  # What is not listed is false anyway.
        elif head == "at" and len(node) == 3 and isinstance(node[1], Symbol) and _is_number(node[1]):
            raise source.unsupported(node, "timed initial literal; misstep handles classical planning only")
        elif head in ("and", "or", "forall", "exists", "imply", "when", "oneof", "unknown"):
            raise source.error(node, f"`{head}` in `:init`; list the true atoms one after the other")
        else:
            atoms[scope.atom(node, check_types=True)] = None
    return tuple(atoms), values


def _is_number(symbol: Symbol) -> bool:
    try:
        float(symbol)
    except ValueError:
        return False
    return True


def _goal(section: Form, scope: Scope) -> tuple[tuple[Atom, ...], tuple[Atom, ...]]:
    if len(section) != 2:
        raise scope.source.error(section, "`:goal` takes one condition; join several with `(and ...)`")
    node = section[1]
    literals = _literals(read_condition(node, scope), node, scope)
    if not literals:
        raise scope.source.unsupported(
            node, "an empty goal, which holds in every state; name at least one atom"
        )
    _check_types(node, scope)
    positive = dict.fromkeys(literal for literal in literals if isinstance(literal, Atom))
    negative = dict.fromkeys(
        literal.part for literal in literals if isinstance(literal, Not) and isinstance(literal.part, Atom)
    )
    return tuple(positive), tuple(negative)


def _literals(goal: Formula, node: Node, scope: Scope) -> list[Atom | Not]:
    match goal:
        case And(parts):
            nodes = node[1:] if isinstance(node, Form) else []
            return [
                found for part, at in zip(parts, nodes, strict=True) for found in _literals(part, at, scope)
            ]
        case Atom(predicate, _) if predicate != "=":
            return [goal]
        case Not(Atom(predicate, _)) if predicate != "=":
            return [goal]
    head = node[0] if isinstance(node, Form) and node else node
    raise scope.source.unsupported(
        node,
        f"goal with `{head}`, which makes the translator emit axioms; a goal is a conjunction of atoms and "
        "negated atoms",
    )


def _check_types(node: Node, scope: Scope) -> None:
    """Checks the objects in a conjunction of literals."""
    if not isinstance(node, Form) or not node:
        return
    if node[0] in ("and", "not"):
        for part in node[1:]:
            _check_types(part, scope)
    else:
        scope.atom(node, check_types=True)


def _metric(section: Form | None, scope: Scope) -> bool:
    if section is None:
        return False
    if section[1:] == ["minimize", ["total-cost"]]:
        if "total-cost" not in scope.functions:
            raise scope.source.error(
                section, "`total-cost` is not a function of the domain; declare it there"
            )
        return True
    raise scope.source.unsupported(
        section, "this `:metric`; only `(:metric minimize (total-cost))` is handled, or use --unit-cost"
    )
