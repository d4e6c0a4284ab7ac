"""`misstep verify`: every certificate of a run once more, without the native core and without the policy."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json, Quiet
from misstep.cli.output import emit_json, note
from misstep.errors import InputError


def verify(
    run: Annotated[Path, Parameter(help="A run directory.")],
    /,
    *,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Check every certificate of a run with the small trusted checker; exit code 1 where one is invalid.

    Example: misstep verify runs/line
    """
    from misstep.safety.verify import is_safety_run, verify_run

    if not run.is_dir():
        raise InputError(f"{run}: no such run directory")
    if not is_safety_run(run):
        raise InputError(f"{run}: not the directory of a `misstep safety test` run")
    found = verify_run(run)
    invalid = found["invalid"]
    assert isinstance(invalid, list)
    if json:
        emit_json(found)
    else:
        for entry in invalid:
            print(f"{entry['certificate']}: {entry['reason']}")
        note(f"{found['valid']} of {found['certificates']} certificates are valid", quiet=quiet)
    return ExitCode.BUGS_FOUND if invalid else ExitCode.NOTHING_FOUND
