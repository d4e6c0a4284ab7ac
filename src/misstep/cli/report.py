"""`misstep report`: one page for the browser."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.limits import Limits
from misstep.cli.options import Json, MemoryMb, Quiet, Seconds
from misstep.cli.output import emit_json, say, warn
from misstep.errors import InputError
from misstep.reports.status import StatusLine


def report(
    *records: Annotated[Path, Parameter(help="The directory of a record, or of several records.")],
    out: Annotated[
        Path | None, Parameter(help="The file to write; report.html in the first record by default.")
    ] = None,
    drawing: Annotated[
        str | None,
        Parameter(
            help="How states are drawn; by default the drawing with the name of the PDDL domain, or else `rules`."
        ),
    ] = None,
    seconds: Seconds = None,
    memory_mb: MemoryMb = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Write a page for the browser: what was found, and every bug step by step with the states drawn.

    The file contains everything, opens offline and loads nothing from the network. With several records, it
    begins with a comparison.

    Example: misstep report runs/courier-001
    """
    from misstep.plugins import make_part
    from misstep.record.record import Record, records_in
    from misstep.reports.html.page import make_page, write_page
    from misstep.reports.report import Report

    if not records:
        raise InputError("there is no record to report on; give the directory of one, such as runs/demo-001")
    status = StatusLine("making the page", quiet=quiet, seconds=seconds)
    with status, Limits(seconds=seconds, memory_mb=memory_mb).watch():
        reports = [Report(Record.open(folder)) for record in records for folder in records_in(record)]
        drawn_by = None if drawing is None else make_part("drawing", drawing)
        page = make_page(reports, drawing=drawn_by, tell=lambda problem: warn(problem, quiet=quiet or json))
    path = out or records[0] / "report.html"
    size = write_page(path, page)
    if json:
        emit_json({"out": str(path), "records": len(reports), "bytes": size})
    else:
        say(f"report    {path} ({size / 1000:.0f} kB)", hang=10)
    return ExitCode.NOTHING_FOUND
