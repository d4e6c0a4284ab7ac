"""The command line; one file a command, loaded when it is called."""

import sys


def main() -> None:
    """The entry point of `misstep`."""
    if sys.argv[1:] == ["--version"]:  # Shell completion and scripts ask this often: no imports on the way.
        from misstep import __version__

        print(__version__)
        return
    from misstep.cli.timing import begin

    begin()
    from misstep.cli.app import run

    sys.exit(run(sys.argv[1:]))
