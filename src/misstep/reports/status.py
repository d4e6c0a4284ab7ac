"""The live status line of long work: one line on a terminal, nothing elsewhere."""

import shutil
import sys
import time
from types import TracebackType
from typing import Self

_INTERVAL = 0.1
_ERASE = "\r\x1b[2K"


class StatusLine:
    """Overwrites one line on standard error; silent where that is no terminal, or where told so."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.is_on = not quiet and sys.stderr.isatty()
        self._next = 0.0
        self._shown = False

    def show(self, text: str) -> None:
        """Shows the text, at most ten times a second, cut to the width of the terminal."""
        now = time.monotonic()
        if self.is_on and now >= self._next:
            self._next = now + _INTERVAL
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(_ERASE + text[:width])
            sys.stderr.flush()
            self._shown = True

    def erase(self) -> None:
        """Clears the line, so that something else can be printed in its place."""
        if self._shown:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()
            self._shown, self._next = False, 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.erase()


def clock(seconds: float) -> str:
    """Minutes and seconds: `1:05`."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
