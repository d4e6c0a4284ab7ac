"""Rewrites `either` where the translator does not know it: a static predicate says which objects are meant."""

from collections.abc import Iterable, Sequence

from misstep.formats.sexp import Form, Node, Symbol
from misstep.pddl.model import OBJECT, Domain, Problem

_PREFIX = "misstep-either-"


def without_either(domain: Domain, problem: Problem) -> tuple[Form, Form]:
    """The forms of domain and problem; parameters and quantified variables have plain types in them.

    `?x - (either a b)` becomes `?x - object` with a condition that the object is an `a` or a `b`. The atoms
    of that condition never change, so the translator leaves them out of the task again. Declarations of
    predicates and functions stay: it takes them as they are.
    """
    rewriting = _Rewriting()
    sections = [rewriting.section(part) for part in domain.form]
    if not rewriting.predicates:
        return domain.form, problem.form
    declared = [_form(name, "?x") for name in rewriting.predicates.values()]
    if not any(isinstance(part, Form) and part and part[0] == ":predicates" for part in sections):
        sections.insert(2, _form(":predicates"))
    for part in sections:
        if isinstance(part, Form) and part and part[0] == ":predicates":
            part += declared
    facts = [
        _form(name, thing.name)
        for kinds, name in rewriting.predicates.items()
        for thing in problem.objects
        if any(above in kinds for kind in thing.types for above in domain.supertypes[kind])
    ]
    goal = [
        Form(part.offset, [*part, *facts])
        if isinstance(part, Form) and part and part[0] == ":init"
        else rewriting.condition(part)
        for part in problem.form
    ]
    return Form(0, sections), Form(0, goal)


class _Rewriting:
    """The predicates that stand for `either` types, by the types."""

    def __init__(self) -> None:
        self.predicates: dict[tuple[str, ...], str] = {}

    def section(self, node: Node) -> Node:
        """A section of the domain; only actions have such types."""
        if not isinstance(node, Form) or not node or node[0] != ":action":
            return Form(node.offset, node) if isinstance(node, Form) else node
        keys = {str(key): value for key, value in zip(node[2::2], node[3::2], strict=False)}
        listed = keys.get(":parameters", Form(0))
        plain, conditions = self._plain(listed if isinstance(listed, Form) else Form(0))
        keys[":parameters"] = plain
        if ":precondition" in keys:
            keys[":precondition"] = self.condition(keys[":precondition"])
        if conditions:
            keys[":precondition"] = _and(keys.get(":precondition"), conditions)
        if ":effect" in keys:
            keys[":effect"] = self._effect(keys[":effect"])
        parts = [part for key in sorted(keys, key=_ORDER.index) for part in (_symbol(key), keys[key])]
        return Form(node.offset, [*node[:2], *parts])

    def condition(self, node: Node) -> Node:
        """A condition, or anything else that holds conditions."""
        if not isinstance(node, Form):
            return node
        if len(node) == 3 and node[0] in ("forall", "exists") and isinstance(node[1], Form):
            plain, conditions = self._plain(node[1])
            body = self.condition(node[2])
            if conditions and node[0] == "forall":
                body = Form(node.offset, [_symbol("imply"), _and(None, conditions), body])
            elif conditions:
                body = _and(body, conditions)
            return Form(node.offset, [node[0], plain, body])
        return Form(node.offset, map(self.condition, node))

    def _effect(self, node: Node) -> Node:
        if not isinstance(node, Form) or not node:
            return node
        if len(node) == 3 and node[0] == "forall" and isinstance(node[1], Form):
            plain, conditions = self._plain(node[1])
            body = self._effect(node[2])
            if conditions:
                body = Form(node.offset, [_symbol("when"), _and(None, conditions), body])
            return Form(node.offset, [node[0], plain, body])
        if len(node) == 3 and node[0] == "when":
            return Form(node.offset, [node[0], self.condition(node[1]), self._effect(node[2])])
        return Form(node.offset, map(self._effect, node))

    def _plain(self, listed: Form) -> tuple[Form, list[Form]]:
        """A typed list without `either`, and the conditions that stand for it."""
        plain, conditions, group = Form(listed.offset), list[Form](), list[Symbol]()
        for node in listed:
            if isinstance(node, Symbol):
                plain.append(node)
                group.append(node)
                continue
            kinds = tuple(sorted(str(word) for word in node[1:] if isinstance(word, Symbol)))
            name = self.predicates.setdefault(kinds, f"{_PREFIX}{len(self.predicates)}")
            conditions += [_form(name, variable) for variable in _last_group(group)]
            plain.append(_symbol(OBJECT))
            group = []
        return plain, conditions


_ORDER = (":parameters", ":precondition", ":effect")


def _last_group(words: Sequence[Symbol]) -> Iterable[str]:
    """The variables before the last `-` that have no type of their own yet."""
    variables: list[str] = []
    after_dash = False
    for word in words[:-1]:
        if after_dash:
            variables, after_dash = [], False
        elif word == "-":
            after_dash = True
        else:
            variables.append(str(word))
    return variables


def _and(condition: Node | None, more: Sequence[Form]) -> Form:
    first = [condition] if isinstance(condition, Form) and condition else []
    return Form(0, [_symbol("and"), *first, *more])


def _form(*words: str) -> Form:
    return Form(0, map(_symbol, words))


def _symbol(word: str) -> Symbol:
    symbol = Symbol(word)
    symbol.offset = 0
    return symbol
