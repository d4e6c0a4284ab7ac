"""Figures as plain SVG text: grouped bars, step curves and log-log scatter plots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = tuple("#4477aa #ee6677 #228833 #ccbb44 #66ccee #aa3377".split())
"""Six that people with any eyesight tell apart (Paul Tol's bright scheme); more series have other dashes."""
DASHES = ("none", "5 2", "1.5 1.5")
WIDTH, HEIGHT = 520, 340
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 30, 86
_MANY_DECADES = 3
_LEAST_SECONDS = 1e-6
_GROUP_NAMES = 20
"""The height of long ones, which are written aslant."""


@dataclass(frozen=True)
class Axis:
    """From values to pixels, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        low, high = self.low, self.high
        if self.logarithmic:
            value, low, high = math.log10(max(value, low)), math.log10(low), math.log10(high)
        return self.start + (min(value, high) - low) / ((high - low) or 1) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """A few round values."""
        if self.logarithmic:
            decades = range(math.floor(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            # Within a decade or two, powers of ten alone say little.
            steps = (1, 2, 5) if math.log10(self.high / self.low) < _MANY_DECADES else (1,)
            values = [step * 10.0**k for k in decades for step in steps]
            return [value for value in values if self.low * (1 - 1e-9) <= value <= self.high]
        step = 10 ** math.floor(math.log10((self.high - self.low) or 1))
        while (self.high - self.low) / step < 4:
            step /= 2
        return [self.low + i * step for i in range(int((self.high - self.low) / step + 1e-9) + 1)]


def _frame(title: str, x_label: str, y_label: str, y: Axis, x: Axis | None) -> list[str]:
    lines = [
        f'<text x="{WIDTH / 2}" y="16" text-anchor="middle" font-weight="bold">{escape(title)}</text>',
        f'<text x="{WIDTH / 2}" y="{HEIGHT - BOTTOM + 26}" text-anchor="middle">{escape(x_label)}</text>',
        f'<text transform="translate(12 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(y_label)}</text>",
    ]
    for value in y.ticks():
        at = f"{y(value):.1f}"
        lines.append(f'<text x="{LEFT - 4}" y="{at}" dy="3" text-anchor="end">{value:g}</text>')
        lines.append(f'<line x1="{LEFT}" y1="{at}" x2="{WIDTH - RIGHT}" y2="{at}" stroke="#eee"/>')
    places = [] if x is None else [(value, f"{x(value):.1f}") for value in x.ticks()]
    for value, at in places:
        low = HEIGHT - BOTTOM
        lines.append(f'<text x="{at}" y="{low + 12}" text-anchor="middle">{value:g}</text>')
        lines.append(f'<line x1="{at}" y1="{TOP}" x2="{at}" y2="{low}" stroke="#eee"/>')
    frame = f'x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}"'
    return [*lines, f'<rect {frame} fill="none" stroke="#333"/>']


def _legend(names: Sequence[str], top: float, *, are_lines: bool) -> list[str]:
    lines = []
    for i, name in enumerate(names):
        x, y = LEFT + (i % 4) * 117, top + (i // 4) * 12
        colour, dashes = _style(i)
        lines.append(
            f'<path d="M{x - 6} {y - 3}h14" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'
            if are_lines
            else f'<rect x="{x}" y="{y - 7}" width="8" height="8" fill="{colour}"/>'
        )
        lines.append(f'<text x="{x + 11}" y="{y}">{escape(name)}</text>')
    return lines


def _style(number: int) -> tuple[str, str]:
    """The colour and the dashes of a series."""
    return COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]


def _svg(lines: Sequence[str], names: Sequence[str], *, are_lines: bool = False, below: float = 0) -> str:
    """A drawing with its legend, as high as that needs; `below` is what stands between the two."""
    top = HEIGHT - 34 + below
    height = top + 12 * math.ceil(len(names) / 4)
    return document(WIDTH, height, [*lines, *_legend(names, top, are_lines=are_lines)])


def document(width: float, height: float, lines: Sequence[str]) -> str:
    """The text of a file with this drawing."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" font-family="sans-serif" '
        f'font-size="9"><rect width="100%" height="100%" fill="white"/>{"".join(lines)}</svg>\n'
    )


def bars(
    title: str, y_label: str, groups: Mapping[str, Mapping[str, float]], *, logarithmic: bool = False
) -> str:
    """One group of bars for each key, one bar for each of its entries."""
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    values = [v for group in groups.values() for v in group.values() if v > 0]
    low = 10 ** math.floor(math.log10(min(values, default=0.1))) if logarithmic else 0.0
    y = Axis(low, max(values, default=1.0) * 1.05, HEIGHT - BOTTOM, TOP, logarithmic)
    lines = _frame(title, "", y_label, y, None)
    wide = (WIDTH - LEFT - RIGHT) / max(len(groups), 1)
    for g, (group, entries) in enumerate(groups.items()):
        x = LEFT + g * wide
        for i, name in enumerate(names):
            value = entries.get(name, 0.0)
            if value <= 0:
                continue
            top = y(value)
            width = wide * 0.8 / len(names)
            lines.append(
                f'<rect x="{x + wide * 0.1 + i * width:.1f}" y="{top:.1f}" width="{width:.1f}" '
                f'height="{HEIGHT - BOTTOM - top:.1f}" fill="{COLOURS[i % len(COLOURS)]}"/>'
            )
        place = f"translate({x + wide / 2 + 3:.1f} {HEIGHT - BOTTOM + 9}) rotate(-28)"
        lines.append(f'<text transform="{place}" text-anchor="end" font-size="8">{escape(group)}</text>')
    return _svg(lines, names, below=_GROUP_NAMES)


def coverage(title: str, series: Mapping[str, Sequence[float]], count: int, *, what: str = "states") -> str:
    """The share of `count` states decided within t seconds; `series` holds the times of those that were."""
    times = [max(t, _LEAST_SECONDS) for ts in series.values() for t in ts]
    low = min(times, default=0.1) / 1.3
    x = Axis(low, max([*times, 2 * low]) * 1.1, LEFT, WIDTH - RIGHT, True)
    y = Axis(0.0, 1.0, HEIGHT - BOTTOM, TOP)
    lines = _frame(title, "seconds", f"share of {count} {what}", y, x)
    for i, ts in enumerate(series.values()):
        # What falls on the same pixel is one step, so that files stay small however many states there are.
        reached = {round(x(t)): k / max(count, 1) for k, t in enumerate(sorted(ts), start=1)}
        points, height = [f"{LEFT},{y(0):.1f}"], 0.0
        for at, share in reached.items():
            points += [f"{at},{y(height):.1f}", f"{at},{y(share):.1f}"]
            height = share
        points.append(f"{WIDTH - RIGHT},{y(height):.1f}")
        colour, dashes = _style(i)
        lines.append(
            f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="1.5" '
            f'stroke-dasharray="{dashes}"/>'
        )
    return _svg(lines, list(series), are_lines=True)


def scatter(title: str, x_label: str, series: Mapping[str, Sequence[tuple[float, float, bool]]]) -> str:
    """Pairs of times on logarithmic axes, with the diagonal; a cross where the second did not prove it."""
    values = [v for points in series.values() for *pair, _ in points for v in pair if v > 0]
    low, high = min(values, default=1e-5) / 2, max(values, default=1.0) * 2
    x, y = Axis(low, high, LEFT, WIDTH - RIGHT, True), Axis(low, high, HEIGHT - BOTTOM, TOP, True)
    lines = _frame(title, x_label, "seconds of the others (cross: not proved)", y, x)
    lines.append(f'<line x1="{x(low)}" y1="{y(low)}" x2="{x(high)}" y2="{y(high)}" stroke="#bbb"/>')
    for i, points in enumerate(series.values()):
        colour = COLOURS[i % len(COLOURS)]
        # One path for all dots, and one dot for what falls on the same pixel: thousands of points are usual here.
        for is_proved, shape, width in ((True, "M{} {}h0", 4), (False, "M{} {}m-2-2l4 4m0-4l-4 4", 1)):
            places = dict.fromkeys(
                (round(x(a)), round(y(b))) for a, b, proved in points if proved == is_proved
            )
            if places:
                path = "".join(shape.format(*place) for place in places)
                lines.append(
                    f'<path d="{path}" fill="none" stroke="{colour}" stroke-opacity="0.6" stroke-width="{width}" '
                    'stroke-linecap="round"/>'
                )
    return _svg(lines, list(series))
