"""The status of long work: one line on a terminal, or a few; in a file, a new line now and then."""

import math
import signal
import sys
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import ClassVar, Self

from misstep.reports.text import harmless, shorten, status_width

# Work that is done before this needs no status.
_FIRST_SECONDS = 0.3
_BETWEEN_SECONDS = 0.1
# In a file, such as the log of a night's run.
_LINE_SECONDS = 60.0
_ERASE = "\r\x1b[2K"
_ERASE_BELOW = "\r\x1b[J"


class StatusLine:
    """One line on standard error that is overwritten again and again.

    A thread draws it, so that the clock goes on while a native search takes its time. Whoever prints
    erases it before (`screen.py` does), or it would stand in front of what is printed.

    Where standard error is no terminal, nothing can be overwritten: there is one line a minute.
    """

    lock: ClassVar[threading.RLock] = threading.RLock()
    """Held while anything is written to the screen."""
    shown: ClassVar["StatusLine | None"] = None
    """The one whose text is on the screen."""

    def __init__(
        self, text: str, *, quiet: bool = False, ticking: bool = True, seconds: float | None = None
    ) -> None:
        """`ticking` adds the time: what has passed, or what is left of `seconds`."""
        self.is_on, self.is_terminal = not quiet, sys.stderr.isatty()
        self._text, self._ticking, self._seconds = text, ticking, seconds
        self._begin = time.monotonic()
        self.due_at = math.inf if quiet else 0.0 if self.is_terminal else _LINE_SECONDS / 2
        """After so many seconds a new text may be seen; in a file hardly any is, so one for every event is too many."""
        self._done = threading.Event()
        self._drawn: list[str] = []
        self._thread: threading.Thread | None = None

    @property
    def is_due(self) -> bool:
        """Whether a new text may be seen."""
        return self._spent >= self.due_at

    def show(self, text: str) -> None:
        """Says something else from now on."""
        self._text = text
        if self.is_on and not self.is_terminal:
            self.due_at = self._spent + _LINE_SECONDS / 2

    def __enter__(self) -> Self:
        if self.is_on:
            self._thread = threading.Thread(target=self._draw_on, name="status", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        with StatusLine.lock:
            self.erase()
        if self._thread is not None:
            self._thread.join()

    def _draw_on(self) -> None:
        # Ctrl-C is for the thread that works: it may have to finish what it writes.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        if not self.is_terminal:
            self._write_on()
            return
        wait = _FIRST_SECONDS
        while not self._done.wait(wait):
            wait = _BETWEEN_SECONDS
            with StatusLine.lock:
                if not self._done.is_set():
                    self._draw()

    def _write_on(self) -> None:
        while not self._done.wait(_LINE_SECONDS):
            with StatusLine.lock:
                if not self._done.is_set():
                    with suppress(OSError, ValueError):  # nobody reads it any more
                        sys.stderr.write(f"{harmless(self._line())}\n")
                        sys.stderr.flush()

    def _line(self) -> str:
        return f"{self._text} · {self._time()}" if self._ticking else self._text

    def _lines(self) -> list[str]:
        """What is to be seen; no line is as wide as the terminal, or it could not be erased."""
        return [shorten(self._line(), status_width() - 1)]

    def _draw(self) -> None:
        lines = self._lines()
        if lines != self._drawn:
            # Fewer lines than before would leave some of them behind.
            erased = _ERASE_BELOW if len(lines) < len(self._drawn) else ""
            sys.stderr.write(self._to_first() + erased + "\n".join(_ERASE + line for line in lines))
            sys.stderr.flush()
            StatusLine.shown, self._drawn = self, lines

    def erase(self) -> None:
        """Clears what is seen until it is drawn again; the caller holds the lock."""
        if self._drawn:
            sys.stderr.write(self._to_first() + (_ERASE if len(self._drawn) == 1 else _ERASE_BELOW))
            sys.stderr.flush()
            StatusLine.shown, self._drawn = None, []

    def _to_first(self) -> str:
        """Moves the cursor from the last line that is seen to the first one."""
        return f"\x1b[{len(self._drawn) - 1}A" if len(self._drawn) > 1 else ""

    @property
    def _spent(self) -> float:
        return time.monotonic() - self._begin

    def _time(self) -> str:
        spent = self._spent
        return clock(spent) if self._seconds is None else f"{clock(max(0.0, self._seconds - spent))} left"


def clock(seconds: float) -> str:
    """Minutes and seconds: `1:05`."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
