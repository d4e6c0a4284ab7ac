"""A test in the terminal: bugs as they are found, a status line meanwhile, the counts at the end.

Results go to standard output, progress and warnings to standard error.
"""

import sys

from misstep.bound import cost_text
from misstep.events import Event, Judged, PoolGrown, Ran, Warned
from misstep.explain.words import does
from misstep.judge import Verdict
from misstep.reports.report import Report
from misstep.reports.status import StatusLine, clock
from misstep.reports.summary import family_line, summary_lines
from misstep.tally import Tally

# Bugs that are shown one by one; the families at the end say what the others are like.
_SHOWN = 10


class Terminal:
    """Shows one test. `quiet` shows the counts alone, `silent` (for --json) nothing at all."""

    def __init__(
        self,
        name: str,
        tally: Tally,
        *,
        quiet: bool = False,
        silent: bool = False,
        seconds: float | None = None,
    ) -> None:
        self.name, self.tally = name, tally
        self._quiet, self._silent, self._seconds = quiet or silent, silent, seconds
        self._status = StatusLine(quiet=self._quiet)
        self._bugs = 0

    def on(self, event: Event) -> None:
        """Shows an event."""
        if isinstance(event, Warned):
            self._complain(event.text)
        if isinstance(event, Judged) and event.verdict is Verdict.BUG:
            self._bug(event)
        if self._status.is_on and isinstance(event, Judged | PoolGrown | Ran):
            self._status.show(self._progress(event.at))

    def end(self, report: Report, *, interrupted: bool = False) -> None:
        """The counts, also of a test that was interrupted."""
        if self._silent:
            return
        if interrupted:
            print("interrupted; so far:")
        if not self._quiet:
            for family in report.finished.families[:_SHOWN]:
                print(family_line(family))
        for line in summary_lines(report):
            print(line)
        if not self._quiet and report.record.path is not None:
            self._pointers(report)
        sys.stdout.flush()

    def erase(self) -> None:
        """Clears the status line, so that what comes next starts on a clean one."""
        if self._status.is_on:
            self._status.erase()

    def _pointers(self, report: Report) -> None:
        seed = "" if report.tally.started is None else f" (seed {report.tally.started.seed})"
        print(f"record    {report.record.path}{seed}")
        if report.finished.families:
            bug = report.finished.families[0].representative
            print(f"next      misstep show {report.record.path} {bug}")

    def _bug(self, bug: Judged) -> None:
        self._bugs += 1
        if self._quiet or self._bugs > _SHOWN:
            return
        self._status.erase()
        cost = f" ({cost_text(bug.cost.lo)})" if bug.outcome == "solved" else ""
        better = "a safe course" if bug.outcome == "unsafe" else f"a plan of cost {cost_text(bug.best.hi)}"
        print(f"bug {bug.id}: the policy {does(bug.outcome)}{cost}; {better} exists ({bug.oracle})")
        if bug.fault is not None:
            action = bug.fault.action or "no action"
            instead = "" if bug.fault.better is None else f" instead of {bug.fault.better}"
            print(f"  misstep at step {bug.fault.step + 1}: {action}{instead}")
        if bug.reason is not None:
            print(f"  {bug.reason}")
        if self._bugs == _SHOWN:
            print("(more bugs are in the record)")
        sys.stdout.flush()

    def _complain(self, text: str) -> None:
        if not self._quiet:
            self._status.erase()
            print(f"warning: {text}", file=sys.stderr)

    def _progress(self, at: float) -> str:
        counts = self.tally.counts()
        words = [self.name]
        words += [f"runs {counts['runs']}"] if counts["runs"] else [f"pool {counts['pool']}"]
        words += [f"tested {counts['tested']}", f"bugs {counts['bugs']}"]
        words += [f"cleared {counts['cleared']}", f"unknown {counts['unknown']}"]
        words.append(clock(at) if self._seconds is None else f"{clock(max(0.0, self._seconds - at))} left")
        return " · ".join(words)
