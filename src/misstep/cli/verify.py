"""`misstep verify`: every certificate of a record once more, without the core and without the policy."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.limits import Limits
from misstep.cli.options import MOST_JOBS, Json, MemoryMb, Quiet, Seconds
from misstep.cli.output import emit_json, say
from misstep.explain.words import counted
from misstep.reports.status import StatusLine

if TYPE_CHECKING:
    from misstep.record.verified import Verified

# Remarks that are shown: a campaign has hundreds of records.
_SHOWN = 10


def verify(
    record: Annotated[Path, Parameter(help="The directory of a record, or of several records.")],
    /,
    *,
    jobs: Annotated[
        int,
        Parameter(validator=Number(gte=1, lte=MOST_JOBS), help="How many processes check at the same time."),
    ] = 1,
    seconds: Seconds = None,
    memory_mb: MemoryMb = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Check every certificate of a record with a small independent checker; exit code 1 if one is invalid.

    It also checks that the files of the record do not contradict each other; if they do, the exit code is 1.

    Example: misstep verify runs/line-001
    """
    from misstep.record.verify import verify_all

    limits = Limits(seconds=seconds, memory_mb=memory_mb)
    about = f"checking the certificates of {record}"
    status = StatusLine(about, quiet=quiet, seconds=seconds)

    def tell(done: int, records: int) -> None:
        if records > 1:
            status.show(f"{about} · {done} of {records} records")

    with status, limits.watch():
        found = verify_all(record, jobs=jobs, tell=tell)
    if json:
        emit_json(found.as_json())
        return ExitCode.NOTHING_FOUND if found.is_sound else ExitCode.BUGS_FOUND
    for entry in found.invalid:
        say(f"{entry['certificate']}: {entry['reason']}")
    for problem in found.problems:
        say(f"the record is not to be trusted: {problem}")
    say(f"{found.valid} of {counted(found.certificates, 'certificate')} valid")
    if not quiet and found.by_search:
        say(f"  {found.by_search} of them rest on a search, which the checker has to believe")
    for word, count in () if quiet else found.words.items():
        if word.startswith("objective "):
            say(f"  {count} of them take the {word} at its word about its values")
    if not quiet and found.certificates:
        say("  that the policy decides so is its own word: `misstep replay` asks it again")
    if not quiet:
        _say_notes(found)
    return ExitCode.NOTHING_FOUND if found.is_sound else ExitCode.BUGS_FOUND


def _say_notes(found: "Verified") -> None:
    """What is unusual must not drown in what every record has to say of itself."""
    for text in found.questions if found.records == 1 else ():
        say(f"  {text}")
    for text in found.remarks[:_SHOWN]:
        say(f"  {text}")
    if len(found.remarks) > _SHOWN:
        say(f"  ({counted(len(found.remarks) - _SHOWN, 'more note')} of other records; --json shows all)")
    if found.records > 1 and found.questions:
        say("  which task or model each record is about, with its SHA-256: see `notes` of --json")
