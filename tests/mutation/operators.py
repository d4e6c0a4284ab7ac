"""All small changes to a module that could be mistakes: one expression or one statement each."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_SWAPPED_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_SILENT = {"logging", "logger", "log", "warnings"}


@dataclass(frozen=True, order=True)
class Edit:
    """Bytes of a module's text, by place, and what stands there instead."""

    begin: int
    end: int
    text: str
    kind: str
    lines: tuple[int, int]
    """First and last line of the statement in which it is."""
    is_at_import: bool
    """Whether it runs when the module is imported, whatever a test does."""

    def apply(self, source: bytes) -> bytes:
        return source[: self.begin] + self.text.encode() + source[self.end :]


def edits(source: bytes) -> list[Edit]:
    """All changes, by place. A few of them may not be Python; `differs` says so."""
    walk = _Walk(source)
    walk.visit(ast.parse(source))
    return list({(edit.begin, edit.end, edit.text): edit for edit in sorted(walk.found)}.values())


def differs(source: bytes, edit: Edit) -> bool:
    """Whether a change gives a module that can be compiled and that is another one."""
    try:
        return ast.dump(ast.parse(edit.apply(source))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


class _Walk(ast.NodeVisitor):
    """Visits what may be changed. Left out: texts for people, annotations, decorators, imports, asserts."""

    def __init__(self, source: bytes) -> None:
        self.found: list[Edit] = []
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._lines = (1, 1)
        self._depth = 0

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            before = self._lines
            self._lines = (node.lineno, _last_line(node))
            for text, kind in _statements(node):
                self._add(node, text, kind)
            super().visit(node)
            self._lines = before
            return
        if isinstance(node, ast.expr):
            for changed, kind in _expressions(node):
                self._add(
                    node,
                    f"({ast.unparse(changed)})" if _needs_brackets(changed) else ast.unparse(changed),
                    kind,
                )
        super().visit(node)

    def _add(self, node: ast.stmt | ast.expr, text: str, kind: str) -> None:
        assert node.end_lineno is not None and node.end_col_offset is not None
        begin = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        self.found.append(Edit(begin, end, text, kind, self._lines, self._depth == 0))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        self._depth += 1
        for statement in node.body:
            self.visit(statement)
        self._depth -= 1

    visit_FunctionDef = _function  # noqa: N815
    visit_AsyncFunctionDef = _function  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._depth += 1
        self.visit(node.body)
        self._depth -= 1

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" in ast.unparse(node.test) or "__name__" in ast.unparse(node.test):
            return
        self._condition(node.test, (True, False))
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._condition(node.test, (False,))
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._condition(node.test, (True, False))
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self._condition(condition, (True, False))
        self.generic_visit(node)

    def _condition(self, node: ast.expr, values: tuple[bool, ...]) -> None:
        for value in values:
            self._add(node, str(value), f"condition is {value}")

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """What it says is for people."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """The same."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """For the type checker."""

    def visit_Import(self, node: ast.Import) -> None:
        """Nothing to change."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """The same."""

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in ("cast", "TypeVar", "NewType", "isinstance"):
            for argument in node.args[1:] if node.func.id == "cast" else node.args[:1]:
                self.visit(argument)
            return
        if _root(node.func) in _SILENT:
            return
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":  # of `zip`: as an assert
            self.visit(node.value)


def _statements(node: ast.stmt) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Raise():
            yield "pass", "raise"
        case ast.Return(value=value) if value is not None and ast.unparse(value) != "None":
            yield "return None", "return"
        case ast.Expr(value=ast.Call(func=function)) if _root(function) not in _SILENT:
            yield "pass", "deleted"
        case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
            yield "pass", "deleted"
        case ast.Delete(targets=[ast.Name(), *_]):
            return  # of arguments that are not used
        case ast.AugAssign() | ast.Delete() | ast.Continue() | ast.Break():
            yield "pass", "deleted"
            if isinstance(node, ast.AugAssign) and type(node.op) in _ARITHMETIC:
                changed = copy.copy(node)
                changed.op = _ARITHMETIC[type(node.op)]()
                yield ast.unparse(changed), "arithmetic"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "pass", "deleted"
        case _:
            return


def _expressions(node: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    match node:
        case ast.Compare(ops=ops):
            for place, operator in enumerate(ops):
                for other in _COMPARISONS[type(operator)]:
                    changed = copy.deepcopy(node)
                    changed.ops[place] = other()
                    yield changed, "comparison"
        case ast.BoolOp(op=operator, values=values):
            other_operator = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield ast.BoolOp(op=other_operator, values=values), "and/or"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand, "not"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield operand, "sign"
        case ast.BinOp(left=left, op=operator, right=right):
            is_text = any(isinstance(side, ast.JoinedStr) or _is_text(side) for side in (left, right))
            if type(operator) in _ARITHMETIC and not is_text:
                yield ast.BinOp(left=left, op=_ARITHMETIC[type(operator)](), right=right), "arithmetic"
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value), "constant"
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1), "constant"
            if value == 1:
                yield ast.Constant(0), "constant"
        case ast.Constant(value=float(value)):
            yield ast.Constant(value / 2 if value else 1.0), "constant"
        case ast.Call(func=ast.Name(id=name), args=[_, *_]) if name in _SWAPPED_CALLS:
            changed_call = copy.deepcopy(node)
            changed_call.func = ast.Name(_SWAPPED_CALLS[name])
            yield changed_call, "call"
        case _:
            return


def _last_line(node: ast.stmt) -> int:
    """Of a compound statement only the head: its body consists of statements of its own."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and body:
        return max(node.lineno, int(body[0].lineno) - 1)
    return node.end_lineno or node.lineno


def _needs_brackets(node: ast.expr) -> bool:
    return isinstance(node, (ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
