"""How the commands that test show what they do: one terminal a session, one JSON object at the end."""

from pathlib import Path
from typing import Any

from misstep.cli.exit_codes import ExitCode
from misstep.cli.output import emit_json, note, say
from misstep.config import Config
from misstep.errors import MisstepError
from misstep.reports.report import Report
from misstep.reports.summary import report_json, total_json, total_table
from misstep.reports.terminal import Terminal
from misstep.reports.text import screen_width
from misstep.session import Session
from misstep.suite import Suite, expand


def run_suite(
    config: Config, problems: list[Path], *, out: Path | None, resume: bool, json: bool, quiet: bool
) -> int:
    """Tests all problems, shows them, and returns the exit code."""
    configs = expand(config, problems)
    many = len(configs) > 1
    reports: list[Report] = []
    interrupted = False
    for session in Suite(configs, out, resume).sessions():
        if many and not json:
            say(*([] if not reports else [""]), f"== {session.config.subject}")
        try:
            report, interrupted = run_session(session, quiet=quiet, silent=json)
        except MisstepError as error:
            if not many:
                session.record.discard()
                if json:
                    emit_json(_error_json(session, error))
                raise
            session.fail(error)
            note(f"error: {error}", quiet=json)
            report = Report(session.record, tally=session.tally)
        reports.append(report)
        if interrupted:
            break
    if json:
        emit_json(_json(reports, many=many))
    elif many:
        say("", *total_table(reports, width=screen_width()))
    return exit_code(reports, interrupted=interrupted)


def run_session(session: Session, *, quiet: bool, silent: bool) -> tuple[Report, bool]:
    """Runs one session in the terminal; its report, and whether Ctrl-C ended it."""
    name, interrupted = session.config.subject, False
    terminal = Terminal(name, session.tally, quiet=quiet, silent=silent, seconds=session.config.seconds)
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


def exit_code(reports: list[Report], *, interrupted: bool) -> int:
    """As pytest would say it; a task that cannot be read matters only where nothing else can be said."""
    if interrupted:
        return ExitCode.INTERRUPTED
    found = [report.finished for report in reports]
    if any(one.bugs for one in found):
        return ExitCode.BUGS_FOUND
    # Runs in which the policy failed to answer test nothing.
    failed = sum(one.failed + one.extra.get("outcomes", {}).get("failed", 0) for one in found)
    if sum(one.tested + one.runs for one in found) - failed:
        return ExitCode.NOTHING_FOUND
    return ExitCode.USAGE if any(report.error for report in reports) else ExitCode.NOTHING_TESTED


def _json(reports: list[Report], *, many: bool) -> dict[str, Any]:
    results = [report_json(report) for report in reports]
    return {"tasks": results, "total": total_json(reports)} if many else results[0]


def _error_json(session: Session, error: MisstepError) -> dict[str, Any]:
    config = session.config
    about = {"task": config.subject, "policy": config.policy, "seed": config.seed}
    return {**about, "outcome": "error", "error": str(error)}
