"""How the commands that test show what they do: one terminal a session, one JSON object at the end."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from misstep.cli.config_options import Check
from misstep.cli.exit_codes import ExitCode
from misstep.cli.known_bugs import KnownBugs
from misstep.cli.output import emit_json, kept, note, same_command, say
from misstep.config import Config
from misstep.errors import MisstepError
from misstep.reports.junit import write_junit
from misstep.reports.report import Report
from misstep.reports.summary import report_json, total_json, total_table
from misstep.reports.terminal import Terminal
from misstep.reports.text import table_width
from misstep.session import Session
from misstep.status import Status, status_of_all
from misstep.suite import Suite, expand
from misstep.support.command import command


def run_suite(
    config: Config,
    problems: list[Path],
    *,
    check: Check,
    out: Path | None,
    resume: bool,
    json: bool,
    quiet: bool,
) -> int:
    """Tests all problems, shows them, and returns the exit code."""
    configs = expand(config, problems)
    many = len(configs) > 1
    side_by_side = min(check.jobs, len(configs))
    suite = Suite(configs, out, resume, jobs=side_by_side, jobs_each=check.jobs // side_by_side)
    reports: list[Report] = []
    interrupted = False
    known = None if check.corpus is None else KnownBugs(check.corpus, config, silent=json)
    if suite.jobs > 1:
        from misstep.cli.side_by_side import run_jobs  # other processes are seldom needed

        reports, interrupted = run_jobs(suite, known=known, quiet=quiet, silent=json)
    for session in suite.sessions() if suite.jobs == 1 else ():
        if many and not json:
            introduce(session.config, is_first=not reports)
        report, interrupted = _run_one(
            session, known=known, many=many, quiet=quiet, silent=json, live=check.live
        )
        reports.append(report)
        if interrupted:
            break
    families = () if known is None else known.families
    broken = None if check.rules is None else check.rules.broken(reports, families)
    if known is not None:
        known.take_over(reports)
    if json:
        about = {"broken": broken, "corpus": None if known is None else known.as_json()}
        emit_json(
            _json(reports, many=many) | {name: value for name, value in about.items() if value is not None}
        )
    elif many:
        say("", *total_table(reports, width=table_width()))
    if check.junit is not None:
        write_junit(check.junit, reports, rules=check.rules, broken=broken or {}, known=families)
    if interrupted:
        for line in _how_to_go_on(reports, out, check, many=many):
            note(f"interrupted: {line}")
    if broken and not json:
        say(*(f"broken    {name}: {why}" for name, why in broken.items()), hang=10)
    # Known bugs that are still there are bugs like others.
    is_failed = (
        (True if known is not None and known.is_any_left else None) if broken is None else bool(broken)
    )
    return exit_code(reports, interrupted=interrupted, is_failed=is_failed)


def _run_one(
    session: Session, *, known: "KnownBugs | None", many: bool, quiet: bool, silent: bool, live: bool
) -> tuple[Report, bool]:
    """Runs a session; an error ends the problem, and everything where it is the only one."""
    try:
        if known is not None:
            known.try_first(session)
        return run_session(session, quiet=quiet, silent=silent, live=live)
    except MisstepError as error:
        if not many:
            session.record.discard()
            if silent:
                emit_json(_error_json(session, error))
            raise
        session.fail(error)
        note(f"error: {error}", quiet=silent)
        return Report(session.record, tally=session.tally), False


def _how_to_go_on(reports: Sequence[Report], out: Path | None, check: Check, *, many: bool) -> list[str]:
    """What interrupted tests left, and the commands that go on with it.

    A record says what was asked, but not what is done around its test: a command that does more is repeated.
    """
    begun = [report for report in reports if report.record.path is not None and report.record.has_begun]
    if many and out is not None:
        return [kept(out, same_command("--resume"))] if begun else []
    is_more = not many and not (check.rules is None and check.junit is None and check.corpus is None)
    lines = []
    for report in begun:
        finished, place = report.tally.finished, str(report.record.path)
        if finished is not None and "interrupted" not in finished.limits_hit:
            continue
        go_on = command("test", "--resume", "--out", Path(place))
        if is_more:
            go_on = same_command("--resume", *(() if out else ("--out", place)))
        lines.append(kept(place, go_on))
    return lines


def introduce(config: Config, *, is_first: bool) -> None:
    """The head line of one problem of several."""
    say(*([] if is_first else [""]), f"== {config.subject}")


def run_session(session: Session, *, quiet: bool, silent: bool, live: bool = False) -> tuple[Report, bool]:
    """Runs one session in the terminal; its report, and whether Ctrl-C ended it."""
    name, interrupted = session.config.subject, False
    seconds = session.config.seconds
    terminal = Terminal(name, session.tally, quiet=quiet, silent=silent, seconds=seconds, live=live)
    session.progress_seconds = terminal.progress_seconds
    try:
        with terminal.status:
            for event in session.events():
                terminal.on(event)
    except KeyboardInterrupt:
        interrupted = True
        if session.tally.started is None:
            session.record.discard()
    finally:
        session.record.close()
    report = Report(session.record, tally=session.tally)
    terminal.end(report, interrupted=interrupted)
    return report, interrupted


def exit_code(reports: Sequence[Report], *, interrupted: bool, is_failed: bool | None = None) -> int:
    """As pytest would say it. `is_failed` is what rules say; None where there are none: every bug counts."""
    found = [report.finished for report in reports]
    return _CODE_OF[status_of_all(found, interrupted=interrupted, is_failed=is_failed)]


_CODE_OF = {
    Status.BUGS: ExitCode.BUGS_FOUND,
    Status.CLEAN: ExitCode.NOTHING_FOUND,
    Status.NOTHING_TESTED: ExitCode.NOTHING_TESTED,
    Status.INTERRUPTED: ExitCode.INTERRUPTED,
    Status.ERROR: ExitCode.USAGE,
}


def _json(reports: list[Report], *, many: bool) -> dict[str, Any]:
    results = [report_json(report) for report in reports]
    return {"tasks": results, "total": total_json(reports)} if many else results[0]


def _error_json(session: Session, error: MisstepError) -> dict[str, Any]:
    config = session.config
    about = {"task": config.subject, "policy": config.policy, "seed": config.seed}
    return {**about, "outcome": "error", "error": str(error)}
