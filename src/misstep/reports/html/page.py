"""The page: one HTML file with everything in it, made from records alone."""

import math
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from misstep import __version__
from misstep.bound import cost_text
from misstep.drawing import Drawing
from misstep.errors import InputError
from misstep.loading import recorded_task
from misstep.reports.html import sections
from misstep.reports.html.course_data import task_data
from misstep.reports.html.drawn import drawn_scene
from misstep.reports.html.markup import Html, element, script_json
from misstep.reports.report import Report
from misstep.reports.summary import kinds
from misstep.status import Status
from misstep.support.whole_files import write_file

# The page may run its own script and style, and load nothing.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)


def make_page(
    reports: Sequence[Report],
    *,
    drawing: Drawing | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> str:
    """The page of these tests; `drawing` draws their states, by default one that fits the domain.

    Where a drawing fails, states are drawn by simpler rules; the page says so, and `tell` hears it.
    """
    title = _title(reports)
    several = len(reports) > 1
    drawn = [_data(report, drawing) for report in reports]
    data = [each for each, _ in drawn]
    failed = [problem for _, problem in drawn]
    for problem in dict.fromkeys(filter(None, failed)):
        tell(problem)
    body = [
        element("header", element("h1", title), element("p", _subtitle(reports), class_="subtitle")),
        *([_comparison(reports)] if several else []),
        *(
            _record(report, number, data[number], problem=failed[number], several=several)
            for number, report in enumerate(reports)
        ),
        element("footer", element("p", f"Written by misstep {__version__}. {_HOW}")),
    ]
    head = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{title} - misstep"),
        element("style", _file("page.css")),
    ]
    scripts = [
        element("script", script_json(data), type="application/json", id="data"),
        element("script", _file("scene.js")),
        element("script", _file("player.js")),
    ]
    page = element(
        "html", element("head", *head), element("body", element("main", *body), *scripts), lang="en"
    )
    return f"<!doctype html>\n{page}\n"


def write_page(path: Path, page: str) -> int:
    """Writes a page and says how many bytes it has."""
    try:
        return write_file(path, page.encode("utf-8", errors="replace"))
    except OSError as error:
        raise InputError(f"{path}: cannot write the report: {error.strerror}; choose another --out") from None


_HOW = (
    "Every bug is proven: `misstep verify RECORD` checks all certificates without the policy. "
    "Use the arrow keys to move through a bug."
)


def _file(name: str) -> Html:
    return Html((files("misstep.reports.html") / name).read_text(encoding="utf-8"))


def _data(report: Report, drawing: Drawing | None) -> tuple[dict[str, Any], str | None]:
    """What the script of the page needs to know, and what was wrong with the drawing."""
    if not report.tally.bugs or report.error is not None:
        return {"kind": "none", "bugs": []}, None
    if report.is_safety:
        from misstep.reports.html.run_data import model_data  # the JANI side is loaded when it is needed

        return model_data(report), None
    task = recorded_task(report.record)
    scene, problem = drawn_scene(task, drawing)
    return task_data(report, task, scene), problem


def _names(report: Report) -> tuple[str, str]:
    started = report.tally.started
    return ("?", "?") if started is None else (started.task, started.policy)


def _title(reports: Sequence[Report]) -> str:
    if len(reports) == 1 and reports[0].status is Status.NOTHING_TESTED:
        return "Nothing was tested"
    bugs, tested = (sum(getattr(one.finished, name) for one in reports) for name in ("bugs", "tested"))
    return f"{bugs} {'bug' if bugs == 1 else 'bugs'} in {tested} tested states"


def _subtitle(reports: Sequence[Report]) -> str:
    if len(reports) > 1:
        return f"{len(reports)} tests, compared below"
    task, policy = _names(reports[0])
    started = reports[0].tally.started
    seed = "" if started is None else f" · seed {started.seed}"
    return f"task {task} · policy {policy}{seed} · {reports[0].record.where}"


def _comparison(reports: Sequence[Report]) -> Html:
    """One row a test."""
    heads = (
        "test",
        "task",
        "policy",
        "tested",
        "solved",
        "bugs",
        "cleared",
        "unknown",
        "bug rate",
        "worst gap",
        "time",
    )
    rows = []
    for number, report in enumerate(reports):
        found = report.finished
        gaps = [event.gap.lo for event in report.tally.bugs]
        worst = "" if not gaps or report.is_safety else _worst(max(gaps))
        time = f"{found.seconds['total']:.1f} s" if "total" in found.seconds else ""
        link = element("a", report.record.where, href=f"#r{number}")
        counts = (found.tested, found.solved, found.bugs, found.cleared, found.unknown)
        rate = report.rate.brief if report.rate.tested else ""
        rows.append((link, *_names(report), *counts, rate, worst, time))
    return element(
        "section",
        element("h2", "Comparison"),
        element("div", sections.table(heads, rows), class_="wide"),
        id="comparison",
    )


def _worst(gap: float) -> str:
    return "goal never reached" if gap == float("inf") else cost_text(gap)


def _first_bug(report: Report) -> int | None:
    """The bug that the page begins with: one that stands for its kind, and of these the best explained.

    Where the decision at fault is known, a reader sees at once what went wrong.
    """
    bugs = report.tally.bugs
    found = [family.representative for family in kinds(report.families)]
    faults = {event.id: event.fault for event in bugs}

    def width(bug: int) -> float:
        fault = faults.get(bug)
        return math.inf if fault is None else (fault.until or fault.step + 1) - fault.step

    return min(found, key=width) if found else bugs[0].id if bugs else None


def _record(report: Report, number: int, data: dict[str, Any], *, problem: str | None, several: bool) -> Html:
    task, policy = _names(report)
    opened = {bug["id"] for bug in data["bugs"]}
    first = _first_bug(report)
    head = element("h2", f"{task} · {policy}") if several else element("h2", "What was found", class_="quiet")
    viewer = [
        element("h3", "Step by step", class_="quiet"),
        element(
            "div",
            element("p", "The bugs are shown here by a script, which your browser does not run."),
            id=f"r{number}-viewer",
            class_="viewer",
            data_first=first,
        ),
    ]
    return element(
        "article",
        head,
        element("p", report.record.where, class_="subtitle") if several else None,
        sections.warnings(report, problem),
        sections.counts(report),
        sections.kinds_of_bugs(report, number),
        *(viewer if first is not None else []),
        sections.charts(report),
        element("div", sections.oracle_table(report), sections.time_table(report), class_="tables"),
        sections.bug_table(report, number, opened=opened),
        id=f"r{number}",
    )
