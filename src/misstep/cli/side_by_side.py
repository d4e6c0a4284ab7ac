"""Several problems at the same time, shown as if they were tested one after the other."""

from dataclasses import dataclass, field
from pathlib import Path

from misstep.cli.known_bugs import KnownBugs
from misstep.cli.output import note, say
from misstep.cli.testing import introduce
from misstep.config import Config
from misstep.corpus import Asked
from misstep.events import Event, Finished, Started
from misstep.record.record import Record
from misstep.record.store import DirectoryStore
from misstep.reports.corpus_lines import asked_line
from misstep.reports.report import Report
from misstep.reports.status import StatusLine
from misstep.reports.terminal import Terminal
from misstep.suite import Suite
from misstep.tally import Tally
from misstep.workers import Told, Workers


@dataclass(slots=True)
class _Problem:
    """What was told about one problem so far."""

    config: Config
    tally: Tally = field(default_factory=Tally)
    events: list[Event] = field(default_factory=list)
    """Those that are not shown yet."""
    asked: tuple[Asked, ...] = ()
    path: Path | None = None
    is_done: bool = False
    error: str | None = None

    def take(self, told: Told) -> None:
        self.path, self.asked = told.path or self.path, told.asked or self.asked
        if told.event is not None:
            self.tally.add(told.event)
            self.events.append(told.event)
        if told.is_done:
            self.is_done, self.error = True, told.error
            if told.error is not None:
                self._complete(told.error)

    def _complete(self, error: str) -> None:
        """What a worker that died, or could not begin, did not tell."""
        tally, config = self.tally, self.config
        if tally.started is None:
            tally.add(
                Started(task=config.subject, policy=config.policy, seed=config.seed, oracles=config.oracle)
            )
        if tally.finished is None:
            tally.add(Finished(**tally.counts(), extra={"error": error}))

    def report(self) -> Report:
        record = Record.in_memory() if self.path is None else Record(DirectoryStore(self.path))
        return Report(record, tally=self.tally)


def run_jobs(
    suite: Suite, *, known: KnownBugs | None, quiet: bool, silent: bool
) -> tuple[list[Report], bool]:
    """The reports of all problems in their order, and whether Ctrl-C ended them."""
    problems = [_Problem(config) for config in suite.configs]
    reports: list[Report] = []
    status = StatusLine(f"testing {len(problems)} problems", quiet=quiet, seconds=suite.configs[0].seconds)
    with Workers(suite.jobs) as workers:
        try:
            with status:
                for told in workers.run(suite.all_jobs(None if known is None else known.corpus)):
                    problems[told.number].take(told)
                    if known is not None and told.asked:
                        known.heard(told.asked)
                    if status.is_due:
                        status.show(_progress(problems))
                    while len(reports) < len(problems) and (problem := problems[len(reports)]).is_done:
                        reports.append(_show(problem, is_first=not reports, quiet=quiet, silent=silent))
        except KeyboardInterrupt:
            for told in workers.stop():
                problems[told.number].take(told)
                if known is not None and told.asked:
                    known.heard(told.asked)
            begun = [problem for problem in problems[len(reports) :] if problem.tally.started is not None]
            if not begun and not reports:
                raise
            for problem in begun:
                interrupted = (
                    problem.tally.finished is None or "interrupted" in problem.tally.finished.limits_hit
                )
                shown = _show(
                    problem, is_first=not reports, quiet=quiet, silent=silent, interrupted=interrupted
                )
                reports.append(shown)
            return reports, True
    return reports, False


def _show(
    problem: _Problem, *, is_first: bool, quiet: bool, silent: bool, interrupted: bool = False
) -> Report:
    if not silent:
        introduce(problem.config, is_first=is_first)
    terminal = Terminal(problem.config.subject, problem.tally, quiet=quiet, silent=silent)
    if problem.asked and not silent:
        say(asked_line(problem.asked), hang=10)
    for event in problem.events:
        terminal.on(event)
    report = problem.report()
    if problem.error is not None:
        note(f"error: {problem.error}", quiet=silent)
    else:
        terminal.end(report, interrupted=interrupted)
    return report


def _progress(problems: list[_Problem]) -> str:
    done = sum(problem.is_done for problem in problems)
    bugs = sum(len(problem.tally.bugs) for problem in problems)
    return f"{done} of {len(problems)} problems done · bugs {bugs}"
