"""How commands talk: results on standard output, everything else on standard error."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from misstep.errors import InputError
from misstep.reports.screen import note, say, say_plain, warn

if TYPE_CHECKING:
    from misstep._core import Action

__all__ = ["emit_json", "note", "say", "say_plain", "warn", "write_plan"]


def emit_json(result: Mapping[str, object]) -> None:
    """The one JSON object of `--json`."""
    say_plain(json.dumps(result))


def write_plan(path: Path, actions: "Sequence[Action]", cost: int) -> None:
    """Writes a plan file as planners do: one action a line, the cost as a comment."""
    lines = [*(action.name for action in actions), f"; cost = {cost}"]
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot write the plan: {error.strerror}; choose another --out") from None
