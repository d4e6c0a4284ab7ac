"""Small charts as SVG: bugs over time, and how much too much is paid."""

import math
from collections.abc import Sequence

from misstep.bound import cost_text
from misstep.explain.words import counted
from misstep.reports.html.markup import Html, element
from misstep.reports.report import Report

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 460, 180, 44, 30, 12
# More bars than this are put together into ranges.
_MOST_BARS = 12
_WIDEST_BAR = 90
# More cannot be seen.
_MOST_POINTS = 400


def bugs_over_time(report: Report) -> Html | None:
    """How many bugs were known after so many seconds; None without bugs."""
    times = sorted(event.at for event in report.tally.bugs)
    if not times:
        return None
    end = max(times[-1], report.finished.seconds.get("total", 0.0)) or 1.0
    wide, high = _WIDTH - _LEFT - 10, _HEIGHT - _BOTTOM - _TOP
    path = [f"M{_LEFT} {_HEIGHT - _BOTTOM}"]
    every = math.ceil(len(times) / _MOST_POINTS)
    for known, at in enumerate(times, start=1):
        if known % every == 0 or known == len(times):
            x, y = _LEFT + at / end * wide, _HEIGHT - _BOTTOM - known / len(times) * high
            path.append(f"H{x:.1f}V{y:.1f}")
    path.append(f"H{_LEFT + wide}")
    said = f"{counted(len(times), 'bug')} in {end:.1f} seconds, the first after {times[0]:.1f}"
    return _chart(
        said,
        element("path", d="".join(path), class_="curve"),
        words_at(_LEFT - 6, _TOP + 8, str(len(times)), anchor="end"),
        words_at(_LEFT - 6, _HEIGHT - _BOTTOM, "0", anchor="end"),
        words_at(_LEFT, _HEIGHT - 10, "0 s"),
        words_at(_LEFT + wide, _HEIGHT - 10, f"{end:.1f} s", anchor="end"),
    )


def gap_histogram(report: Report) -> Html | None:
    """How many bugs have which gap; None where all have the same, or costs say nothing (safety)."""
    gaps = [event.gap.lo for event in report.tally.bugs]
    if not gaps or report.is_safety:
        return None
    bars = gap_bars(gaps)
    if len(bars) < 2:  # the counts say it already
        return None
    wide = min((_WIDTH - _LEFT - 10) / len(bars), _WIDEST_BAR)
    most, high = max(count for _, count in bars), _HEIGHT - _BOTTOM - _TOP - 12
    parts: list[Html] = []
    for at, (label, count) in enumerate(bars):
        height = count / most * high
        x, y = _LEFT + at * wide, _HEIGHT - _BOTTOM - height
        is_never = label == "never"
        bar = element(
            "rect",
            x=f"{x + 2:.1f}",
            y=f"{y:.1f}",
            width=f"{max(wide - 4, 2):.1f}",
            height=f"{height:.1f}",
            class_="bar never" if is_never else "bar",
        )
        parts += [
            bar,
            words_at(x + wide / 2, y - 4, str(count) if count else "", anchor="middle"),
            words_at(x + wide / 2, _HEIGHT - 12, label, anchor="middle"),
        ]
    words = ", ".join(f"{count} by {label}" for label, count in bars if label != "never" and count)
    never = sum(gap == math.inf for gap in gaps)
    ends = [words] if words else []
    ends += [f"in {never} the goal is never reached"] if never else []
    return _chart("; ".join(ends), *parts)


def gap_bars(gaps: Sequence[float]) -> list[tuple[str, int]]:
    """The bars of the histogram: gaps or ranges of them, and `never` for bugs that miss the goal."""
    finite = sorted(gap for gap in gaps if gap != math.inf)
    bars: list[tuple[str, int]] = []
    if finite:
        low, high = math.floor(finite[0]), math.floor(finite[-1])
        step = max(1, math.ceil((high - low + 1) / _MOST_BARS))
        for start in range(low, high + 1, step):
            count = sum(start <= gap < start + step for gap in finite)
            bars.append((cost_text(start) if step == 1 else f"{start}-{start + step - 1}", count))
    if len(finite) < len(gaps):
        bars.append(("never", len(gaps) - len(finite)))
    return bars


def _chart(said: str, *parts: Html) -> Html:
    axis = element(
        "path",
        d=f"M{_LEFT} {_TOP}V{_HEIGHT - _BOTTOM}H{_WIDTH - 10}",
        class_="axis",
    )
    box = f"0 0 {_WIDTH} {_HEIGHT}"
    return element("svg", axis, *parts, viewBox=box, role="img", aria_label=said, class_="chart")


def words_at(x: float, y: float, text: str, *, anchor: str = "start", class_: str | None = None) -> Html:
    """Words in a chart; `anchor` says which end of them stands at the place."""
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=class_)
