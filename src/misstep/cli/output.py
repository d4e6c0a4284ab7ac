"""How commands talk: results on standard output, everything else on standard error."""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from misstep.errors import InputError
from misstep.reports.screen import cannot_write, note, say, say_plain, warn, written

if TYPE_CHECKING:
    from misstep._core import Action

__all__ = [
    "cannot_write",
    "continued",
    "emit_json",
    "note",
    "reserve_output",
    "say",
    "say_plain",
    "warn",
    "write_plan",
]

_reserved: list[int] = []


@contextlib.contextmanager
def continued(where: Path) -> Iterator[None]:
    """Around work that the same command goes on with: whoever interrupts it is told so."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"what is done is kept in {where}; the same command goes on") from None


def reserve_output() -> None:
    """Leaves standard output to `emit_json`: what a policy prints in this process goes to standard error."""
    with contextlib.suppress(OSError):  # there may be no standard error
        output = os.dup(1)
        os.dup2(2, 1)
        _reserved[:] = [output]


def emit_json(result: Mapping[str, object]) -> None:
    """The one JSON object of `--json`."""
    if not _reserved:
        say_plain(json.dumps(result))
        return
    left = json.dumps(result).encode() + b"\n"
    with written():
        while left:
            left = left[os.write(_reserved[0], left) :]


def write_plan(path: Path, actions: "Sequence[Action]", cost: int) -> None:
    """Writes a plan file as planners do: one action a line, the cost as a comment."""
    lines = [*(action.name for action in actions), f"; cost = {cost}"]
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot write the plan: {error.strerror}; choose another --out") from None
