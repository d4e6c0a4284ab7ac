"""Tree ensembles as policies: each output is a sum over decision trees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misstep.errors import InputError
from misstep.formats.jani import parse, read_text

MAX_DEPTH = 100


def read_trees(path: Path) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Read `{"base_scores": [...], "trees": [[tree, ...] for each output]}`.

    A tree is `{"leaf_value": x}` or `{"feat_id": i, "split_value": v, "lt": tree, "gt": tree}`: input i below
    v goes to `lt`, everything else to `gt`.
    """
    document = parse(read_text(path), str(path))
    trees = document.get("trees") if isinstance(document, dict) else None
    if not isinstance(trees, list) or not all(isinstance(group, list) for group in trees):
        raise InputError(f"{path}: $.trees: expected one list of trees for each output")
    base = np.array(document.get("base_scores", [0.0] * len(trees)), np.float64)
    if base.shape != (len(trees),):
        raise InputError(f"{path}: $.base_scores: expected one number for each output")
    for o, group in enumerate(trees):
        for k, tree in enumerate(group):
            _check(tree, f"{path}: $.trees[{o}][{k}]", 0)

    def scores(x: NDArray[np.float64]) -> NDArray[np.float64]:
        rows = [
            [base[o] + sum(_leaf(tree, row) for tree in group) for o, group in enumerate(trees)] for row in x
        ]
        return np.array(rows, np.float64)

    return scores


def _check(tree: Any, where: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InputError(f"{where}: the tree is deeper than {MAX_DEPTH}")
    if not isinstance(tree, dict):
        raise InputError(f"{where}: expected a tree")
    if isinstance(tree.get("leaf_value"), int | float):
        return
    if not isinstance(tree.get("feat_id"), int) or not isinstance(tree.get("split_value"), int | float):
        raise InputError(f"{where}: expected leaf_value, or feat_id and split_value")
    _check(tree.get("lt"), f"{where}.lt", depth + 1)
    _check(tree.get("gt"), f"{where}.gt", depth + 1)


def _leaf(tree: dict[str, Any], row: NDArray[np.float64]) -> float:
    while "leaf_value" not in tree:
        if not 0 <= tree["feat_id"] < len(row):
            raise InputError(f"a tree tests input {tree['feat_id']}, the interface names {len(row)}")
        tree = tree["lt"] if row[tree["feat_id"]] < tree["split_value"] else tree["gt"]
    return float(tree["leaf_value"])
