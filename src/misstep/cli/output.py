"""How commands talk: results on standard output, everything else on standard error."""

import contextlib
import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from misstep.errors import InputError
from misstep.reports.screen import cannot_write, note, say, say_plain, warn, written
from misstep.support.whole_files import write_file

if TYPE_CHECKING:
    from misstep._core import Action

__all__ = [
    "cannot_write",
    "continued",
    "emit_json",
    "kept",
    "note",
    "remember",
    "reserve_output",
    "same_command",
    "say",
    "say_plain",
    "warn",
    "write_plan",
]

_reserved: list[int] = []
_given: list[str] = []


def remember(arguments: Sequence[str]) -> None:
    """Keeps the command line, for messages that repeat it."""
    _given[:] = arguments


def same_command(*more: str) -> str:
    """The command line of this program for any shell, with some words more that it may lack."""
    return shlex.join(["misstep", *_given, *(word for word in more if word not in _given)])


def kept(where: object, command: str | None = None) -> str:
    """What people who interrupt a command are told: what they have, and the command that goes on with it."""
    how = "the same command goes on" if command is None else f"this goes on:\n  {command}"
    return f"what is done is kept in {where}; {how}"


@contextlib.contextmanager
def continued(where: Path | None, *more: str) -> Iterator[None]:
    """Around work that the same command goes on with, some with a word more; nothing is kept without a place."""
    try:
        yield
    except KeyboardInterrupt:
        if where is None:
            raise
        raise KeyboardInterrupt(kept(where, same_command(*more) if more else None)) from None


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
        write_file(path, "\n".join(lines) + "\n")
    except OSError as error:
        raise InputError(f"{path}: cannot write the plan: {error.strerror}; choose another --out") from None
