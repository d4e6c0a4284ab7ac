"""How the commands that test show what they do: one terminal a session, one JSON object at the end."""

from pathlib import Path
from typing import Any

from misstep.cli.exit_codes import ExitCode
from misstep.cli.output import emit_json
from misstep.config import Config
from misstep.reports.report import Report
from misstep.reports.summary import report_json, total_json, total_table
from misstep.reports.terminal import Terminal
from misstep.session import Session
from misstep.suite import Suite, expand


def run_suite(
    config: Config, problems: list[Path], *, out: Path | None, resume: bool, json: bool, quiet: bool
) -> int:
    """Tests all problems, shows them, and returns the exit code."""
    configs = expand(config, problems)
    many = len(configs) > 1
    reports, interrupted = [], False
    for session in Suite(configs, out, resume).sessions():
        report, interrupted = run_session(session, quiet=quiet, silent=json, title=many)
        reports.append(report)
        if interrupted:
            break
    if json:
        emit_json(_json(reports, many=many))
    elif many:
        print("\n".join(total_table(reports)))
    return exit_code(reports, interrupted=interrupted)


def run_session(session: Session, *, quiet: bool, silent: bool, title: bool = False) -> tuple[Report, bool]:
    """Runs one session in the terminal; its report, and whether Ctrl-C ended it."""
    name, interrupted = session.config.subject, False
    if title and not silent:
        print(f"== {name}")
    terminal = Terminal(name, session.tally, quiet=quiet, silent=silent, seconds=session.config.seconds)
    try:
        for event in session.events():
            terminal.on(event)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        session.record.close()
        terminal.erase()
    report = Report(session.record, tally=session.tally)
    terminal.end(report, interrupted=interrupted)
    return report, interrupted


def exit_code(reports: list[Report], *, interrupted: bool) -> int:
    """As pytest would say it."""
    if interrupted:
        return ExitCode.INTERRUPTED
    found = [report.finished for report in reports]
    if any(one.bugs for one in found):
        return ExitCode.BUGS_FOUND
    # Runs in which the policy failed to answer test nothing.
    failed = sum(one.extra.get("outcomes", {}).get("failed", 0) for one in found)
    tested = sum(one.tested + one.runs for one in found) - failed
    return ExitCode.NOTHING_FOUND if tested else ExitCode.NOTHING_TESTED


def _json(reports: list[Report], *, many: bool) -> dict[str, Any]:
    results = [report_json(report) for report in reports]
    return {"tasks": results, "total": total_json(reports)} if many else results[0]
