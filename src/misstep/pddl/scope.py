"""Checks names, arities and types while PDDL is read; errors point at the place and suggest a fix."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from misstep.errors import MisstepError
from misstep.formats.sexp import Form, Node, Source, Symbol
from misstep.pddl.model import OBJECT, Atom, Signature, Typed
from misstep.support.suggest import did_you_mean


@dataclass(slots=True)
class Scope:
    """All names that a formula may use. `names` maps constants, objects and variables to their types."""

    source: Source
    supertypes: dict[str, tuple[str, ...]] = field(default_factory=lambda: {OBJECT: (OBJECT,)})
    predicates: dict[str, Signature] = field(default_factory=dict)
    functions: dict[str, Signature] = field(default_factory=dict)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def inner(self, variables: Iterable[Typed]) -> "Scope":
        """The scope under a quantifier or an action, where these variables are known as well."""
        names = self.names | {variable.name: variable.types for variable in variables}
        return Scope(self.source, self.supertypes, self.predicates, self.functions, names)

    def fits(self, types: Sequence[str], wanted: Sequence[str]) -> bool:
        """Whether a term of one of these types can stand where one of `wanted` is asked for."""
        return any(above in wanted for kind in types for above in self.supertypes[kind])

    def atom(self, form: Form, *, check_types: bool = False) -> Atom:
        """Reads `(predicate term ...)`. Types are checked on demand: real domains are lax about variables."""
        return self._apply(form, self.predicates, "predicate", check_types=check_types)

    def function(self, form: Form) -> Atom:
        """Reads `(function term ...)`."""
        return self._apply(form, self.functions, "function", check_types=False)

    def _apply(self, form: Form, declared: dict[str, Signature], kind: str, *, check_types: bool) -> Atom:
        head = form[0] if form else form
        if not isinstance(head, Symbol):
            raise self.source.error(head, f"a {kind} name was expected here; write `({kind} term ...)`")
        if head not in declared:
            raise self.unknown(head, kind, declared)
        signature = declared[head]
        terms = form[1:]
        if len(terms) != len(signature.parameters):
            raise self.source.error(
                form,
                f"`{head}` has {len(terms)} arguments here but is declared with "
                f"{len(signature.parameters)}; write it as `{_usage(signature)}`",
            )
        for term, parameter in zip(terms, signature.parameters, strict=True):
            self._term(term, parameter, signature, check_types=check_types)
        return Atom(str(head), tuple(map(str, terms)))

    def _term(self, term: Node, parameter: Typed, signature: Signature, *, check_types: bool) -> None:
        types = self.term(term)
        if check_types and not self.fits(types, parameter.types):
            raise self.source.error(
                term,
                f"type error: `{term}` is of type `{' or '.join(types)}`, but `{parameter.name}` of "
                f"`{signature.name}` must be of type `{' or '.join(parameter.types)}`; use another object or "
                "change its declaration",
            )

    def term(self, term: Node) -> tuple[str, ...]:
        """The types of a variable or object that must be known."""
        if not isinstance(term, Symbol):
            raise self.source.error(term, "a variable or an object was expected here, not a list")
        if term not in self.names:
            raise self.unknown(term, "variable" if term.startswith("?") else "object", self.names)
        return self.names[term]

    def unknown(self, symbol: Symbol, kind: str, known: Iterable[str]) -> MisstepError:
        """The error for a name that was never declared."""
        hint = did_you_mean(symbol, known) or f"declare it or correct the name ({_sample(known)})"
        return self.source.error(symbol, f"undeclared {kind} `{symbol}`; {hint}")

    def typed_list(self, items: Sequence[Node], kind: str, *, repeats: bool = False) -> tuple[Typed, ...]:
        """Reads `a b - t c - (either t u) d`; `kind` is `variable`, `object`, `constant`.

        With `repeats` a name may occur twice, as in a declaration, where only the number and the types count.
        """
        result: list[Typed] = []
        seen: set[str] = set()
        for names, types, _ in split_typed(self.source, items):
            for name in names:
                if (kind == "variable") != name.startswith("?"):
                    fix = (
                        "variables start with `?`" if kind == "variable" else "only variables start with `?`"
                    )
                    raise self.source.error(name, f"`{name}` where a {kind} was expected; {fix}")
                if name in seen and not repeats:
                    raise self.source.error(name, f"{kind} `{name}` is declared twice; remove one")
                seen.add(name)
            for kind_of in types:
                if kind_of not in self.supertypes:
                    raise self.unknown(kind_of, "type", self.supertypes)
            plain = tuple(map(str, types)) or (OBJECT,)
            result.extend(Typed(str(name), plain) for name in names)
        return tuple(result)

    def single_typed_list(self, items: Sequence[Node], kind: str) -> tuple[Typed, ...]:
        """A typed list of things that are of one type, not of one of several: objects and constants."""
        for node in items:
            if isinstance(node, Form) and node and node[0] == "either":
                raise self.source.unsupported(
                    node, f"`either` as the type of a {kind}, which leaves its type open; write one type"
                )
        return self.typed_list(items, kind)


def split_typed(
    source: Source, items: Sequence[Node]
) -> list[tuple[list[Symbol], list[Symbol], Symbol | None]]:
    """Groups of a typed list: the names, their types (none where omitted) and the `-` between them."""
    groups: list[tuple[list[Symbol], list[Symbol], Symbol | None]] = []
    names: list[Symbol] = []
    rest = iter(items)
    for node in rest:
        if not isinstance(node, Symbol):
            raise source.error(node, "a name was expected here, not a list; write `name ... - type`")
        if node != "-":
            names.append(node)
            continue
        kind = next(rest, None)
        if kind is None:
            raise source.error(node, "`-` without a type after it; add the type or remove the `-`")
        if isinstance(kind, Symbol):
            types = [kind]
        else:
            words = [word for word in kind if isinstance(word, Symbol)]
            if len(words) != len(kind) or len(words) < 2 or words[0] != "either":
                raise source.error(kind, "a type was expected here; write a name or `(either name ...)`")
            types = words[1:]
        groups.append((names, types, node))
        names = []
    if names:
        groups.append((names, [], None))
    return groups


def _usage(signature: Signature) -> str:
    return "(" + " ".join((signature.name, *(parameter.name for parameter in signature.parameters))) + ")"


def _sample(known: Iterable[str]) -> str:
    names = sorted(known)
    more = ", ..." if len(names) > 5 else ""
    return f"known: {', '.join(names[:5])}{more}" if names else "none is declared"
