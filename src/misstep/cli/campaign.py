"""`misstep campaign`: many tests that survive whatever happens to them."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import MAX_SECONDS, Json, Quiet
from misstep.cli.output import continued, emit_json, note, say
from misstep.cli.timing import left_of
from misstep.reports.status import StatusLine

if TYPE_CHECKING:
    from misstep.campaign.coordinator import Coordinator, Progress
    from misstep.campaign.engine import Engine

campaign = App(name="campaign")
campaign.command("misstep.cli.campaign_views:status", name="status")
campaign.command("misstep.cli.campaign_views:table", name="table")
campaign.command("misstep.cli.campaign_views:plot", name="plot")
campaign.command("misstep.cli.campaign_views:export", name="export")


@campaign.default
def run(
    file: Annotated[Path, Parameter(help="A TOML file that says what to test (docs/campaigns.md).")],
    /,
    *,
    engine: Annotated[
        Literal["local", "ray"],
        Parameter(help="`local`: processes on this machine. `ray`: one machine or many, with Ray."),
    ] = "local",
    jobs: Annotated[
        int | None,
        Parameter(
            validator=Number(gte=1, lt=10_000),
            help="How many jobs run at the same time; by default one per core, with Ray one per core of all machines.",
        ),
    ] = None,
    address: Annotated[
        str | None,
        Parameter(
            help="The address of a Ray cluster: `auto` or HOST:PORT; by default Ray is started on this machine."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Parameter(
            help="The directory for the database and the records; by default NAME-runs beside NAME.toml."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        Parameter(
            negative="", show_default=False, help="Only say what would be done and how long it may take."
        ),
    ] = False,
    retry_failed: Annotated[
        bool, Parameter(negative="", show_default=False, help="Try failed jobs again, from their beginning.")
    ] = False,
    seconds: Annotated[
        float | None,
        Parameter(
            validator=Number(gt=0, lt=MAX_SECONDS),
            help="Stop after so long; the same command continues. What a job may take is said in the file.",
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Run many tests (tasks x policies x configurations x seeds); the same command continues after a stop.

    Finished jobs survive Ctrl-C, crashes and power failures and are never repeated. If you add to the file, only
    the new jobs run. `status`, `table`, `plot` and `export` can be used while it runs.

    Example: misstep campaign nightly.toml --jobs 2
    """
    from misstep.campaign.coordinator import Coordinator, open_campaign
    from misstep.campaign.plan import read_plan

    plan = read_plan(file, out=out)
    retry_before = time.time() if retry_failed else None
    if dry_run:
        from misstep.campaign.database import NAME, Database

        would = Coordinator(plan, Database.in_memory(plan.out / NAME), retry_before=retry_before)
        return _dry_run(would, jobs or _cores(), json=json)
    with continued(plan.out), open_campaign(plan.out) as database:
        coordinator = Coordinator(plan, database, retry_before=retry_before)
        coordinator.prepare()
        made = _engine(engine, jobs, address)
        coordinator.seconds = left_of(seconds)
        try:
            is_whole = _run(coordinator, made, quiet=quiet or json)
        finally:
            made.close()
        return _sum_up(coordinator, is_whole=is_whole, json=json, quiet=quiet)


def _cores() -> int:
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _engine(name: str, jobs: int | None, address: str | None) -> "Engine":
    from misstep.errors import InputError

    if name == "ray":
        from misstep.campaign.ray_engine import RayEngine

        return RayEngine(jobs, address=address)
    if address is not None:
        raise InputError(f"--address {address} is of a Ray cluster; add --engine ray")
    from misstep.campaign.local import LocalEngine

    return LocalEngine(jobs or _cores())


def _run(coordinator: "Coordinator", engine: "Engine", *, quiet: bool) -> bool:
    from misstep.campaign.words import progress_words

    with StatusLine("starting", quiet=quiet) as status:

        def tell(progress: "Progress") -> None:
            status.show(progress_words(progress))

        coordinator.tell = tell
        return coordinator.run(engine)


def _dry_run(coordinator: "Coordinator", slots: int, *, json: bool) -> int:
    from misstep.campaign.cost import Costs
    from misstep.campaign.groups import job_counts
    from misstep.campaign.words import duration, prediction_words

    asked, new = coordinator.prepare()
    counts = coordinator.database.counts()
    costs = Costs.of(coordinator.database)
    left, most = costs.left(coordinator.database), costs.most(coordinator.database)
    if json:
        emit_json(
            job_counts(coordinator.database)
            | {
                "new": new,
                "predicted_seconds": None if left is None else left / slots,
                "most_seconds": None if most is None else most / slots,
                "out": str(coordinator.plan.out),
            }
        )
        return ExitCode.NOTHING_FOUND
    open_jobs = counts["waiting"] + counts["running"]
    say(
        f"jobs      {asked}: {counts['done']} done, {counts['failed']} failed, {open_jobs} to run ({new} new)",
        f"time      {prediction_words(left, slots, costs.jobs)}",
        hang=10,
    )
    if most is not None and most != left:
        say(f"at most   {duration(most / slots)}, if every job uses up its `seconds`", hang=10)
    say(f"out       {coordinator.plan.out}", hang=10)
    return ExitCode.NOTHING_FOUND


def _sum_up(coordinator: "Coordinator", *, is_whole: bool, json: bool, quiet: bool) -> int:
    from misstep.campaign.groups import BY, grouped, is_dead_job, job_counts, totals
    from misstep.campaign.words import failure_lines, group_table
    from misstep.reports.text import table_width
    from misstep.support.command import command

    database = coordinator.database
    counts = database.counts()
    if json:
        limits = [] if is_whole else ["seconds"]
        emit_json(job_counts(database) | {"limits_hit": limits, "out": str(coordinator.plan.out)})
    else:
        say(*group_table(grouped(database.rows(), BY), BY, width=table_width()), "")
        say(*failure_lines(database.rows()), hang=10)
        say(f"{counts['done']} of {sum(counts.values())} jobs done; all of it is in {coordinator.plan.out}")
        if not is_whole:
            say("The time was up (--seconds); the same command continues.")
        note(
            f"Look closer: {command('campaign', 'table', coordinator.plan.out, '--by', 'policy')}",
            quiet=quiet,
        )
    total = totals(database.rows())
    if total.bugs or total.unsafe_runs:
        return ExitCode.BUGS_FOUND
    if total.tested + total.runs > 0:
        return ExitCode.NOTHING_TESTED if any(map(is_dead_job, database.rows())) else ExitCode.NOTHING_FOUND
    return ExitCode.USAGE if counts["failed"] else ExitCode.NOTHING_TESTED
