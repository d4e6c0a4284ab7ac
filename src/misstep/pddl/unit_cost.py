"""Strips action costs from PDDL, so that every action costs 1."""

from typing import cast

from misstep.formats.sexp import Form, Node


def without_costs(domain: Form, problem: Form) -> tuple[Form, Form]:
    """Domain and problem without `increase`, functions, their initial values and the metric."""
    return cast(Form, _strip(domain)), cast(Form, _strip(problem))


def _strip(node: Node) -> Node:
    if not isinstance(node, Form):
        return node
    if node and node[0] == "increase":
        return Form(node.offset)  # An action whose only effect is its cost keeps an empty effect.
    return Form(node.offset, (_strip(part) for part in node if not _about_costs(part, inside=node)))


def _about_costs(node: Node, *, inside: Form) -> bool:
    if not isinstance(node, Form):
        return node == ":action-costs" and bool(inside) and inside[0] == ":requirements"
    if not node:
        return False
    if node[0] == "increase":
        return bool(inside) and inside[0] == "and"
    numeric_init = node[0] == "=" and inside[0] == ":init"
    return numeric_init or node[0] in (":functions", ":metric")
