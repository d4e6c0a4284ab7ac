"""Reads and checks a PDDL domain."""

from collections.abc import Callable
from pathlib import Path

from misstep.formats.sexp import Form, Node, Source, Symbol, parse
from misstep.pddl.formulas import EffectReader, read_condition
from misstep.pddl.given import source_of
from misstep.pddl.model import OBJECT, And, Domain, Formula, Schema, Signature
from misstep.pddl.scope import Scope, split_typed
from misstep.support.suggest import did_you_mean

HANDLED = frozenset(
    ":strips :typing :negative-preconditions :disjunctive-preconditions :equality :existential-preconditions "
    ":universal-preconditions :quantified-preconditions :conditional-effects :adl :derived-predicates "
    ":action-costs".split()
)
"""Requirements that may be declared. `when` and `:derived` are refused where they are really used."""

UNHANDLED = frozenset(
    ":fluents :numeric-fluents :object-fluents :durative-actions :duration-inequalities :continuous-effects "
    ":timed-initial-literals :timed-effects :timed-initial-fluents :preferences :constraints :time "
    ":probabilistic-effects :rewards :non-deterministic :multi-agent :hierarchy :method-preconditions "
    ":processes :events :goal-utilities :foralls-with-numeric-effects :partial-observability".split()
)
"""Requirements that exist, but outside classical planning with action costs."""


def read_domain(path: str | Path) -> Domain:
    """Reads a domain from a file or from PDDL text; it serves any number of `load` calls."""
    return parse_domain(source_of(path, kind="PDDL domain"))


def parse_domain(source: Source) -> Domain:
    """Reads a domain from its text."""
    form = parse(source)
    name, sections = read_define(form, source, "domain")
    scope = Scope(source, functions={})
    requirements: tuple[str, ...] = ()
    constants: list[Form] = []
    actions: list[Form] = []
    readers: dict[str, Callable[[Form], None]] = {
        ":types": lambda section: _types(section, scope),
        ":constants": constants.append,
        ":predicates": lambda section: _predicates(section, scope),
        ":functions": lambda section: _functions(section, scope),
        ":action": actions.append,
    }
    once: set[str] = set()
    for section in sections:
        head = section[0]
        if head == ":requirements":
            requirements = read_requirements(section, source)
        elif head in readers:
            if head in once and head != ":action":
                raise source.error(section, f"a second `{head}` section; join the two")
            once.add(str(head))
            readers[head](section)
        else:
            raise _unknown_section(section, source, [":requirements", *readers])
    listed = [node for section in constants for node in section[1:]]
    typed = scope.single_typed_list(listed, "constant")
    scope.names |= {constant.name: constant.types for constant in typed}
    schemas = tuple(_action(section, scope) for section in actions)
    seen: set[str] = set()
    for schema, section in zip(schemas, actions, strict=True):
        if schema.name in seen:
            raise source.error(section[1], f"action `{schema.name}` is declared twice; rename one")
        seen.add(schema.name)
    return Domain(
        name, requirements, scope.supertypes, typed, scope.predicates, scope.functions, schemas, source, form
    )


def read_define(form: Form, source: Source, kind: str) -> tuple[str, list[Form]]:
    """Takes `(define (KIND NAME) SECTION ...)` apart."""
    if not form or form[0] != "define":
        raise source.error(form, f"`(define ({kind} NAME) ...)` was expected; is this a PDDL {kind} file?")
    if len(form) < 2 or not isinstance(form[1], Form):
        raise source.error(form, f"`({kind} NAME)` is missing after `define`")
    title = form[1]
    if len(title) != 2 or not isinstance(title[1], Symbol) or not isinstance(title[0], Symbol):
        raise source.error(title, f"`({kind} NAME)` was expected here")
    if title[0] != kind:
        raise source.error(
            title, f"this file defines a `{title[0]}`, but a {kind} was expected; swap the files?"
        )
    sections: list[Form] = []
    for section in form[2:]:
        if not isinstance(section, Form) or not section or not isinstance(section[0], Symbol):
            raise source.error(section, "a section such as `(:predicates ...)` was expected here")
        sections.append(section)
    return str(title[1]), sections


def read_requirements(section: Form, source: Source) -> tuple[str, ...]:
    """The requirement flags, each known and handled."""
    flags: list[str] = []
    for flag in section[1:]:
        if not isinstance(flag, Symbol):
            raise source.error(flag, "a requirement such as `:strips` was expected here")
        if flag in UNHANDLED:
            raise source.unsupported(
                flag,
                f"requirement `{flag}`; misstep handles classical planning: {', '.join(sorted(HANDLED))}",
            )
        if flag not in HANDLED:
            hint = did_you_mean(flag, HANDLED | UNHANDLED) or f"known: {', '.join(sorted(HANDLED))}"
            raise source.error(flag, f"unknown requirement `{flag}`; {hint}")
        flags.append(str(flag))
    return tuple(flags)


def _unknown_section(section: Form, source: Source, known: list[str]) -> Exception:
    head = str(section[0])
    if head in (":derived", ":axiom"):
        return source.unsupported(section, f"derived predicate `{head}`; misstep handles no axioms")
    if head in (":durative-action", ":process", ":event", ":constraints", ":method", ":task"):
        return source.unsupported(section, f"`{head}`; misstep handles classical planning only")
    hint = did_you_mean(head, known) or f"sections are {', '.join(known)}"
    return source.error(section, f"unknown section `{head}` in a domain; {hint}")


def _types(section: Form, scope: Scope) -> None:
    source = scope.source
    parents: dict[str, list[Symbol]] = {}
    places: dict[str, Symbol] = {}
    for names, types, _ in split_typed(source, section[1:]):
        for name in names:
            parents.setdefault(str(name), []).extend(types)
            places[str(name)] = name
        for above in types:  # `a b - c` declares c too; benchmark files rely on it.
            parents.setdefault(str(above), [])
            places.setdefault(str(above), above)

    def chain(name: str, path: tuple[str, ...]) -> list[str]:
        if name in path:
            raise source.error(places[name], f"type `{name}` is its own supertype; break the cycle")
        found = [name]
        for parent in parents.get(name, ()):
            found += [other for other in chain(str(parent), (*path, name)) if other not in found]
        return found

    parents.pop(OBJECT, None)
    for declared in parents:
        scope.supertypes[declared] = (*(kind for kind in chain(declared, ()) if kind != OBJECT), OBJECT)


def _predicates(section: Form, scope: Scope) -> None:
    for node in section[1:]:
        signature = _signature(node, scope, "predicate")
        if signature.name in scope.predicates:
            raise scope.source.error(node, f"predicate `{signature.name}` is declared twice; remove one")
        scope.predicates[signature.name] = signature


def _functions(section: Form, scope: Scope) -> None:
    items = iter(section[1:])
    for node in items:
        if node == "-":
            kind = next(items, None)
            if kind != "number":
                raise scope.source.unsupported(node, "a function that is not a number (object fluent)")
            continue
        signature = _signature(node, scope, "function")
        scope.functions[signature.name] = signature


def _signature(node: Node, scope: Scope, kind: str) -> Signature:
    if not isinstance(node, Form) or not node or not isinstance(node[0], Symbol):
        raise scope.source.error(
            node, f"a {kind} declaration was expected here; write `(name ?x - type ...)`"
        )
    return Signature(str(node[0]), scope.typed_list(node[1:], "variable", repeats=True))


def _action(section: Form, scope: Scope) -> Schema:
    source = scope.source
    if len(section) < 2 or not isinstance(section[1], Symbol):
        raise source.error(section, "an action without a name; write `(:action NAME ...)`")
    keys: dict[str, Node] = {}
    items = iter(section[2:])
    known = (":parameters", ":precondition", ":effect")
    for key in items:
        if not isinstance(key, Symbol) or key not in known:
            hint = isinstance(key, Symbol) and did_you_mean(key, known)
            shown = f"`{key}`" if isinstance(key, Symbol) else "a list"
            may = hint or f"only {', '.join(known)} may stand here"
            raise source.error(key, f"{shown} in action `{section[1]}`; {may}")
        value = next(items, None)
        if value is None:
            raise source.error(key, f"nothing follows `{key}`; write `()` for none")
        if key in keys:
            raise source.error(key, f"a second `{key}` in action `{section[1]}`; keep one")
        keys[str(key)] = value
    listed = keys.get(":parameters", Form(section.offset))
    if not isinstance(listed, Form):
        raise source.error(listed, f"`{listed}` where a list of parameters was expected; write `(?x - type)`")
    parameters = scope.typed_list(listed, "variable")
    inner = scope.inner(parameters)
    precondition: Formula = And(())
    if ":precondition" in keys:
        precondition = read_condition(keys[":precondition"], inner)
    if ":effect" not in keys:
        raise source.error(section, f"action `{section[1]}` has no `:effect`; write `:effect ()` for none")
    reader = EffectReader()
    effect = reader.read(keys[":effect"], inner)
    return Schema(str(section[1]), parameters, precondition, effect, reader.cost)
