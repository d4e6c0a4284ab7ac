"""How commands talk: results on standard output, everything else on standard error."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from misstep.errors import InputError

if TYPE_CHECKING:
    from misstep._core import Action


def emit_json(result: Mapping[str, object]) -> None:
    """The one JSON object of `--json`."""
    print(json.dumps(result))


def warn(warnings: Iterable[str]) -> None:
    """Shows warnings on standard error."""
    for text in warnings:
        print(f"warning: {text}", file=sys.stderr)


def note(text: str, *, quiet: bool = False) -> None:
    """Shows progress on standard error."""
    if not quiet:
        print(text, file=sys.stderr)


def write_plan(path: Path, actions: "Sequence[Action]", cost: int) -> None:
    """Writes a plan file as planners do: one action a line, the cost as a comment."""
    lines = [*(action.name for action in actions), f"; cost = {cost}"]
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot write the plan: {error.strerror}; choose another --out") from None
