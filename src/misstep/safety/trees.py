"""Tree ensembles as policies: each output is a base score plus a sum over decision trees."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from misstep._core import TreeEnsemble
from misstep.errors import InputError
from misstep.formats.jani import parse, read_text

MAX_DEPTH = 100
Node = tuple[int, float, int, int, int]


def read_trees(path: Path, inputs: int) -> TreeEnsemble:
    """Read `{"base_scores": [...], "trees": [...]}`.

    The trees are one list for each output, with a number at each leaf, or one list for all, with one number
    an output at each leaf. A tree is `{"leaf_value": x}` or `{"feat_id": i, "split_value": v, "lt": tree,
    "gt": tree}`: input i below v goes to `lt`, everything else to `gt`.
    """
    document = parse(read_text(path), str(path))
    trees = document.get("trees") if isinstance(document, dict) else None
    if not isinstance(trees, list) or not trees:
        raise InputError(f"{path}: $.trees: expected a list of trees, or one for each output")
    grouped = all(isinstance(group, list) for group in trees)
    base = document.get("base_scores", [0.0] * len(trees) if grouped else None)
    if not isinstance(base, list) or not all(map(_is_number, base)) or (grouped and len(base) != len(trees)):
        raise InputError(f"{path}: $.base_scores: expected one number for each output")
    flat = _Flat(len(base))
    if grouped:
        for o, group in enumerate(trees):
            for k, tree in enumerate(group):
                flat.add_root(tree, f"{path}: $.trees[{o}][{k}]", o)
    else:
        for k, tree in enumerate(trees):
            flat.add_root(tree, f"{path}: $.trees[{k}]", None)
    try:
        return TreeEnsemble(inputs, [float(b) for b in base], flat.roots, flat.nodes, flat.values)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


class _Flat:
    """Trees as rows of numbers, parents before children."""

    def __init__(self, outputs: int) -> None:
        self._outputs = outputs
        self.roots: list[int] = []
        self.nodes: list[Node] = []
        self.values: list[float] = []

    def add_root(self, tree: Any, where: str, output: int | None) -> None:
        self.roots.append(self._add(tree, where, output, 0))

    def _add(self, tree: Any, where: str, output: int | None, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise InputError(f"{where}: the tree is deeper than {MAX_DEPTH}")
        if not isinstance(tree, dict):
            raise InputError(f"{where}: expected a tree")
        place = len(self.nodes)
        if "leaf_value" in tree:
            leaf = tree["leaf_value"] if isinstance(tree["leaf_value"], list) else [tree["leaf_value"]]
            if len(leaf) != (self._outputs if output is None else 1) or not all(map(_is_number, leaf)):
                raise InputError(f"{where}.leaf_value: expected a number for each output of the tree")
            self.nodes.append((-1, 0.0, len(self.values), len(leaf), output or 0))
            self.values += map(float, leaf)
            return place
        feature, split = tree.get("feat_id"), tree.get("split_value")
        if not isinstance(feature, int) or not 0 <= feature < 1 << 31 or not _is_number(split):
            raise InputError(f"{where}: expected leaf_value, or feat_id and split_value")
        self.nodes.append((feature, float(split), 0, 0, 0))  # type: ignore[arg-type]
        below = self._add(tree.get("lt"), f"{where}.lt", output, depth + 1)
        above = self._add(tree.get("gt"), f"{where}.gt", output, depth + 1)
        self.nodes[place] = (feature, float(split), below, above, 0)  # type: ignore[arg-type]
        return place
