"""JANI expressions as Python functions: made once from the JSON, called for every state.

An expression becomes a function of an *environment*, a sequence of values. Its first places hold the
variables of the model; names that an expression binds itself (the index of an array constructor, the
parameters of a function) get the places after them. A `Scope` says which name stands where.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from misstep.reference import reading
from misstep.reference.checked import need
from misstep.reference.reading import items, refusal, text

Evaluate = Callable[[Sequence[Any]], Any]


class Fuel:
    """Counts the rounds of everything that repeats, so that no expression keeps the checker busy forever."""

    def __init__(self) -> None:
        self.rounds = reading.MAX_WORK

    def burn(self, rounds: int) -> None:
        """Refuse where more rounds are needed than are left."""
        self.rounds -= rounds
        need(self.rounds >= 0, "the certificate takes too long to be checked")


class Function:
    """A function of the model. Its body sees the names around the function, not those around the call."""

    def __init__(self, declared: Mapping[str, Any], scope: "Scope") -> None:
        names = [text(p["name"], "a parameter") for p in declared.get("parameters", [])]
        self.arity, self.width = len(names), scope.width
        self._body, self._scope = declared["body"], scope.bind(*names)
        self._compiled: Evaluate | None = None

    def __call__(self, env: Sequence[Any], arguments: Sequence[Any]) -> Any:
        """The value for these arguments. The body is compiled at the first call: it may call itself."""
        if self._compiled is None:
            self._compiled = compile_expression(self._body, self._scope)
        self._scope.fuel.burn(1)
        return self._compiled((*env[: self.width], *arguments))


@dataclass(frozen=True)
class Scope:
    """What names mean: a place in the environment, or else a constant. `width` is the first free place."""

    constants: Mapping[str, Any]
    fuel: Fuel
    places: Mapping[str, int] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    width: int = 0

    def bind(self, *names: str) -> "Scope":
        """The scope inside an expression that binds names of its own."""
        new = {name: self.width + number for number, name in enumerate(names)}
        return replace(self, places={**self.places, **new}, width=self.width + len(names))


def compile_expression(e: Any, scope: Scope) -> Evaluate:
    """The function that computes an expression; refused where it has an operator or a name that is not known.

    Numbers and comparisons are Python's: integers are exact, reals are doubles, and both are compared
    exactly.
    """
    if isinstance(e, bool | int | float):
        need(isinstance(e, bool) or math.isfinite(e), "a number that is not finite")
        return lambda env: e
    if isinstance(e, str):
        return _named(e, scope)
    if not isinstance(e, dict):
        raise refusal(e, "an expression", "a number, a name or an object")
    op = e.get("op", "constant" if "constant" in e else None)
    if isinstance(op, str) and op in BINARY:
        return _binary(
            BINARY[op], compile_expression(e["left"], scope), compile_expression(e["right"], scope)
        )
    if isinstance(op, str) and op in UNARY:
        return _unary(UNARY[op], compile_expression(e["exp"], scope))
    need(isinstance(op, str) and op in OTHERS, f"the operator {str(op)[:60]} is not known here")
    return OTHERS[str(op)](e, scope)


def _named(name: str, scope: Scope) -> Evaluate:
    if name in scope.places:
        return operator.itemgetter(scope.places[name])
    need(name in scope.constants, f"the name {name[:60]} is not known here")
    value = scope.constants[name]
    return lambda env: value


def _binary(function: Callable[[Any, Any], Any], left: Evaluate, right: Evaluate) -> Evaluate:
    return lambda env: function(left(env), right(env))


def _unary(function: Callable[[Any], Any], part: Evaluate) -> Evaluate:
    return lambda env: function(part(env))


def _plus(a: Any, b: Any) -> Any:
    """A sum of numbers. Python would join arrays, and doing that again and again fills the memory."""
    need(not isinstance(a, tuple), "an array is no number")
    return a + b


def _times(a: Any, b: Any) -> Any:
    """A product of numbers; integers beyond 64 bits are refused, for the same reason."""
    need(not isinstance(a, tuple) and not isinstance(b, tuple), "an array is no number")
    product = a * b
    need(isinstance(product, float) or -(2**63) <= product < 2**63, "an integer is out of all bounds")
    return product


def _sign(x: Any) -> int:
    return int(x > 0) - int(x < 0)


def _constant(e: Mapping[str, Any], scope: Scope) -> Evaluate:
    del scope
    value = {"e": math.e, "π": math.pi}[e["constant"]]
    return lambda env: value


def _and(e: Mapping[str, Any], scope: Scope) -> Evaluate:
    left, right = compile_expression(e["left"], scope), compile_expression(e["right"], scope)
    return lambda env: left(env) and right(env)


def _or(e: Mapping[str, Any], scope: Scope) -> Evaluate:
    left, right = compile_expression(e["left"], scope), compile_expression(e["right"], scope)
    return lambda env: left(env) or right(env)


def _implies(e: Mapping[str, Any], scope: Scope) -> Evaluate:
    left, right = compile_expression(e["left"], scope), compile_expression(e["right"], scope)
    return lambda env: not left(env) or right(env)


def _if(e: Mapping[str, Any], scope: Scope) -> Evaluate:
    condition, then, other = (compile_expression(e[part], scope) for part in ("if", "then", "else"))
    return lambda env: then(env) if condition(env) else other(env)


def _array_access(e: Mapping[str, Any], scope: Scope) -> Evaluate:
    array, index = compile_expression(e["exp"], scope), compile_expression(e["index"], scope)

    def access(env: Sequence[Any]) -> Any:
        cells, place = array(env), index(env)
        need(type(place) is int and 0 <= place < len(cells), "an index is out of the bounds of its array")
        return cells[place]

    return access


def _array_value(e: Mapping[str, Any], scope: Scope) -> Evaluate:
    elements = [compile_expression(part, scope) for part in items(e["elements"], "the elements of an array")]
    return lambda env: tuple(element(env) for element in elements)


def _array_constructor(e: Mapping[str, Any], scope: Scope) -> Evaluate:
    length, inside = compile_expression(e["length"], scope), scope.bind(text(e["var"], "a variable"))
    cell, place = compile_expression(e["exp"], inside), scope.width

    def construct(env: Sequence[Any]) -> Any:
        count = length(env)
        scope.fuel.burn(count)
        return tuple(cell((*env[:place], number)) for number in range(count))

    return construct


def _call(e: Mapping[str, Any], scope: Scope) -> Evaluate:
    name = text(e["function"], "a function")
    need(name in scope.functions, f"the function {name[:60]} is not known here")
    function = scope.functions[name]
    arguments = [compile_expression(part, scope) for part in items(e["args"], "the arguments of a function")]
    need(len(arguments) == function.arity, f"the function {name} has {function.arity} parameters")
    return lambda env: function(env, [argument(env) for argument in arguments])


def _let(e: Mapping[str, Any], scope: Scope) -> Evaluate:
    need(not e.get("variables"), "names bound by let are not known here")
    return compile_expression(e["expression"], scope)


BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": _plus,
    "-": operator.sub,
    "*": _times,
    "/": operator.truediv,
    "%": lambda a, b: a % abs(b),
    "min": min,
    "max": max,
    "pow": math.pow,
    "log": lambda a, b: math.log(a) / math.log(b),
    "=": operator.eq,
    "⇔": operator.eq,
    "≠": operator.ne,
    "<": operator.lt,
    "≤": operator.le,
    ">": operator.gt,
    "≥": operator.ge,
}

UNARY: Mapping[str, Callable[[Any], Any]] = {
    "¬": operator.not_,
    "floor": math.floor,
    "ceil": math.ceil,
    "trc": math.trunc,
    "abs": abs,
    "sgn": _sign,
    "exp": math.exp,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
}

OTHERS: Mapping[str, Callable[[Mapping[str, Any], Scope], Evaluate]] = {
    "constant": _constant,
    "∧": _and,
    "∨": _or,  # noqa: RUF001
    "⇒": _implies,
    "ite": _if,
    "aa": _array_access,
    "av": _array_value,
    "ac": _array_constructor,
    "call": _call,
    "let": _let,
}
