"""Figures as plain SVG text: grouped bars, step curves and log-log scatter plots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = tuple(
    "#4477aa #ee6677 #228833 #ccbb44 #66ccee #aa3377 #888888 #000000 #dd8833 #332288 #999933 #882255".split()
)
WIDTH, HEIGHT = 520, 340
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 30, 86


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
            return [
                10.0**k for k in range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            ]
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


def _legend(names: Sequence[str]) -> list[str]:
    lines = []
    for i, name in enumerate(names):
        x, y = LEFT + (i % 4) * 112, HEIGHT - 34 + (i // 4) * 12
        colour = COLOURS[i % len(COLOURS)]
        fill = colour if i < len(COLOURS) else "none"
        lines.append(f'<rect x="{x}" y="{y - 7}" width="8" height="8" fill="{fill}" stroke="{colour}"/>')
        lines.append(f'<text x="{x + 11}" y="{y}">{escape(name)}</text>')
    return lines


def _svg(lines: Sequence[str], names: Sequence[str]) -> str:
    """A drawing with its legend, as high as that needs."""
    height = max(HEIGHT, HEIGHT - 24 + 12 * (len(names) // 4))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" '
        f'font-size="9"><rect width="100%" height="100%" fill="white"/>{"".join([*lines, *_legend(names)])}</svg>\n'
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
    return _svg(lines, names)


def coverage(title: str, series: Mapping[str, Sequence[float]], count: int, *, what: str = "states") -> str:
    """The share of `count` states decided within t seconds; `series` holds the times of those that were."""
    times = [t for ts in series.values() for t in ts]
    x = Axis(1e-5, max([*times, 1e-4]) * 1.5, LEFT, WIDTH - RIGHT, True)
    y = Axis(0.0, 1.0, HEIGHT - BOTTOM, TOP)
    lines = _frame(title, "seconds", f"share of {count} {what}", y, x)
    for i, ts in enumerate(series.values()):
        points = [f"{x(1e-5):.1f},{y(0):.1f}"]
        for k, t in enumerate(sorted(ts)):
            points += [f"{x(t):.1f},{y(k / count):.1f}", f"{x(t):.1f},{y((k + 1) / count):.1f}"]
        points.append(f"{WIDTH - RIGHT},{y(len(ts) / max(count, 1)):.1f}")
        dashes = "" if i < len(COLOURS) else ' stroke-dasharray="4 2"'
        lines.append(
            f'<polyline points="{" ".join(points)}" fill="none" stroke="{COLOURS[i % len(COLOURS)]}"{dashes}/>'
        )
    return _svg(lines, list(series))


def scatter(title: str, x_label: str, series: Mapping[str, Sequence[tuple[float, float, bool]]]) -> str:
    """Pairs of times on logarithmic axes, with the diagonal; a cross where the second did not prove it."""
    values = [v for points in series.values() for *pair, _ in points for v in pair if v > 0]
    low, high = min(values, default=1e-5) / 2, max(values, default=1.0) * 2
    x, y = Axis(low, high, LEFT, WIDTH - RIGHT, True), Axis(low, high, HEIGHT - BOTTOM, TOP, True)
    lines = _frame(title, x_label, "seconds of the others (cross: not proved)", y, x)
    lines.append(f'<line x1="{x(low)}" y1="{y(low)}" x2="{x(high)}" y2="{y(high)}" stroke="#bbb"/>')
    for i, points in enumerate(series.values()):
        colour = COLOURS[i % len(COLOURS)]
        for a, b, proved in points:
            at = f"{x(a):.1f} {y(b):.1f}"
            if proved:
                dot = f'<circle transform="translate({at})" r="2" fill-opacity="0.6" fill="{colour}"/>'
            else:
                dot = (
                    f'<path d="M{at}m-2-2l4 4m0-4l-4 4" stroke="{colour}" stroke-opacity="0.7" fill="none"/>'
                )
            lines.append(dot)
    return _svg(lines, list(series))
