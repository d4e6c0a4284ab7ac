"""`misstep parts`: which parts exist, and their options."""

import shutil
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json, Quiet
from misstep.cli.output import emit_json, say_plain
from misstep.reports.status import StatusLine
from misstep.support.plain import to_plain

if TYPE_CHECKING:
    from misstep.plugins import OptionInfo, PartInfo

_NARROWEST = 40
KIND_HELP = {
    "search": "finds plans; for `misstep plan --search` and the oracle `planner`",
    "heuristic": "estimates how far a state is from the goal",
    "policy": "what is tested; for --policy",
    "fuzzer": "makes test states; for --fuzzer",
    "bias": "guides a fuzzer to where the policy may fail; for --bias",
    "oracle": "looks for something better than what the policy does; for --oracle",
    "objective": "what counts as worse; for --objective",
    "safety-policy": "what is tested on a JANI model; for --policy",
    "safety-fuzzer": "draws runs of a policy on a JANI model; for --fuzzer",
    "teacher": "plans from states that a policy learns from; for `misstep train asnet` and `train gnn`",
    "generator": "makes problems of any size; for `misstep scale --generator`",
    "decider": "says whether states of a JANI model are safe; for --decider",
    "drawing": "draws states in reports; for `misstep report --drawing`",
}
_NAMES = 14
_INDENT = " " * (2 + _NAMES)


def parts(
    kind: Annotated[str | None, Parameter(help="Only this kind, such as oracle or policy.")] = None,
    /,
    *,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Show the parts that can be named on the command line, with their options and defaults.

    A part is written NAME:option=value,option=value; a value without a name belongs to the first option.
    Parts of other packages are listed with the name of their package.

    Example: misstep parts search
    """
    from misstep.plugins import KINDS, list_parts

    with StatusLine("loading parts", quiet=quiet):
        found = {name: list_parts(name) for name in ([kind] if kind else KINDS)}
    if json:
        emit_json({name: to_plain(listed) for name, listed in found.items()})
        return ExitCode.NOTHING_FOUND
    width = max(_NARROWEST, shutil.get_terminal_size().columns)
    for number, (name, listed) in enumerate(found.items()):
        say_plain(
            *([""] if number else []), *_wrapped("", f"{name}: {KIND_HELP.get(name, '')}".rstrip(), width)
        )
        for part in listed:
            say_plain(*_lines(part, width))
    return ExitCode.NOTHING_FOUND


def _lines(part: "PartInfo", width: int) -> Iterator[str]:
    """The name with the first sentence beside it, everything else indented below."""
    origin = "" if part.origin == "misstep" else f" (from {part.origin})"
    if part.problem is not None:
        yield from _wrapped(f"  {part.name:<{_NAMES}}", f"cannot be used: {part.problem}", width)
        return
    paragraphs = [" ".join(text.split()) for text in part.help.split("\n\n")]
    yield from _wrapped(f"  {part.name:<{_NAMES}}", paragraphs[0] + origin, width)
    for text in paragraphs[1:]:
        yield from _wrapped(_INDENT, text, width)
    for option in part.options:
        yield from _wrapped(_INDENT, _option(option), width, hang=4)


def _option(option: "OptionInfo") -> str:
    default = " (needed)" if option.is_required else f"={_shown(option.default)}"
    kind = option.type.replace("|", "| ") if len(option.type) > _NARROWEST else option.type
    return f":{option.name}{default}  {kind}; {option.help}"


def _shown(default: object) -> str:
    """A default as users type it."""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, float):
        return f"{default:g}"
    return "none" if default is None else str(default)


def _wrapped(start: str, text: str, width: int, *, hang: int = 0) -> list[str]:
    """The text behind the start, broken into lines of this width; names that are long get their own line."""
    lines = textwrap.wrap(
        text,
        width,
        initial_indent=start if len(start) <= len(_INDENT) else _INDENT,
        subsequent_indent=_INDENT + " " * hang,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines if len(start) <= len(_INDENT) else [start.rstrip(), *lines]
