"""The live status line of long work: one line on a terminal, nothing elsewhere."""

import sys
import time
from types import TracebackType
from typing import Self

_INTERVAL = 0.1


class StatusLine:
    """Overwrites one line on standard error; silent where that is no terminal, or where told so."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._on = not quiet and sys.stderr.isatty()
        self._next = 0.0

    def show(self, text: str) -> None:
        """Shows the text, at most ten times a second."""
        now = time.monotonic()
        if self._on and now >= self._next:
            self._next = now + _INTERVAL
            sys.stderr.write(f"\r\x1b[2K{text}")
            sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._on:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


def clock(seconds: float) -> str:
    """Minutes and seconds: `1:05`."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
