"""What the exit code of every command means (pytest's numbers)."""

from enum import IntEnum


class ExitCode(IntEnum):
    """A limit that was hit is not an error: it is said in the result."""

    NOTHING_FOUND = 0
    BUGS_FOUND = 1
    INTERRUPTED = 2
    INTERNAL_ERROR = 3
    USAGE = 4
    NOTHING_TESTED = 5
