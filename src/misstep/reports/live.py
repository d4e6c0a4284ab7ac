"""The live view of a long test: a few lines at the bottom of a terminal, drawn by rich."""

import io
import os
import sys

from rich.console import Console, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from misstep.events import Progress
from misstep.reports.status import StatusLine, clock
from misstep.reports.text import harmless, shorten, status_width, width_of

# In less room than this there is one line.
_LEAST_WIDTH, _LEAST_HEIGHT = 64, 20
# Longer lines are no longer read at a glance.
_MOST_WIDTH = 100
_BAR_WIDTH = 24
_LEAST_NAME = 16
# The view is made anew so often: that takes rich a few milliseconds.
_SECONDS = 1.0


class LiveView(StatusLine):
    """How a test goes: time, states, bugs, the policy, memory, and what each oracle brings.

    One status line until the first progress is told, and in a small terminal.
    """

    def __init__(self, name: str, *, quiet: bool = False, seconds: float | None = None) -> None:
        super().__init__(f"loading {name}", quiet=quiet, seconds=seconds)
        self._name = name
        self._progress: Progress | None = None
        self._told_at = 0.0
        self._made: list[str] = []
        self._made_at = 0.0

    def tell(self, progress: Progress) -> None:
        """Shows these numbers from now on."""
        self._told_at, self._progress = self._spent, progress

    def _lines(self) -> list[str]:
        progress, (width, height) = self._progress, _size()
        if progress is None or width < _LEAST_WIDTH or height < _LEAST_HEIGHT:
            return super()._lines()
        now = self._spent
        if not self._made or now - self._made_at >= _SECONDS:
            # What has passed since then is added, so that clocks go on while a search takes its time.
            since = now - self._told_at
            self._made = view_lines(
                self._name, progress, since=since, spent=now, seconds=self._seconds, width=width - 1
            )
            self._made_at = now
        return self._made


def _size() -> tuple[int, int]:
    """Of the terminal that standard error goes to."""
    try:
        return status_width(), os.get_terminal_size(sys.stderr.fileno()).lines
    except (OSError, ValueError):
        return status_width(), 0


def view_lines(
    name: str,
    progress: Progress,
    *,
    since: float,
    spent: float,
    seconds: float | None,
    width: int,
    colour: bool | None = None,
) -> list[str]:
    """The view as lines of at most `width` columns, with escapes for colours unless told otherwise.

    `since` is how long ago the progress was told, `spent` the time of the whole test, `seconds` its limit.
    """
    width = min(width, _MOST_WIDTH)
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=colour is not False,
        no_color=None if colour is None else not colour,
        legacy_windows=False,
        highlight=False,
        emoji=False,
    )
    console.print(_head(name, progress, spent, seconds, width), no_wrap=True, crop=True)
    console.print(_counts(progress, since), no_wrap=True, crop=True, overflow="ellipsis")
    console.print(_means(progress), no_wrap=True, crop=True, overflow="ellipsis")
    console.print(_oracles(progress), no_wrap=True, crop=True)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def _head(name: str, progress: Progress, spent: float, seconds: float | None, width: int) -> RenderableType:
    """The name, a bar for what limits the test, and the time."""
    if seconds is None:
        share = progress.done / progress.size if progress.size else 0.0
        time = clock(spent)
    else:
        share = min(1.0, spent / seconds) if seconds else 1.0
        time = f"{clock(spent)}, {clock(max(0.0, seconds - spent))} left"
    where = f"round {progress.round + 1}, state {progress.done} of {progress.size}"
    # The name has what the rest leaves, the bar what a short name leaves.
    room = width - len(where) - len(time) - 6
    name = shorten(name, max(_LEAST_NAME, room - _BAR_WIDTH))
    bar_width = max(0, min(_BAR_WIDTH, room - width_of(name)))
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(4):
        grid.add_column(no_wrap=True)
    style = "cyan"
    bar = ProgressBar(total=1.0, completed=share, width=bar_width, complete_style=style, finished_style=style)
    grid.add_row(Text(name, style="bold"), bar, Text(where), Text(time))
    return grid


def _counts(progress: Progress, since: float) -> Text:
    text = Text()
    text.append(f"bugs {progress.bugs}", style="bold red" if progress.bugs else "")
    if progress.last_kind_at is not None:
        ago = clock(max(0.0, progress.at + since - progress.last_kind_at))
        kinds = "1 kind" if progress.kinds == 1 else f"{progress.kinds} kinds"
        text.append(f" of {kinds}, the last new one {ago} ago")
    text.append(f" · cleared {progress.cleared} · unknown {progress.unknown}")
    return text


def _means(progress: Progress) -> Text:
    """What the test takes."""
    words = [f"pool {progress.pool:,}"] if progress.pool else []
    if progress.asked is not None:
        speed = progress.asked / progress.policy_seconds if progress.policy_seconds > 0 else 0.0
        words.append(f"policy asked about {progress.asked:,} states, {speed:,.0f} a second")
    if progress.memory_mb:
        words.append(f"memory {progress.memory_mb:,.0f} MB")
    return Text(" · ".join(words))


def _oracles(progress: Progress) -> Table:
    table = Table.grid(padding=(0, 3, 0, 0))
    for justify in ("left", "right", "right", "right"):
        table.add_column(justify=justify)
    table.add_row(*(Text(head, style="dim") for head in ("oracle", "asked", "settled", "seconds")))
    for use in progress.oracles:
        seconds = f"{use.seconds:,.1f}"
        cells = (harmless(use.name)[:40], f"{use.asked:,}", f"{use.settled:,}", seconds)
        table.add_row(*map(Text, cells), style="" if use.asked else "dim")
    return table
