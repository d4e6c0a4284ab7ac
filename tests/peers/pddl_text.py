"""PDDL text made palatable for peers that lack a feature, without changing states and transitions."""

from __future__ import annotations

import re
from collections.abc import Iterator

Tree = str | list["Tree"]


def without_costs(text: str) -> str:
    """Leaves out functions, their values, increases and the metric."""
    return _write(_stripped(_parse(text)))


def without_either(text: str) -> str:
    """Widens every union of types to `object`."""
    return re.sub(r"\(either [^)]*\)", "object", text)


def _parse(text: str) -> Tree:
    tokens = iter(re.findall(r"[()]|[^\s()]+", re.sub(r";[^\n]*", "", text).lower()))
    assert next(tokens) == "("
    return _list(tokens)


def _list(tokens: Iterator[str]) -> Tree:
    items: list[Tree] = []
    for token in tokens:
        if token == ")":
            return items
        items.append(_list(tokens) if token == "(" else token)
    raise AssertionError("a parenthesis is open")


def _stripped(tree: Tree) -> Tree:
    if isinstance(tree, str):
        return tree
    return [_stripped(item) for item in tree if not _is_about_costs(item)]


def _is_about_costs(tree: Tree) -> bool:
    if isinstance(tree, str) or not tree:
        return tree == ":action-costs"
    if tree[0] == "=":
        return isinstance(tree[1], list)
    return tree[0] in (":functions", ":metric", "increase")


def _write(tree: Tree) -> str:
    return tree if isinstance(tree, str) else f"({' '.join(map(_write, tree))})"
