"""`misstep parts`: which parts exist, and their options."""

import dataclasses
from typing import Annotated

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json
from misstep.cli.output import emit_json


def parts(
    kind: Annotated[str | None, Parameter(help="Only this kind.")] = None, /, *, json: Json = False
) -> int:
    """Show the parts that can be named on the command line, with their options and defaults.

    A part is written NAME:option=value,option=value; a value without a name is the first option.
    Example: misstep parts search
    """
    from misstep.plugins import KINDS, PartInfo, list_parts

    found: dict[str, list[PartInfo]] = {name: list_parts(name) for name in ([kind] if kind else KINDS)}
    if json:
        emit_json({name: [dataclasses.asdict(part) for part in listed] for name, listed in found.items()})
        return ExitCode.NOTHING_FOUND
    for name, listed in found.items():
        print(f"{name}:")
        for part in listed:
            origin = "" if part.origin == "misstep" else f" (from {part.origin})"
            first, *more = [line for line in part.help.splitlines() if line] or [""]
            print(f"  {part.name:<11} {first}{origin}")
            for line in more:
                print(f"            {line}")
            for option in part.options:
                default = "" if option.default is None else f"={option.default}"
                print(f"            :{option.name}{default}  {option.type}; {option.help}")
    return ExitCode.NOTHING_FOUND
