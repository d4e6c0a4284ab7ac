"""`misstep replay`: ask the policy again about known bugs."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.limits import Limits
from misstep.cli.options import Json, MemoryMb, Quiet, Seconds, Trust
from misstep.cli.output import emit_json, say, say_plain, warn
from misstep.reports.status import StatusLine


def replay(
    record: Annotated[Path, Parameter(help="The directory of a record.")],
    bug: Annotated[str | None, Parameter(help="The number of one bug; by default all bugs.")] = None,
    /,
    *,
    policy: Annotated[
        str | None, Parameter(help="Ask this policy instead, such as a newly trained one.")
    ] = None,
    seconds: Seconds = None,
    memory_mb: MemoryMb = None,
    trust: Trust = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Ask the policy again: still a bug, or fixed? Exit code 1 if a bug is left.

    The exit code is 5 if the policy gave hardly an answer.

    Example: misstep replay runs/line-001 12
    """
    from misstep.record.bound_files import changed_policy
    from misstep.record.record import records_in
    from misstep.record.replay import STATUS, open_replay
    from misstep.reports.show import show_replayed
    from misstep.reports.text import screen_width
    from misstep.status import is_mostly_unanswered

    limits = Limits(seconds=seconds, memory_mb=memory_mb)
    counts = dict.fromkeys(STATUS, 0)
    rows = []
    for folder in records_in(record):
        status = StatusLine(f"asking the policy again: {folder}", quiet=quiet, seconds=seconds)
        with status, limits.watch():
            again = open_replay(folder, policy=policy, trust=trust)
            certificates = again.bugs(bug)
            answers = again.ask(certificates)
        if policy is None:
            warn(*changed_policy(again.record), quiet=quiet)
        for found in answers:
            counts[found.status] += 1
            rows.append(found.as_json())
            if json:
                continue
            say(f"bug {found.id}: {STATUS[found.status]} ({found.said})")
            if found.reason is not None:
                say(f"  reason: {found.reason}")
            if bug is not None and not quiet:
                say_plain("", *show_replayed(again, found, certificates[found.id], width=screen_width()))
    if json:
        emit_json({"replayed": len(rows), **counts, "bugs": rows})
    elif len(rows) != 1:
        say(", ".join(f"{count} {STATUS[name]}" for name, count in counts.items() if count) or "no bugs")
    if not rows:
        return ExitCode.NOTHING_TESTED
    if counts["bug"] + counts["changed"]:
        return ExitCode.BUGS_FOUND
    is_dead = is_mostly_unanswered(counts["failed"], len(rows))
    return ExitCode.NOTHING_TESTED if is_dead else ExitCode.NOTHING_FOUND
