"""A test in the terminal: bugs as they are found, a status line meanwhile, the counts at the end.

Results go to standard output, progress and warnings to standard error.
"""

from typing import TYPE_CHECKING

from misstep.bound import cost_text
from misstep.events import Event, Judged, PoolGrown, Progress, Ran, Started, Warned
from misstep.explain.words import does
from misstep.judge import Verdict
from misstep.reports.report import Report
from misstep.reports.screen import say, warn
from misstep.reports.status import StatusLine
from misstep.reports.summary import kind_lines, misstep_words, summary_lines
from misstep.reports.text import status_width
from misstep.support.command import command
from misstep.tally import Tally

if TYPE_CHECKING:
    from misstep.reports.live import LiveView

# Bugs that are shown one by one, and kinds of them at the end.
_SHOWN = 10
# Where the words after the names of the counts begin.
_HANG = 10
# Below this there is no room for all counts on one line.
_NARROW = 64


class Terminal:
    """Shows one test. `quiet` shows the counts alone; `silent` (for --json) shows the status line alone."""

    def __init__(
        self,
        name: str,
        tally: Tally,
        *,
        quiet: bool = False,
        silent: bool = False,
        seconds: float | None = None,
        live: bool | None = None,
    ) -> None:
        """`live`: a view of how it goes, or one line; None shows a test that is over."""
        self.name, self.tally = name, tally
        self._quiet, self._silent = quiet or silent, silent
        self.status = StatusLine(f"loading {name}", quiet=quiet, seconds=seconds)
        """Shown as long as the test goes on, by whoever runs it."""
        self._view: LiveView | None = None
        if live and self.status.is_on and self.status.is_terminal:
            self.status = self._view = _live_view(name, seconds)
        self.progress_seconds = None if self._view is None else 1.0
        """How often it wants to be told how the test goes."""
        self._bugs = 0

    def on(self, event: Event) -> None:
        """Shows an event."""
        if isinstance(event, Warned):
            warn(event.text, quiet=self._quiet)
        if isinstance(event, Judged) and event.verdict is Verdict.BUG:
            self._bug(event)
        if isinstance(event, Progress) and self._view is not None:
            self._view.tell(event)
        if isinstance(event, Started | Judged | PoolGrown | Ran) and event.at >= self.status.due_at:
            self.status.show(self._progress())

    def end(self, report: Report, *, interrupted: bool = False) -> None:
        """The counts, also of a test that was interrupted."""
        if self._silent:
            return
        if interrupted:
            say("interrupted; so far:")
        pointers = [] if self._quiet else _pointers(report)
        kinds = [] if self._quiet else kind_lines(report, most=_SHOWN)
        counts = summary_lines(report)
        if kinds:
            say("", *kinds, "")
        say(*counts, *pointers, hang=_HANG)

    def _bug(self, bug: Judged) -> None:
        self._bugs += 1
        if self._quiet or self._bugs > _SHOWN:
            return
        # What the search for the fault found out was asked for by no oracle; models have one decider.
        is_said = bug.oracle not in (None, "fault") and bug.outcome != "unsafe"
        lines = [f"bug {bug.id}: {_found(bug)}" + (f" (oracle: {bug.oracle})" if is_said else "")]
        if bug.fault is not None:
            lines.append(f"  misstep: {misstep_words(bug.fault)}")
        if bug.reason is not None:
            lines.append(f"  reason: {bug.reason}")
        if self._bugs == _SHOWN:
            lines.append("(further bugs are not shown one by one)")
        say(*lines)

    def _progress(self) -> str:
        counts = self.tally.counts()
        if status_width() < _NARROW:
            return f"tested {counts['tested']} · bugs {counts['bugs']}"
        words = [self.name]
        words += [f"runs {counts['runs']}"] if counts["runs"] else [f"pool {counts['pool']}"]
        words += [f"tested {counts['tested']}", f"bugs {counts['bugs']}"]
        words += [f"cleared {counts['cleared']}", f"unknown {counts['unknown']}"]
        return " · ".join(words)


def _live_view(name: str, seconds: float | None) -> "LiveView":
    from misstep.reports.live import LiveView as View  # rich is loaded for people who look

    return View(name, seconds=seconds)


def _found(bug: Judged) -> str:
    """What the policy does in a bug, and what would be better."""
    best = cost_text(bug.best.hi)
    if bug.outcome == "solved":
        return f"the policy pays {cost_text(bug.cost.lo)} where {best} is enough"
    better = "a safe course exists" if bug.outcome == "unsafe" else f"a plan of cost {best} exists"
    return f"the policy {does(bug.outcome)}; {better}"


def _pointers(report: Report) -> list[str]:
    """Where the record is and what to do next; nothing where none was begun."""
    started, path = report.tally.started, report.record.path
    if started is None or path is None:
        return []
    lines = [f"record    {path} (seed {started.seed})"]
    if report.finished.families:
        lines.append(f"next      {command('show', path, report.finished.families[0].representative)}")
    return lines
