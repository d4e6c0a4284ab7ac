"""What tests come to: the table by hand."""

import pytest

from misstep.events import Finished
from misstep.status import Status, is_dead, status_of, status_of_all, unanswered

CLEAN = Finished(tested=4, cleared=4)
BUGS = Finished(tested=4, bugs=1)
DEAD = Finished(tested=4, unknown=2, failed=2)
LATE = Finished(limits_hit=("translate: seconds",))
UNREADABLE = Finished(extra={"error": "no such file"})


@pytest.mark.parametrize(
    ("found", "status"),
    [
        (CLEAN, Status.CLEAN),
        (BUGS, Status.BUGS),
        (DEAD, Status.NOTHING_TESTED),
        (Finished(tested=5, failed=2), Status.CLEAN),  # fewer than half
        (Finished(tested=4, bugs=1, failed=3), Status.BUGS),
        (Finished(runs=3, failed=2), Status.NOTHING_TESTED),
        (Finished(runs=5, unsafe_runs=2, tested=9, failed=2), Status.CLEAN),  # runs count, not states on them
        (Finished(runs=3, extra={"outcomes": {"failed": 3}}), Status.NOTHING_TESTED),  # as records once were
        (LATE, Status.NOTHING_TESTED),
        (UNREADABLE, Status.ERROR),
        (Finished(tested=4, bugs=1, limits_hit=("interrupted",)), Status.INTERRUPTED),
        (Finished(tested=4, bugs=1, extra={"error": "died"}, limits_hit=("interrupted",)), Status.ERROR),
    ],
)
def test_one_test(found: Finished, status: Status) -> None:
    assert status_of(found) is status


@pytest.mark.parametrize(
    ("found", "rules", "status"),
    [
        ([CLEAN, DEAD], None, Status.NOTHING_TESTED),
        ([CLEAN, DEAD, BUGS], None, Status.BUGS),
        ([DEAD, BUGS], False, Status.NOTHING_TESTED),  # the bugs are within the rules
        ([CLEAN, BUGS], False, Status.CLEAN),
        ([CLEAN, DEAD], True, Status.BUGS),
        ([CLEAN, LATE, UNREADABLE], None, Status.CLEAN),
        ([LATE, UNREADABLE], None, Status.ERROR),
        ([LATE], None, Status.NOTHING_TESTED),
        ([], None, Status.NOTHING_TESTED),
    ],
)
def test_several_tests(found: list[Finished], rules: bool | None, status: Status) -> None:
    assert status_of_all(found, is_failed=rules) is status
    assert status_of_all(found, interrupted=True, is_failed=rules) is Status.INTERRUPTED


def test_nothing_is_dead_that_was_not_asked() -> None:
    assert not is_dead(LATE) and not is_dead(CLEAN) and is_dead(DEAD)
    assert unanswered(Finished(runs=9, failed=4, extra={"outcomes": {"failed": 3, "stuck": 1}})) == 4
