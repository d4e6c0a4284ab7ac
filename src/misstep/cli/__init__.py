"""The command line; one file a command, loaded when it is called."""

import atexit
import os
import sys


def main() -> None:
    """The entry point of `misstep`."""
    _open_streams()
    if sys.argv[1:] == ["--version"]:  # Shell completion and scripts ask this often: no imports on the way.
        from misstep import __version__

        print(__version__)
        return
    from misstep.cli.timing import begin

    begin()
    ended: list[int] = []
    atexit.register(_leave, ended)  # the first one is called last, after everybody has tidied up
    from misstep.cli.app import run

    if "--json" in sys.argv:
        from misstep.cli.output import reserve_output

        reserve_output()
    ended.append(run(sys.argv[1:]))
    sys.exit(ended[0])


def _leave(ended: list[int]) -> None:
    """Ends the program without taking the interpreter apart, which takes most of a second with PyTorch."""
    if not ended:  # an error is on its way to the terminal
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # the interpreter knows what to do about streams that are closed or full
        return
    os._exit(ended[0])


def _open_streams() -> None:
    """Standard streams that somebody closed lead nowhere: else the next file that is opened takes their place,
    and what is printed would be written to it."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
