"""`misstep verify`: every certificate of a run once more, without the native core and without the policy."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json, Quiet
from misstep.cli.output import emit_json, note


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
    from misstep.record.verify import runs_in, verify_run
    from misstep.safety import verify as safety

    total, valid, by_search = 0, 0, 0
    invalid: list[dict[str, str]] = []
    folders = [run] if safety.is_safety_run(run) else runs_in(run)
    for folder in folders:
        found = safety.verify_run(folder) if safety.is_safety_run(folder) else verify_run(folder)
        total, valid = total + found["certificates"], valid + found["valid"]
        by_search += found.get("by_search", 0)
        prefix = "" if len(folders) == 1 else f"{folder.name}/"
        invalid += [{**entry, "certificate": prefix + entry["certificate"]} for entry in found["invalid"]]
    if json:
        emit_json({"certificates": total, "valid": valid, "invalid": invalid, "by_search": by_search})
    else:
        for entry in invalid:
            print(f"{entry['certificate']}: {entry['reason']}")
        rest = f" ({by_search} of them rest on the word of a search)" if by_search else ""
        note(f"{valid} of {total} certificates are valid{rest}", quiet=quiet)
    return ExitCode.BUGS_FOUND if invalid else ExitCode.NOTHING_FOUND
