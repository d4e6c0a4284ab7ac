"""Every error a user can meet. Messages say what, where, the offending value and what to do next."""


class MisstepError(Exception):
    """The base of all errors that misstep raises on purpose; the command line turns them into exit code 4."""


class InputError(MisstepError):
    """A file or an argument is wrong. The message starts with `file:line:column:` where there is a file."""


class ScratchError(InputError):
    """Temporary files cannot be written. The message names the directory and TMPDIR, which chooses another one."""


class UnsupportedFeature(InputError):
    """The input is legal, but uses a construct that misstep does not handle; the message names it."""


class PartError(InputError):
    """A part raised or broke its contract: a defect of that part. The message names it and its package."""


class LimitReached(MisstepError):
    """A limit on time or memory ended the work before there was a result; the caller may allow more."""

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit
        """`seconds`, `memory` or `stopped`."""

    def __reduce__(self) -> tuple[type["LimitReached"], tuple[str, str]]:
        """For another process: an exception is made anew there, and would only remember its message."""
        return LimitReached, (str(self), self.limit)


class PolicyError(MisstepError):
    """A policy could not be loaded or raised while it was asked."""


class FlakyPolicy(PolicyError):
    """The same state was asked twice and got different answers."""


class CertificateError(MisstepError):
    """A certificate does not prove what it says."""


class DominanceDefect(MisstepError):
    """A plan that a dominance function promised could not be built: a bug in misstep, never in the input."""
