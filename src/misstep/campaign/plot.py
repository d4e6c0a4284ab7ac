"""Charts of a campaign as SVG files: rates with their bounds, and bugs over time."""

import math
from collections.abc import Callable, Iterable, Sequence

from misstep.campaign.database import Row
from misstep.campaign.groups import Group
from misstep.explain.rates import percent
from misstep.reports.html.charts import words_at
from misstep.reports.html.markup import Html, element
from misstep.reports.text import whole, width_of
from misstep.statistics import CONFIDENCE

_WIDTH, _LEFT, _RIGHT, _TOP, _ROW, _BOTTOM = 720, 230, 90, 40, 24, 40
_HIGH = 300
# More than letters of this font are wide on average.
_LETTER = 7.5
# More steps of a curve cannot be seen, more curves cannot be told apart.
_MOST_STEPS, _MOST_CURVES = 400, 8
_COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#805ad5", "#b83280", "#718096", "#b7791f", "#285e61")
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #222 } .title { font-weight: 600 } .faint { fill: #666 }
.grid { stroke: #ddd } .bound { stroke: #2b6cb0; stroke-width: 6; opacity: .45 }
.share { fill: #2b6cb0 } .curve { fill: none; stroke-width: 2 } .back { fill: #fff }
@media (prefers-color-scheme: dark) {
 text { fill: #eee } .faint { fill: #aaa } .grid { stroke: #444 } .back { fill: #1b1b1b } }
"""


def rate_chart(groups: Sequence[Group], *, confidence: float = CONFIDENCE) -> tuple[str, int]:
    """Every group as a line from bound to bound with a dot for the share that was found; and how many lines."""
    shown = [group for group in groups if group.share is not None]
    names = [whole(_name(group.names)) for group in shown]
    # Names are not cut: two that differ in the middle would look the same.
    left = max([_LEFT, *(24 + math.ceil(_LETTER * width_of(name)) for name in names)])
    wide = _WIDTH - _LEFT - _RIGHT
    high = _TOP + _ROW * len(shown) + _BOTTOM
    parts: list[Html] = []
    for tick in range(0, 101, 25):
        x = left + wide * tick / 100
        parts += [
            element("line", x1=_px(x), x2=_px(x), y1=_TOP - 8, y2=high - _BOTTOM, class_="grid"),
            words_at(x, high - 20, f"{tick} %", anchor="middle", class_="faint"),
        ]
    for at, group in enumerate(shown):
        rate = group.told(confidence)
        lo, hi = rate.bounds
        y = _TOP + _ROW * at + _ROW / 2
        parts += [
            words_at(left - 12, y + 4, names[at], anchor="end"),
            element(
                "line",
                x1=_px(left + wide * lo),
                x2=_px(left + wide * hi),
                y1=_px(y),
                y2=_px(y),
                class_="bound",
            ),
            # Two dots where verdicts are unknown: what was found with these as no bugs, and as bugs.
            *(
                element("circle", cx=_px(left + wide * share), cy=_px(y), r=4, class_="share")
                for share in dict.fromkeys(rate.shares)
            ),
            words_at(left + wide + 12, y + 4, rate.share),
        ]
    what = "unsafe runs" if shown and all(group.runs for group in shown) else "bugs"
    title = f"Rate of {what}, with {percent(confidence, math.floor)} bounds"
    return _svg(title, high, parts, width=_WIDTH - _LEFT + left), len(shown)


def time_chart(rows: Iterable[Row], by: Sequence[str]) -> tuple[str, int]:
    """Bugs that a test knows after so many seconds, on average over the jobs of a group; and how many groups."""
    found: dict[tuple[str, ...], tuple[int, list[float]]] = {}
    end = 0.0
    for row in rows:
        if row.result is not None:
            names = tuple(str(getattr(row, name)) for name in by)
            jobs, times = found.get(names, (0, []))
            # Of a job with very many bugs only some have their times: each stands for several.
            step = max(1, round(row.result.bugs / max(1, len(row.result.bug_seconds))))
            found[names] = jobs + 1, times + list(row.result.bug_seconds) * step
            end = max(end, row.result.seconds)
    curves = {names: (jobs, sorted(times)) for names, (jobs, times) in found.items()}
    most = max([len(times) / jobs for jobs, times in curves.values()], default=0.0) or 1.0
    ordered = sorted(curves.items(), key=lambda item: -len(item[1][1]) / item[1][0])[:_MOST_CURVES]
    high = _TOP + _HIGH + _BOTTOM + 20 * len(ordered)
    bottom, wide = _TOP + _HIGH, _WIDTH - 60 - 20
    parts: list[Html] = [
        element("path", d=f"M60 {_TOP}V{bottom}H{60 + wide}", class_="grid curve"),
        words_at(54, _TOP + 8, f"{most:.1f}", anchor="end", class_="faint"),
        words_at(54, bottom, "0", anchor="end", class_="faint"),
        words_at(60, bottom + 18, "0 s", class_="faint"),
        words_at(60 + wide, bottom + 18, f"{end:.1f} s", anchor="end", class_="faint"),
    ]
    for at, (names, (jobs, times)) in enumerate(ordered):
        colour = _COLOURS[at]
        path = _steps(
            times, jobs, lambda t: 60 + wide * t / (end or 1.0), lambda n: bottom - _HIGH * n / most
        )
        parts += [
            element("path", d=f"{path}H{_px(60 + wide)}", class_="curve", stroke=colour),
            element("rect", x=60, y=bottom + 30 + 20 * at, width=12, height=12, fill=colour),
            words_at(80, bottom + 41 + 20 * at, f"{whole(_name(names))}: {len(times) / jobs:.1f} bugs a job"),
        ]
    longest = max((width_of(whole(_name(names))) for names, _ in ordered), default=0)
    width = max(_WIDTH, math.ceil(_LETTER * (longest + len(": 1000.0 bugs a job"))) + 100)
    title = "Bugs that a test knows after so many seconds, mean over jobs"
    return _svg(title, high, parts, width=width), len(ordered)


def _steps(
    times: Sequence[float], jobs: int, x: Callable[[float], float], y: Callable[[float], float]
) -> str:
    """A stair that rises with every bug."""
    path = [f"M{_px(x(0.0))} {_px(y(0.0))}"]
    every = math.ceil(len(times) / _MOST_STEPS) or 1
    for known, at in enumerate(times, start=1):
        if known % every == 0 or known == len(times):
            path.append(f"H{_px(x(at))}V{_px(y(known / jobs))}")
    return "".join(path)


def _svg(title: str, high: int, parts: Sequence[Html], *, width: int) -> str:
    return element(
        "svg",
        element("style", Html(_STYLE)),
        element("rect", width=width, height=high, class_="back"),
        words_at(16, 22, title, class_="title"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {high}",
        width=width,
        height=high,
        role="img",
        aria_label=title,
    )


def _name(names: Sequence[str]) -> str:
    return " · ".join(names) or "all jobs"


def _px(value: float) -> str:
    return f"{value:.1f}"
