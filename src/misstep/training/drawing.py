"""Draws the tree of a training as SVG: time goes to the right, darker models have a better score."""

from collections.abc import Sequence
from dataclasses import dataclass

_STEP, _ROW, _MARGIN, _RADIUS = 44, 26, 30, 8


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A model: `parent` is the number of the one that it was trained from, None for the first."""

    number: int
    parent: int | None
    depth: int
    score: float
    """From 0 to 1."""


def draw_tree(nodes: Sequence[TreeNode], *, best: int) -> str:
    """A self-contained SVG; hovering over a model shows its number and score, `best` has a thick ring."""
    children: dict[int | None, list[TreeNode]] = {}
    for node in nodes:
        children.setdefault(node.parent, []).append(node)
    rows = _rows(children)
    place = {
        node.number: (_MARGIN + node.depth * _STEP, _MARGIN + rows[node.number] * _ROW) for node in nodes
    }
    width = 2 * _MARGIN + max((node.depth for node in nodes), default=0) * _STEP
    height = 2 * _MARGIN + max(rows.values(), default=0) * _ROW
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="9" role="img">',
        "<title>Training tree: depth is epochs, darker is better</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for node in nodes:
        if node.parent is not None:
            (x, y), (to_x, to_y) = place[node.parent], place[node.number]
            middle = (x + to_x) / 2
            lines.append(
                f'<path d="M{x} {y} C{middle:g} {y} {middle:g} {to_y} {to_x} {to_y}" fill="none" stroke="#999"/>'
            )
    for node in nodes:
        x, y = place[node.number]
        shade = round(235 - 195 * min(max(node.score, 0.0), 1.0))
        ring = ' stroke="#d00" stroke-width="3"' if node.number == best else ' stroke="#555"'
        lines.append(
            f"<g><title>model {node.number}, epoch {node.depth}, score {node.score:.3f}</title>"
            f'<circle cx="{x}" cy="{y}" r="{_RADIUS}" fill="rgb({shade},{shade},255)"{ring}/>'
            f'<text x="{x}" y="{y - _RADIUS - 2}" text-anchor="middle">{node.score:.2f}</text></g>'
        )
    return "\n".join([*lines, "</svg>", ""])


def _rows(children: dict[int | None, list[TreeNode]]) -> dict[int, int]:
    """A row for every model: the first child goes on in its parent's row, others get rows below."""
    rows: dict[int, int] = {}
    free = 0
    todo = [(root, True) for root in reversed(children.get(None, []))]
    while todo:
        node, opens = todo.pop()
        if opens:
            rows[node.number] = free
            free += 1
        else:
            assert node.parent is not None
            rows[node.number] = rows[node.parent]
        below = children.get(node.number, [])
        todo += [(each, at > 0) for at, each in reversed(list(enumerate(below)))]
    return rows
