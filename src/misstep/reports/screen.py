"""The only printers: results to standard output, everything else to standard error, harmless both.

A status line is erased before anything is printed.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TextIO

from misstep.errors import InputError
from misstep.reports.status import StatusLine
from misstep.reports.text import USUAL_WIDTH, filled, harmless, screen_width, shorten, status_width, width_of

# A longer line on a terminal is no longer read by anybody, nor a longer word in a log.
_LONGEST = 2000


def say(*lines: str, hang: int = 2) -> None:
    """Prints lines of a result; on a terminal long ones are filled, with `hang` as the indent of the rest."""
    if not sys.stdout.isatty():
        say_plain(*map(_readable, lines))
        return
    width = screen_width()
    made: list[str] = []
    for line in lines:
        clean = harmless(line)
        made += [clean] if width_of(clean) <= width else _with_indent(clean, width, hang)
    _write(sys.stdout, made)


def _readable(line: str) -> str:
    """The line; names of megabytes, which PDDL allows, are cut."""
    if len(line) <= _LONGEST:
        return line
    return " ".join(shorten(word, USUAL_WIDTH) if len(word) > _LONGEST else word for word in line.split(" "))


def say_plain(*lines: str) -> None:
    """Prints lines that other programs may read, such as plans: never broken."""
    _write(sys.stdout, [line if line.isprintable() else harmless(line) for line in lines])


@contextlib.contextmanager
def written() -> Iterator[None]:
    """Says so where standard output takes no more, such as a file on a full disk; the reader may also be gone."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise cannot_write(error) from None


def cannot_write(error: OSError) -> InputError:
    """What to say where standard output takes no more; what is left in buffers will not fail once more."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return InputError(
        f"standard output: the result cannot be written: {error.strerror}; make room or choose another place"
    )


def note(text: str, *, quiet: bool = False) -> None:
    """Shows progress or an explanation on standard error."""
    if not quiet:
        _write(sys.stderr, _message(text))


def warn(*warnings: str, quiet: bool) -> None:
    """Shows warnings on standard error, each on a line of its own."""
    for text in warnings:
        note(f"warning: {text}", quiet=quiet)


def _with_indent(line: str, width: int, hang: int) -> list[str]:
    """A line of several, whose own indent stays."""
    text = line.lstrip(" ")
    indent = len(line) - len(text)
    first, *rest = filled(text, width - indent, hang=hang)
    return [f"{' ' * indent}{each}" for each in (first, *rest)]


def _message(text: str) -> list[str]:
    """The lines of a message, which may have several of its own."""
    lines = [
        harmless(line if len(line) <= _LONGEST else shorten(line, _LONGEST)) for line in text.split("\n")
    ]
    if not sys.stderr.isatty():
        return lines
    width = status_width()
    return [
        part
        for line in lines
        for part in ([line] if width_of(line) <= width else _with_indent(line, width, 2))
    ]


def _write(stream: TextIO, lines: list[str]) -> None:
    with StatusLine.lock, written():
        if StatusLine.shown is not None:
            StatusLine.shown.erase()
        for line in lines:
            print(line, file=stream)
        if stream.isatty():
            stream.flush()
