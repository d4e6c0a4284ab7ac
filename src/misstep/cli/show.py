"""`misstep show`: a bug for people."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json
from misstep.cli.output import emit_json


def show(
    record: Annotated[Path, Parameter(help="The directory of a record.")],
    bug: Annotated[str | None, Parameter(help="One bug; without it the families are shown.")] = None,
    /,
    *,
    json: Json = False,
) -> int:
    """Show what was found: the families of bugs, or one bug with both courses side by side.

    Example: misstep show runs/line-001 12
    """
    from misstep.record.record import Record
    from misstep.reports.report import Report
    from misstep.reports.show import bug_json, show_bug
    from misstep.reports.summary import family_line, report_json, summary_lines

    opened = Record.open(record)
    if bug is not None:
        certificate = opened.bug_named(bug)
        if json:
            emit_json(bug_json(opened, certificate))
        else:
            print("\n".join(show_bug(opened, certificate)))
        return ExitCode.NOTHING_FOUND
    report = Report(opened)
    if json:
        emit_json({**report_json(report), "bug_ids": [event.id for event in report.tally.bugs]})
        return ExitCode.NOTHING_FOUND
    for line in [*map(family_line, report.families), *summary_lines(report)]:
        print(line)
    return ExitCode.NOTHING_FOUND
