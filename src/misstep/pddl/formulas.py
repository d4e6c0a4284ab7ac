"""Reads conditions and effects; numeric and conditional constructs are refused by name."""

from dataclasses import dataclass, field

from misstep.formats.sexp import Form, Node, Symbol
from misstep.pddl.model import And, Atom, Exists, Forall, Formula, Imply, Not, Or, Typed
from misstep.pddl.scope import Scope

_COMPARISONS = {"<", "<=", ">", ">="}
_ASSIGNMENTS = {"assign", "decrease", "scale-up", "scale-down"}


def read_condition(node: Node, scope: Scope) -> Formula:
    """A precondition or goal; `()` is true."""
    source = scope.source
    if not isinstance(node, Form):
        raise source.error(node, f"`{node}` where a condition was expected; write `({node} ...)`")
    if not node:
        return And(())
    head, parts = _head(node, scope), node[1:]
    if head == "and":
        return And(tuple(read_condition(part, scope) for part in parts))
    if head == "or":
        return Or(tuple(read_condition(part, scope) for part in parts))
    if head == "not":
        _expect(node, 1, scope)
        return Not(read_condition(parts[0], scope))
    if head == "imply":
        _expect(node, 2, scope)
        return Imply(read_condition(parts[0], scope), read_condition(parts[1], scope))
    if head in ("forall", "exists"):
        variables, inner = _quantifier(node, scope)
        part = read_condition(parts[1], inner)
        return Forall(variables, part) if head == "forall" else Exists(variables, part)
    if head == "=":
        _expect(node, 2, scope)
        if any(isinstance(part, Form) for part in parts):
            raise source.unsupported(
                node, "numeric condition `=`; misstep handles numbers only as action costs"
            )
        for term in parts:
            scope.term(term)
        return Atom("=", tuple(map(str, parts)))
    if head in _COMPARISONS:
        raise source.unsupported(
            node, f"numeric condition `{head}`; misstep handles numbers only as action costs"
        )
    if head == "preference":
        raise source.unsupported(node, "`preference`; remove it or make it a hard condition")
    return scope.atom(node)


@dataclass(slots=True)
class EffectReader:
    """Reads one action's effect and sets its cost aside."""

    cost: int | Atom | None = field(default=None, init=False)

    def read(self, node: Node, scope: Scope) -> Formula:
        """An effect without its costs; `()` changes nothing."""
        source = scope.source
        if not isinstance(node, Form):
            raise source.error(node, f"`{node}` where an effect was expected; write `({node} ...)`")
        if not node:
            return And(())
        head, parts = _head(node, scope), node[1:]
        if head == "and":
            return And(tuple(self.read(part, scope) for part in parts if not self._is_cost(part, scope)))
        if head == "not":
            _expect(node, 1, scope)
            part = parts[0]
            if not isinstance(part, Form):
                raise source.error(part, f"`{part}` where an atom was expected; write `(not ({part} ...))`")
            return Not(scope.atom(part))
        if head == "forall":
            variables, inner = _quantifier(node, scope)
            return Forall(variables, self.read(parts[1], inner))
        if head == "when":
            raise source.unsupported(
                node, "conditional effect `when`; split the action into one for each case of its condition"
            )
        if head in ("or", "imply", "exists", "="):
            raise source.error(node, f"`{head}` in an effect; effects are atoms, `not`, `and` and `forall`")
        if head in _ASSIGNMENTS:
            raise source.unsupported(
                node, f"numeric effect `{head}`; only `(increase (total-cost) ...)` is handled"
            )
        if self._is_cost(node, scope):
            return And(())
        return scope.atom(node)

    def _is_cost(self, node: Node, scope: Scope) -> bool:
        if not isinstance(node, Form) or not node or node[0] != "increase":
            return False
        _expect(node, 2, scope)
        source = scope.source
        target, amount = node[1], node[2]
        if not isinstance(target, Form) or target != ["total-cost"]:
            raise source.unsupported(target, "`increase` of something other than `(total-cost)`")
        scope.function(target)
        if self.cost is not None:
            raise source.error(node, "a second `increase` of `(total-cost)` in one action; keep one of them")
        if isinstance(amount, Symbol):
            self.cost = read_cost(amount, scope)
        elif amount and _head(amount, scope) in ("+", "-", "*", "/"):
            raise source.unsupported(
                amount, f"arithmetic `{amount[0]}` in a cost; use a number or a function"
            )
        else:
            self.cost = scope.function(amount)
        return True


def read_cost(symbol: Symbol, scope: Scope) -> int:
    """A cost in the text: a non-negative integer."""
    try:
        value = float(symbol)
    except ValueError:
        raise scope.source.error(symbol, f"`{symbol}` where a number was expected") from None
    if value < 0:
        raise scope.source.error(symbol, f"negative cost `{symbol}`; costs are integers from 0")
    if not value.is_integer():
        raise scope.source.unsupported(
            symbol, f"cost `{symbol}` is not an integer; scale all costs to integers"
        )
    return int(value)


def _quantifier(node: Form, scope: Scope) -> tuple[tuple[Typed, ...], Scope]:
    _expect(node, 2, scope)
    listed = node[1]
    if not isinstance(listed, Form):
        raise scope.source.error(
            listed, f"`{listed}` where a list of variables was expected; write `(?x - type)`"
        )
    variables = scope.typed_list(listed, "variable")
    return variables, scope.inner(variables)


def _head(node: Form, scope: Scope) -> Symbol:
    head = node[0]
    if not isinstance(head, Symbol):
        raise scope.source.error(
            head, "a list where a name was expected; remove a pair of parentheses or add `and`"
        )
    return head


def _expect(node: Form, count: int, scope: Scope) -> None:
    if len(node) != count + 1:
        raise scope.source.error(node, f"`{node[0]}` takes {count} arguments, here it has {len(node) - 1}")
