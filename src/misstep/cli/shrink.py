"""`misstep shrink`: a smaller state with the same misstep."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json, Quiet
from misstep.cli.output import emit_json


def shrink(
    record: Annotated[Path, Parameter(help="The directory of a record.")],
    bug: Annotated[str, Parameter(help="The bug.")],
    /,
    *,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Find the latest buggy state on a bug's run and a short walk to it; certified like any other bug.

    Example: misstep shrink runs/line-001 12
    """
    from misstep.record.replay import open_replay
    from misstep.record.shrunk import shrink_bug
    from misstep.reports.show import show_bug

    found = shrink_bug(open_replay(record), bug)
    if json:
        emit_json(found.as_json())
        return ExitCode.BUGS_FOUND
    print(f"{found.said}; the policy's run: {found.before['run']} -> {found.after['run']} steps")
    if found.after["walk"] is not None:
        print(f"walk from the initial state: {found.before['walk']} -> {found.after['walk']} actions")
    if not quiet:
        print("\n".join(show_bug(found.record, found.certificate)))
    print(f"certificate: {found.name} in {found.record.where}")
    return ExitCode.BUGS_FOUND
