"""A figure of a table: for every row a small panel, in it a line for every column, ours beside the paper's."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from misstep.experiments.figures import COLOURS, Axis, document
from misstep.experiments.reproduce.table import Table, Value

_PANELS = 2
"""Side by side."""
_WIDTH, _LABEL, _RIGHT = 346, 112, 14
_HEAD, _LINE, _GAP, _TOP = 14, 11, 20, 44
_TICKS = (0, 25, 50, 75, 100)
_OURS, _PAPER = COLOURS[0], COLOURS[1]


def beside(table: Table, columns: Sequence[str]) -> str:
    """Percentages of the rows that have any of ours: a dot with its bounds, and a ring for the printed number."""
    shown = {
        row: [(column, values[column]) for column in columns if column in values]
        for row, values in table.rows.items()
        if any(column in values and values[column].ours is not None for column in columns)
    }
    panels = list(shown.items())
    has_bounds = any(value.low is not None for _, values in panels for _, value in values)
    lines, top = list(_head(table.name, has_bounds=has_bounds)), float(_TOP)
    for first in range(0, len(panels), _PANELS):
        beside_each_other = panels[first : first + _PANELS]
        for at, (row, values) in enumerate(beside_each_other):
            lines += _panel(row, values, at * _WIDTH, top)
        top += _HEAD + _LINE * max(len(values) for _, values in beside_each_other) + _GAP
    return document(_PANELS * _WIDTH, top, lines)


def _head(title: str, *, has_bounds: bool) -> Iterator[str]:
    middle = _PANELS * _WIDTH / 2
    yield f'<text x="{middle}" y="16" text-anchor="middle" font-weight="bold">{escape(title)}</text>'
    if has_bounds:
        yield f'<path d="M{middle - 150} 27h24" stroke="{_OURS}"/>'
    yield f'<circle cx="{middle - 138}" cy="27" r="3" fill="{_OURS}"/>'
    yield f'<text x="{middle - 120}" y="30">ours{", with 95 % bounds" if has_bounds else ""}</text>'
    yield f'<circle cx="{middle + 40}" cy="27" r="3" fill="none" stroke="{_PAPER}" stroke-width="1.5"/>'
    yield f'<text x="{middle + 48}" y="30">the paper\'s</text>'


def _panel(row: str, values: Iterable[tuple[str, Value]], left: float, top: float) -> Iterator[str]:
    x = Axis(0, 100, left + _LABEL, left + _WIDTH - _RIGHT)
    given = list(values)
    bottom = top + _HEAD + _LINE * len(given)
    yield f'<text x="{x(0):g}" y="{top + 9:g}" font-weight="bold">{escape(row)}</text>'
    for tick in _TICKS:
        yield f'<path d="M{x(tick):g} {top + _HEAD:g}V{bottom:g}" stroke="#ddd"/>'
        yield f'<text x="{x(tick):g}" y="{bottom + 8:g}" text-anchor="middle" font-size="7">{tick}</text>'
    for number, (column, value) in enumerate(given):
        y = top + _HEAD + _LINE * (number + 0.5)
        yield f'<text x="{x(0) - 6:g}" y="{y + 3:g}" text-anchor="end">{escape(column)}</text>'
        if value.low is not None and value.high is not None:
            yield f'<path d="M{x(value.low):.1f} {y:g}H{x(value.high):.1f}" stroke="{_OURS}"/>'
        if value.ours is not None:
            yield f'<circle cx="{x(value.ours):.1f}" cy="{y:g}" r="3" fill="{_OURS}"/>'
        if value.published is not None:
            ring = f'fill="none" stroke="{_PAPER}" stroke-width="1.5"'
            yield f'<circle cx="{x(value.published):.1f}" cy="{y:g}" r="3" {ring}/>'
