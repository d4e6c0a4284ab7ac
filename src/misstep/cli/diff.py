"""`misstep diff`: two policies on the same states."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.limits import Limits
from misstep.cli.options import Json, MemoryMb, Quiet, Seconds
from misstep.cli.output import emit_json, say
from misstep.reports.status import StatusLine
from misstep.statistics import CONFIDENCE


def diff(
    old: Annotated[Path, Parameter(help="The directory of a record, or of several records.")],
    new: Annotated[Path, Parameter(help="The same for the new policy.")],
    /,
    *,
    confidence: Annotated[
        float, Parameter(validator=Number(gt=0, lt=1), help="The confidence of statements about rates.")
    ] = CONFIDENCE,
    seconds: Seconds = None,
    memory_mb: MemoryMb = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Compare two tests state by state: what is new, fixed, worse, better; exit code 1 if it got worse.

    Only states of both tests are compared; if there are none, or if a policy gave hardly an answer, the exit code
    is 5. `misstep test ... --pool-file OLD/pool.jsonl` tests another policy on the states of an old record.

    Example: misstep diff runs/monday runs/tuesday
    """
    from misstep.reports.difference import difference, paired_reports
    from misstep.reports.difference_lines import difference_lines

    status = StatusLine("comparing", quiet=quiet, seconds=seconds)
    with status, Limits(seconds=seconds, memory_mb=memory_mb).watch():
        pairs = paired_reports(old, new)
        found = difference(pairs, confidence=confidence)
    if json:
        emit_json(found.as_json())
    else:
        started = [report.tally.started for report in pairs[0]]
        names = ["?" if one is None else one.policy for one in started]
        say(f"OLD       {old}: {names[0]}", f"NEW       {new}: {names[1]}", hang=10)
        say(*difference_lines(pairs, found), hang=10)
    if found.is_worse:
        return ExitCode.BUGS_FOUND
    return ExitCode.NOTHING_FOUND if found.changes and not found.unanswered else ExitCode.NOTHING_TESTED
