"""The commands together, and what every way of ending means for the exit code."""

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from cyclopts import App, CycloptsError, Group, UnusedCliTokensError

from misstep import __version__
from misstep.cli.exit_codes import ExitCode
from misstep.cli.output import cannot_write, emit_json, note, remember, say_plain
from misstep.errors import LimitReached, MisstepError

app = App(
    name="misstep",
    help="Finds, proves and explains the mistakes of learned action policies in AI planning.",
    help_epilogue="Exit codes: 0 nothing found, 1 bugs found, 2 interrupted, 3 internal error, 4 bad input, "
    "5 nothing was tested.",
    version=__version__,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)
_GROUPS = {
    "Test a policy": ("demo", "test", "safety", "campaign", "reproduce"),
    "Look at what was found": ("show", "report", "verify", "replay", "shrink", "diff"),
    "Make policies better": ("train", "select", "retrain", "scale"),
    "Use the pieces alone": ("run", "fuzz", "plan", "dominance", "serve"),
    "What is installed": ("doctor", "parts"),
}
for _order, (_title, _names) in enumerate(_GROUPS.items()):
    _group = Group(_title, sort_key=_order)
    for _place, _name in enumerate(_names):
        app.command(f"misstep.cli.{_name}:{_name}", name=_name, group=_group, sort_key=_place)
app["--help"].group = app["--version"].group = Group("Options", sort_key=len(_GROUPS))


def run(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit code; errors go to standard error, never as a traceback."""
    signal.signal(signal.SIGTERM, _interrupt)
    remember(arguments)
    try:
        _load_overview(arguments)
        result = app(list(arguments), exit_on_error=False, print_error=False)
        try:
            sys.stdout.flush()
        except OSError as error:
            raise (error if isinstance(error, BrokenPipeError) else cannot_write(error)) from None
    except CycloptsError as error:
        _complain(f"{_usage(error)}\nSee `misstep --help`, or `misstep COMMAND --help` for one command.")
        return ExitCode.USAGE
    except LimitReached as error:
        return _limit(arguments, error.limit, str(error))
    except MisstepError as error:
        _complain(str(error))
        return ExitCode.USAGE
    except KeyboardInterrupt as stop:
        _complain(": ".join(("interrupted", *map(str, stop.args))))
        return ExitCode.INTERRUPTED
    except BrokenPipeError:  # The reader of our output, such as `head`, has enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.NOTHING_FOUND
    except MemoryError:
        return _limit(arguments, "memory", "out of memory; use a smaller task or set --memory-mb")
    except Exception as error:
        return _internal_error(error)
    return int(result or 0)


def _usage(error: CycloptsError) -> str:
    """What is wrong with the command line; Cyclopts calls what is left over unused tokens."""
    left = error.unused_tokens if isinstance(error, UnusedCliTokensError) else None
    return f"the command does not take {', '.join(map(repr, left))}" if left else str(error)


def _limit(arguments: Sequence[str], limit: str, message: str) -> int:
    """A limit that left no result is an outcome, too."""
    if "--json" in arguments:
        emit_json({"outcome": "limit", "limit": limit, "warnings": [message]})
    else:
        say_plain("limit")
        note(message)
    return ExitCode.NOTHING_TESTED


def _load_overview(arguments: Sequence[str]) -> None:
    """An overview shows the first line of each command's help, so they have to be loaded, and only then."""
    shown = app
    for word in arguments:
        if word.startswith("-"):
            break
        if word not in shown:
            return
        shown = shown[word]
    for name in list(shown):
        shown[name]


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    """A termination request ends like Ctrl-C, so that child processes are ended and results are saved."""
    raise KeyboardInterrupt


def _complain(message: str) -> None:
    note(f"error: {message}")


def _internal_error(error: Exception) -> int:
    if os.environ.get("MISSTEP_TRACEBACK"):
        traceback.print_exception(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    _complain(
        f"internal error: {type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})\n"
        f"This is a bug in misstep {__version__}, not in your input. Run the command again with "
        "MISSTEP_TRACEBACK=1 and report what it prints, with the input files."
    )
    return ExitCode.INTERNAL_ERROR
