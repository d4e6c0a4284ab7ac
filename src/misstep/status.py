"""Status: what a test comes to. It is decided here; exit codes, JUnit, pytest, pages and rules follow from it."""

from collections.abc import Sequence
from enum import StrEnum

from misstep.events import Finished


class Status(StrEnum):
    """What a test comes to, or several together."""

    BUGS = "bugs"
    CLEAN = "clean"
    NOTHING_TESTED = "nothing-tested"
    INTERRUPTED = "interrupted"
    ERROR = "error"


def tested(found: Finished) -> int:
    """What a policy was asked to do: states of a task, runs on a model."""
    return found.runs or found.tested


def unanswered(found: Finished) -> int:
    """How many of these say nothing of the policy, because it gave no usable answer."""
    # Older records of models count such runs under their outcome alone.
    return max(found.failed, int(found.extra.get("outcomes", {}).get("failed", 0)))


def is_mostly_unanswered(unanswered: int, tested: int) -> bool:
    """Whether a policy gave no usable answer in half of what was tested, or more."""
    return 0 < tested <= 2 * unanswered


def is_dead(found: Finished) -> bool:
    """Whether nothing was tested although there was time for it: the policy gave hardly an answer."""
    return is_mostly_unanswered(unanswered(found), tested(found))


def status_of(found: Finished) -> Status:
    """What one test comes to."""
    if "error" in found.extra:
        return Status.ERROR
    if "interrupted" in found.limits_hit:
        return Status.INTERRUPTED
    if found.bugs:
        return Status.BUGS
    return Status.NOTHING_TESTED if is_dead(found) or not tested(found) else Status.CLEAN


def status_of_all(
    found: Sequence[Finished], *, interrupted: bool = False, is_failed: bool | None = None
) -> Status:
    """What tests come to together. `is_failed` is what rules say; None where there are none.

    A policy that is dead on one task is no clean policy. A task that could not be read, or was not reached in
    time, matters only where nothing else can be said: its own result says so.
    """
    if interrupted:
        return Status.INTERRUPTED
    if any(one.bugs for one in found) if is_failed is None else is_failed:
        return Status.BUGS
    if any(map(is_dead, found)):
        return Status.NOTHING_TESTED
    if any(map(tested, found)):
        return Status.CLEAN
    return Status.ERROR if any("error" in one.extra for one in found) else Status.NOTHING_TESTED
