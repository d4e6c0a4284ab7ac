"""`misstep shrink`: a smaller state with the same misstep."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.limits import Limits
from misstep.cli.options import Json, MemoryMb, Quiet, Seconds, Trust
from misstep.cli.output import emit_json, say, say_plain
from misstep.explain.words import counted
from misstep.reports.status import StatusLine


def shrink(
    record: Annotated[Path, Parameter(help="The directory of a record.")],
    bug: Annotated[str, Parameter(help="The number of the bug.")],
    /,
    *,
    seconds: Seconds = None,
    memory_mb: MemoryMb = None,
    trust: Trust = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Find a smaller bug: a later state on the run that is still a bug, to which no longer walk leads.

    The smaller bug has a certificate of its own. Neither the policy's run nor the walk from the initial state gets
    longer. The exit code is 0, also where nothing smaller is found.

    Example: misstep shrink runs/line-001 12
    """
    from misstep.record.replay import open_replay
    from misstep.record.shrunk import shrink_bug
    from misstep.reports.show import show_bug
    from misstep.reports.text import screen_width

    limits = Limits(seconds=seconds, memory_mb=memory_mb)
    with StatusLine(f"shrinking bug {bug}", quiet=quiet, seconds=seconds), limits.watch():
        found = shrink_bug(open_replay(record, trust=trust, searches=True), bug)
    if json:
        emit_json(found.as_json())
        return ExitCode.NOTHING_FOUND
    say(
        f"{found.said}; the policy's run: {found.before['run']} -> {counted(found.after['run'] or 0, 'step')}"
    )
    if found.after["walk"] is not None:
        say(
            f"walk from the initial state to the bug: {found.before['walk']} -> "
            f"{counted(found.after['walk'], 'action')}"
        )
    if not quiet:
        say_plain("", *show_bug(found.record, found.certificate, width=screen_width()))
    say(f"certificate: {found.name} in {found.record.where}")
    return ExitCode.NOTHING_FOUND
