"""`misstep campaign status|table|plot|export`: looking at a campaign, also while it runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json, Quiet
from misstep.cli.output import emit_json, note, say
from misstep.reports.status import StatusLine
from misstep.statistics import CONFIDENCE

if TYPE_CHECKING:
    from misstep.campaign.database import Database

What: TypeAlias = Annotated[
    Path, Parameter(help="The campaign's TOML file, its database, or the directory with the database.")
]
Out: TypeAlias = Annotated[
    Path | None, Parameter(help="The campaign's directory, if it is not the default one.")
]
By: TypeAlias = Annotated[
    str,
    Parameter(
        help="How to group jobs: by task, policy, configuration or seed; separate several with commas."
    ),
]
Confidence: TypeAlias = Annotated[
    float, Parameter(validator=Number(gt=0, lt=1), help="The confidence of the bounds of rates.")
]


@contextmanager
def _database(what: Path, out: Path | None, *, quiet: bool) -> "Iterator[Database]":
    from misstep.campaign.database import NAME, Database
    from misstep.campaign.plan import read_plan

    folder = read_plan(what, out=out).out if what.suffix == ".toml" else what
    database = Database.read(folder / NAME if folder.is_dir() or what.suffix == ".toml" else folder)
    try:
        with StatusLine(f"reading {database.path}", quiet=quiet):
            yield database
    finally:
        database.close()


def status(what: What, /, *, out: Out = None, json: Json = False, quiet: Quiet = False) -> int:
    """Show the progress of a campaign: how many jobs are done, why jobs failed, how long the rest may take.

    Example: misstep campaign status nightly.toml
    """
    from misstep.campaign.coordinator import is_running
    from misstep.campaign.cost import Costs
    from misstep.campaign.groups import job_counts
    from misstep.campaign.words import duration, failure_lines

    with _database(what, out, quiet=quiet) as database:
        counts, dropped = database.counts(), database.dropped()
        running = is_running(database.path.parent)
        left = Costs.of(database).left(database)
        if json:
            emit_json(
                {
                    **job_counts(database),
                    "running": counts["running"] if running else 0,
                    "is_running": running,
                    "no_longer_asked": dropped,
                    "seconds_left": left,
                    "out": str(database.path.parent),
                }
            )
            return ExitCode.NOTHING_FOUND
        under = counts["running"] if running else 0
        waiting = counts["waiting"] + counts["running"] - under
        say(
            f"jobs      {sum(counts.values())}: {counts['done']} done, {counts['failed']} failed, "
            f"{under} under way, {waiting} waiting",
            f"bugs      {database.bugs()}",
            *failure_lines(database.rows()),
            hang=10,
        )
        if waiting + under:
            one = "unknown" if left is None else f"about {duration(left)} of work"
            state = "running" if running else "stopped; the same command goes on"
            say(f"left      {one} ({state})", hang=10)
        if dropped:
            note(
                f"{dropped} more jobs have results, but the file does not ask for them any more.", quiet=quiet
            )
    return ExitCode.NOTHING_FOUND


def table(
    what: What,
    /,
    *,
    by: By = "task,policy,configuration",
    confidence: Confidence = CONFIDENCE,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Show what was found, with exact bounds of the bug rates, in groups of jobs.

    Jobs that are not done yet are left out of the counts; `jobs` says 3/5 where two are missing.

    Example: misstep campaign table nightly.toml --by policy
    """
    from misstep.campaign.groups import grouped, read_by
    from misstep.campaign.words import group_table
    from misstep.reports.text import table_width

    names = read_by(by)
    with _database(what, out, quiet=quiet) as database:
        groups = grouped(database.rows(), names)
    if json:
        emit_json({"groups": [group.as_json(names, confidence=confidence) for group in groups]})
    else:
        say(*group_table(groups, names, width=table_width(), confidence=confidence))
    return ExitCode.NOTHING_FOUND


def plot(
    what: What,
    /,
    *,
    kind: Annotated[
        Literal["rate", "time"],
        Parameter(
            help="`rate`: bug rates of groups with their bounds. `time`: bugs over the time of a test."
        ),
    ] = "rate",
    by: By = "policy",
    confidence: Confidence = CONFIDENCE,
    file: Annotated[
        Path | None, Parameter(help="The SVG file; by default KIND.svg in the campaign's directory.")
    ] = None,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Draw what was found as an SVG file.

    Example: misstep campaign plot nightly.toml --kind rate --by policy
    """
    from misstep.campaign.groups import grouped, read_by
    from misstep.campaign.plot import rate_chart, time_chart
    from misstep.record.store import write_whole

    names = read_by(by)
    with _database(what, out, quiet=quiet) as database:
        if kind == "rate":
            chart, curves = rate_chart(grouped(database.rows(), names), confidence=confidence)
        else:
            chart, curves = time_chart(database.rows(), names)
        path = file or database.path.parent / f"{kind}.svg"
    write_whole(path, chart)
    if json:
        emit_json({"file": str(path), "kind": kind, "groups": curves})
    else:
        say(f"wrote {path}")
    return ExitCode.NOTHING_FOUND


def export(
    what: What,
    /,
    *,
    csv: Annotated[Path | None, Parameter(help="Write one line a job to this CSV file.")] = None,
    parquet: Annotated[
        Path | None, Parameter(help="Write one row a job to this Parquet file; needs the extra `parquet`.")
    ] = None,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Write all jobs with their results to a file for other programs.

    Example: misstep campaign export nightly.toml --csv nightly.csv
    """
    from misstep.campaign.export import write_csv, write_parquet
    from misstep.errors import InputError

    if csv is None and parquet is None:
        raise InputError("there is nothing to write; name a file with --csv or --parquet")
    with _database(what, out, quiet=quiet) as database:
        rows = 0
        if csv is not None:
            rows = write_csv(csv, database)
        if parquet is not None:
            rows = write_parquet(parquet, database)
    files = [str(path) for path in (csv, parquet) if path is not None]
    if json:
        emit_json({"rows": rows, "files": files})
    else:
        say(*(f"wrote {rows} jobs to {name}" for name in files))
    return ExitCode.NOTHING_FOUND
