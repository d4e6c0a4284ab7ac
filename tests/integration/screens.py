"""What a person sees: commands in a pseudo-terminal, and the screen that is left at the end."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.integration import warm

_TOKEN = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|(\r|\n|\x08)|([^\x1b\r\n\x08]+)|(\x1b.?)")


@dataclass(frozen=True)
class Seen:
    """How a command ended. `raw` is all that was written to the terminal, `screen` what is left of it."""

    code: int
    raw: str
    screen: str
    is_cursor_clean: bool
    """At the beginning of a line, and visible."""


def look(
    *arguments: str | Path,
    cwd: Path | None = None,
    columns: int = 80,
    timeout: float = 120,
    on_output: Callable[[str, int], None] | None = None,
) -> Seen:
    """Runs misstep in a terminal of so many columns. `on_output` sees all that was written so far, and the
    process, after every piece of output."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = os.environ | {
        "TERM": "xterm",
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
        environment.pop(name, None)
    words = [str(argument) for argument in arguments]
    process = warm.start(words, (other, other, other), env=environment, cwd=cwd, new_session=True)
    os.close(other)
    try:
        raw = _read(main, process, time.monotonic() + timeout, on_output)
    finally:
        if process.poll() is None:
            process.kill()
        os.close(main)
    screen, clean = drawn(raw, columns)
    assert "Traceback" not in screen, screen
    return Seen(process.wait(), raw, screen, clean)


def _read(
    main: int,
    process: warm.Warm,
    end: float,
    on_output: Callable[[str, int], None] | None,
) -> str:
    data = b""
    while True:
        left = end - time.monotonic()
        assert left > 0, f"no end: {data.decode(errors='replace')}"
        if not select.select([main], [], [], min(left, 1.0))[0]:
            continue
        piece = b""
        with contextlib.suppress(OSError):  # Linux says so when the other side is closed
            piece = os.read(main, 65536)
        if not piece:
            process.wait()
            return data.decode()
        data += piece
        if on_output is not None:
            on_output(data.decode(errors="replace"), process.pid)


def interrupt_when(word: str) -> Callable[[str, int], None]:
    """Presses Ctrl-C once when the word has been written."""
    done: list[bool] = []

    def on_output(text: str, process: int) -> None:
        if not done and word in text:
            done.append(True)
            os.kill(process, signal.SIGINT)

    return on_output


def drawn(raw: str, columns: int) -> tuple[str, bool]:
    """What a terminal shows after these bytes, and whether its cursor is where a prompt belongs.

    Only what misstep and its help use is understood; anything else fails, as it should.
    """
    lines: list[list[str]] = [[]]
    row = column = 0
    visible = True
    for match in _TOKEN.finditer(raw):
        parameters, command, control, text, stray = match.groups()
        assert stray is None, f"a stray escape: {stray!r}"
        if command == "K":
            assert parameters == "2"
            lines[row] = []
        elif command == "J" and not parameters:
            lines[row] = lines[row][:column]
            del lines[row + 1 :]
        elif command == "A":
            row -= int(parameters)
            assert row >= 0, "above the first line"
        elif parameters == "?25":
            visible = command == "h"
        elif command is not None:
            assert command in "mhl", f"an unknown escape: {match.group()!r}"
        elif control == "\r":
            column = 0
        elif control == "\n":
            row += 1
            if row == len(lines):
                lines.append([])
        elif control == "\x08":
            column = max(0, column - 1)
        for char in text or "":
            if column == columns:
                row, column = row + 1, 0
                if row == len(lines):
                    lines.append([])
            line = lines[row]
            line.extend(" " * (column + 1 - len(line)))
            line[column] = char
            column += 1
    shown = "\n".join("".join(line).rstrip() for line in lines)
    return shown.rstrip("\n") + "\n", visible and column == 0 and not lines[row]
