"""`misstep show`: what was found, for people."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json, Quiet
from misstep.cli.output import emit_json, say, say_plain
from misstep.reports.ranking import ranked
from misstep.reports.report import Report
from misstep.reports.summary import kind_lines, kinds, report_json, summary_lines
from misstep.support.command import command


def show(
    record: Annotated[Path, Parameter(help="The directory of a record, or of several records.")],
    bug: Annotated[
        str | None, Parameter(help="The number of one bug; by default all kinds of bugs are shown.")
    ] = None,
    /,
    *,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Show what was found: the kinds of bugs, or one bug with both courses side by side.

    Example: misstep show runs/line-001 12
    """
    from misstep.record.record import Record, records_in
    from misstep.reports.show import bug_json, show_bug
    from misstep.reports.text import screen_width

    if bug is not None:
        opened = Record.open(record)
        certificate = opened.bug_named(bug)
        if json:
            emit_json(bug_json(opened, certificate))
        else:
            say_plain(*show_bug(opened, certificate, width=screen_width()))
        return ExitCode.NOTHING_FOUND
    reports = [Report(Record.open(folder)) for folder in records_in(record)]
    if json:
        found = [_as_json(report) for report in reports]
        emit_json(found[0] if len(found) == 1 else {"tasks": found})
        return ExitCode.NOTHING_FOUND
    for report in reports:
        _show_all(report, quiet=quiet)
    return ExitCode.NOTHING_FOUND


def _as_json(report: Report) -> dict[str, Any]:
    found = [
        {"outcome": kind.outcome, "schema": kind.schema, "bugs": kind.members, "such_as": kind.representative}
        for kind in kinds(report.families)
    ]
    return {
        **report_json(report),
        "kinds": found,
        "bug_ids": [event.id for event in ranked(report.tally, report.added_gaps)],
    }


def _show_all(report: Report, *, quiet: bool) -> None:
    started = report.tally.started
    if started is not None:
        say(f"task      {started.task}", f"policy    {started.policy}", hang=10)
    if report.tally.finished is None:
        say("the test has not ended: it is under way, or was stopped (--resume goes on)")
    if report.error is not None:
        say(f"error     {report.error}", hang=10)
        return
    say(*summary_lines(report), hang=10)
    if report.families:
        say("", *kind_lines(report), "")
    if report.families and not quiet:
        say(f"next      {command('show', Path(report.record.where), report.families[0].representative)}")
