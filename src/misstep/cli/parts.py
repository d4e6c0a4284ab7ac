"""`misstep parts`: which parts exist, and their options."""

import dataclasses
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json
from misstep.cli.output import emit_json, say

if TYPE_CHECKING:
    from misstep.plugins import PartInfo


def parts(
    kind: Annotated[str | None, Parameter(help="Only this kind: search, policy, oracle, ...; all by default.")] = None, /, *, json: Json = False
) -> int:
    """Show the parts that can be named on the command line, with their options and defaults.

    A part is written NAME:option=value,option=value; a value without a name is the first option.
    Example: misstep parts search
    """
    from misstep.plugins import KINDS, list_parts

    found: dict[str, list[PartInfo]] = {name: list_parts(name) for name in ([kind] if kind else KINDS)}
    if json:
        emit_json({name: [dataclasses.asdict(part) for part in listed] for name, listed in found.items()})
        return ExitCode.NOTHING_FOUND
    for name, listed in found.items():
        say(f"{name}: {_KINDS.get(name, _OTHER)}")
        for part in listed:
            _show(part)
    return ExitCode.NOTHING_FOUND


_INDENT = 16
_OTHER = "a kind of part"
_KINDS = {
    "search": "finds plans; for `misstep plan --search` and the oracle `planner`",
    "heuristic": "estimates how far a state is from the goal",
    "policy": "what is tested; for --policy",
    "fuzzer": "makes test states; for --fuzzer",
    "bias": "steers a fuzzer to where the policy may fail; for --bias",
    "oracle": "looks for something better than what the policy does; for --oracle",
    "objective": "what counts as worse; for --objective",
}


def _show(part: "PartInfo") -> None:
    origin = "" if part.origin == "misstep" else f" (from {part.origin})"
    # The first line says what it is; what follows was broken for the source, not for this screen.
    first, _, more = part.help.partition("\n")
    say(f"  {part.name:<{_INDENT - 3}} {first}{origin}", hang=_INDENT - 2)
    for paragraph in filter(None, map(str.strip, more.split("\n\n"))):
        say(f"{'':{_INDENT}}{' '.join(paragraph.split())}", hang=0)
    for option in part.options:
        default = "" if option.default is None else f"={option.default}"
        say(f"{'':{_INDENT}}:{option.name}{default}  ({option.type}) {option.help}".rstrip(), hang=4)
