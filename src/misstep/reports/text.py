"""Texts for a screen: harmless whatever stands in the files they come from, filled to a width, names whole."""

import os
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence

USUAL_WIDTH = 80
"""Of a screen whose width nobody knows."""
_ELLIPSIS = "..."
_LONGEST_NAME = 2000
# Format characters can turn the direction of a line, separators can break it; controls can do anything.
_ACTIVE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def harmless(text: str, *, keep_lines: bool = False) -> str:
    """The text with control characters written out (`\\x1b`), so that a terminal does nothing but show it.

    Every name that comes from a file goes through here on its way to a screen. `keep_lines` is for messages,
    which may have several lines of their own.
    """
    if text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode()
        if unicodedata.category(char) in _ACTIVE and not (keep_lines and char == "\n")
        else char
        for char in text
    )


def width_of(text: str) -> int:
    """How many columns a harmless text takes: wide letters take two, accents none."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def shorten(text: str, width: int) -> str:
    """The text, harmless, with its middle left out where it takes more than `width` columns."""
    # What lies far from both ends is never seen; a name of a megabyte is not looked at as a whole.
    if len(text) > 4 * width:
        text = text[: 2 * width] + text[-2 * width :]
    text = harmless(text)
    if width_of(text) <= width:
        return text
    if width <= len(_ELLIPSIS):
        return _ELLIPSIS[:width]
    left = width - len(_ELLIPSIS)
    tail = _fitting(text[::-1], left // 2)[::-1]
    return _fitting(text, left - left // 2) + _ELLIPSIS + tail


def _fitting(text: str, width: int) -> str:
    """As much of the beginning as fits."""
    taken = 0
    for at, char in enumerate(text):
        taken += _width(char)
        if taken > width:
            return text[:at]
    return text


def whole(text: str, width: int = USUAL_WIDTH) -> str:
    """A name, harmless and as it is; only one of thousands of letters, which PDDL allows, is cut."""
    return shorten(text, width) if len(text) > _LONGEST_NAME else harmless(text)


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The text, filled to this many columns; `right` is for numbers."""
    space = " " * (width - width_of(text))
    return space + text if right else text + space


def filled(text: str, width: int, *, hang: int = 2) -> list[str]:
    """A sentence on as many lines as it needs; `hang` is the indent of all lines but the first."""
    room = max(width, hang + 10)
    words = (whole(word, room - hang) for word in text.split(" "))
    return textwrap.wrap(
        " ".join(words),
        room,
        subsequent_indent=" " * hang,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]


def listed(items: Iterable[str], width: int, *, indent: int = 4) -> list[str]:
    """Items with commas between them, broken only between two items; one that is too long has a line of its own."""
    lines: list[str] = []
    room = max(width - indent - 1, 10)  # one column for the comma
    line = ""
    for item in items:
        item = whole(item, room)
        if line and width_of(line) + 2 + width_of(item) > room:
            lines.append(f"{' ' * indent}{line},")
            line = item
        else:
            line = f"{line}, {item}" if line else item
    return [*lines, f"{' ' * indent}{line}"] if line else lines


def table(rows: Sequence[Sequence[str]], width: int | None, *, names: int = 1) -> list[str]:
    """Rows under their heads: at first `names` columns of names, then numbers at the right, and a last column.

    Where that takes more than `width`, names stand on a line of their own, above the rest of their row. They are not
    cut, since what is left of two long names may be the same.
    """
    clean = [[whole(cell) for cell in row] for row in rows]
    widths = [max(width_of(row[column]) for row in clean) for column in range(len(clean[0]))]
    last = len(widths) - 1
    filled_rows = [
        [padded(cell, widths[at], right=names <= at < last) for at, cell in enumerate(row)] for row in clean
    ]
    if width is None or sum(widths) + 2 * last <= width:
        return ["  ".join(row).rstrip() for row in filled_rows]
    halves = ((row[:names], ["", *row[names:]]) for row in filled_rows)
    return ["  ".join(half).rstrip() for row in halves for half in row]


def screen_width() -> int:
    """The columns that a text for standard output may take: COLUMNS, those of the terminal, or the usual ones."""
    wanted = _given_width()
    if wanted is not None:
        return wanted
    return shutil.get_terminal_size((USUAL_WIDTH, 24)).columns if sys.stdout.isatty() else USUAL_WIDTH


def table_width() -> int | None:
    """The columns that a table may take; None where standard output is a file or a pipe, whose lines have no end."""
    return screen_width() if sys.stdout.isatty() or _given_width() is not None else None


def _given_width() -> int | None:
    """What the variable COLUMNS says; anything but a number above 0 says nothing."""
    text = os.environ.get("COLUMNS", "")[:6]
    return int(text) if text.isdecimal() and int(text) > 0 else None


def status_width() -> int:
    """The columns of the terminal that standard error goes to; COLUMNS can make it narrower.

    It cannot make it wider: what is drawn there is erased again, line by line.
    """
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns or USUAL_WIDTH
    except (OSError, ValueError):
        columns = USUAL_WIDTH
    return min(columns, _given_width() or columns)
