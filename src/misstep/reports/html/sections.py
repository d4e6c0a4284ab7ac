"""The parts of a page that say what a test found: counts, kinds of bugs, oracles, time, all bugs."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from misstep.bound import cost_text
from misstep.events import Judged
from misstep.explain.words import counted, does
from misstep.judge import Verdict
from misstep.reports.failures import nothing_tested
from misstep.reports.html.charts import bugs_over_time, gap_histogram
from misstep.reports.html.markup import Child, Html, element
from misstep.reports.ranking import ranked
from misstep.reports.report import Report
from misstep.reports.summary import kind_words, kinds, misstep_words, summary_lines

_MOST_KINDS = 20
# So few bugs are listed without being asked for.
_FEW_BUGS = 30
_TIMES = {
    "translate": "loading the task",
    "fuzz": "making test states",
    "policy": "asking the policy",
    "oracle": "asking the oracles",
    "total": "everything",
}


def counts(report: Report) -> Html:
    """The verdicts as a bar and in words."""
    found = report.finished
    named = (("bugs", found.bugs), ("cleared", found.cleared), ("unknown", found.unknown))
    bar = [
        element("span", class_=name, style=f"flex-grow:{count}", title=f"{name}: {count}")
        for name, count in named
        if count
    ]
    numbers = [
        element("div", element("b", str(count)), element("span", name), class_=name) for name, count in named
    ]
    if report.rate.tested:
        what = "of the runs unsafe" if report.is_safety else "bug rate"
        share = report.rate.share.replace(" ", "\u00a0")  # it stays on one line
        numbers.append(element("div", element("b", share), element("span", what), class_="rate"))
    lines = [element("li", line) for line in summary_lines(report) if not line.endswith(" 0")]
    return element(
        "section",
        element("div", *numbers, class_="numbers"),
        element("div", *bar, class_="verdict-bar", aria_hidden="true"),
        element("ul", *lines, class_="plain"),
        class_="counts",
    )


def kinds_of_bugs(report: Report, number: int) -> Html | None:
    """The families in words, each with the bug that stands for it."""
    found = kinds(report.families)
    if not found:
        return None
    items = []
    for kind in found[:_MOST_KINDS]:
        what, misstep = kind_words(report, kind)
        link = bug_link(number, kind.representative)
        who = [f"{len(kind.members)} like ", link] if len(kind.members) > 1 else [link]
        items.append(element("li", element("b", *who, ": "), f"{what}.", element("br"), misstep))
    more = len(found) - len(items)
    rest = element("p", f"and {more} more kinds, which the table of all bugs shows") if more else None
    return element("section", element("h3", "What goes wrong"), element("ol", *items, class_="kinds"), rest)


def bug_link(number: int, bug: int | str) -> Html:
    """A link that opens a bug in the viewer of its record."""
    return element("a", f"bug {bug}", href=f"#r{number}-bug-{bug}")


def charts(report: Report) -> Html | None:
    """Bugs over time and how bad they are."""
    made = (("Bugs over time", bugs_over_time(report)), ("How much too much is paid", gap_histogram(report)))
    found = [
        element("figure", element("figcaption", title), chart) for title, chart in made if chart is not None
    ]
    return element("section", *found, class_="charts") if found else None


def oracle_table(report: Report) -> Html | None:
    """Who settled how many states."""
    settled = [event for event in report.tally.judged.values() if event.verdict is not Verdict.UNKNOWN]
    if not settled:
        return None
    by_oracle = Counter((event.oracle or "the policy's run itself", event.verdict) for event in settled)
    # A set would order equals by the hash seed, and the page of a record would differ from call to call.
    names = sorted(dict.fromkeys(name for name, _ in by_oracle), key=lambda name: -_settled(by_oracle, name))
    rows = [
        (
            _oracle_words(name),
            _settled(by_oracle, name),
            by_oracle[name, Verdict.BUG],
            by_oracle[name, Verdict.CLEARED],
        )
        for name in names
    ]
    heads = ("oracle", "settled", "bugs", "cleared")
    return element("section", element("h3", "Who found it out"), table(heads, rows))


def _settled(by_oracle: Counter[tuple[str, Verdict]], name: str) -> int:
    return by_oracle[name, Verdict.BUG] + by_oracle[name, Verdict.CLEARED]


def _oracle_words(name: str) -> str:
    return "the search for the misstep" if name == "fault" else name


def time_table(report: Report) -> Html | None:
    """Where the time went."""
    seconds = report.finished.seconds
    if not seconds:
        return None
    rows = [(_TIMES.get(name, name), f"{value:.2f} s") for name, value in seconds.items()]
    return element("section", element("h3", "Where the time went"), table(("for", "time"), rows))


def bug_table(report: Report, number: int, *, opened: set[str]) -> Html | None:
    """All bugs, with a field to filter them; those in `opened` are links."""
    bugs = report.tally.bugs
    if not bugs:
        return None
    name = f"r{number}-bugs"
    added = report.added_gaps
    rows = [
        _bug_row(event, number, added.get(event.id), is_link=str(event.id) in opened)
        for event in ranked(report.tally, added)
    ]
    costs = ("pays", "enough", "worse than at its parent by") if not report.is_safety else ()
    heads = ("bug", "the policy", *costs, "misstep")
    note = (
        f" {len(opened)} of them can be opened; `misstep show` shows all." if len(opened) < len(bugs) else ""
    )
    filter_ = element(
        "input",
        type="search",
        class_="filter",
        placeholder="filter: loop, drive, ...",
        aria_label="filter the bugs",
        data_table=name,
    )
    return element(
        "details",
        element("summary", f"All {counted(len(bugs), 'bug')}" if len(bugs) > 1 else "The bug"),
        element("p", filter_, note),
        element("div", table(heads, rows, id_=name), class_="wide"),
        open=len(bugs) <= _FEW_BUGS,
        id=f"{name}-all",
    )


def _bug_row(event: Judged, number: int, added: float | None, *, is_link: bool) -> Sequence[Child]:
    fault = event.fault
    pays = "no goal" if event.cost.lo == math.inf else cost_text(event.cost.lo)
    more = "" if not added else "the goal" if added == math.inf else cost_text(added)
    costs = () if event.outcome == "unsafe" else (pays, cost_text(event.best.hi), more)
    return (
        bug_link(number, event.id) if is_link else f"bug {event.id}",
        does(event.outcome),
        *costs,
        "" if fault is None else misstep_words(fault),
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[Child]], *, id_: str | None = None) -> Html:
    """A table with a head; numbers stand at the right."""
    head = element("tr", *(element("th", word, scope="col") for word in heads))
    body = [
        element("tr", *(element("td", cell, class_="number" if _is_number(cell) else None) for cell in row))
        for row in rows
    ]
    return element("table", element("thead", head), element("tbody", *body), id=id_)


def _is_number(cell: Child) -> bool:
    return isinstance(cell, int) or (
        isinstance(cell, str) and cell.removesuffix(" s").replace(".", "").isdigit()
    )


def warnings(report: Report, problem: str | None) -> Html | None:
    """What a user should know about the test, and about a drawing that failed."""
    said = [*report.tally.warnings, *([problem] if problem else [])]
    if report.tally.finished is None:
        said.insert(0, "The test has not ended: it is under way, or was stopped.")
    if (why := nothing_tested(report.finished, report.failures)) is not None:
        said.insert(0, f"{why[0].upper()}{why[1:]}")
    if report.error is not None:
        said.insert(0, f"The test failed: {report.error}")
    return element("ul", *(element("li", text) for text in said), class_="warnings") if said else None
