"""`misstep verify`: every certificate of a record once more, without the core and without the policy."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json, Quiet
from misstep.cli.output import emit_json


def verify(
    record: Annotated[Path, Parameter(help="The directory of a record.")],
    /,
    *,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Check every certificate of a record with the small trusted checker; exit code 1 where one is invalid.

    Example: misstep verify runs/line-001
    """
    from misstep.record.verify import verify_all

    found = verify_all(record)
    if json:
        emit_json(found.as_json())
    else:
        for entry in found.invalid:
            print(f"{entry['certificate']}: {entry['reason']}")
        rest = f" ({found.by_search} of them rest on the word of a search)" if found.by_search else ""
        print(f"{found.valid} of {found.certificates} certificates are valid{rest}")
        if not quiet and found.certificates:
            print("that the policy really decides so is its own word: `misstep replay` asks it again")
    return ExitCode.BUGS_FOUND if found.invalid else ExitCode.NOTHING_FOUND
