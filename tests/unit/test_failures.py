"""What is said before all counts: why nothing was tested, that no run reaches the goal."""

from misstep.bound import Bound
from misstep.events import Finished, Judged, Ran
from misstep.judge import Verdict
from misstep.reports.failures import failure_words, first_failures, head_lines, nothing_tested
from misstep.tally import Failure, Tally


def judged(id: int, outcome: str, reason: str | None = None) -> Judged:
    bound = Bound()
    return Judged(
        id=id,
        verdict=Verdict.UNKNOWN,
        outcome=outcome,
        cost=bound,
        best=bound,
        gap=bound,
        oracle=None,
        steps=0,
        reason=reason,
    )


def lines(*events: Judged | Ran, **more: object) -> list[str]:
    tally = Tally.added_up(events)
    return head_lines(tally, Finished(**tally.counts(), **more))


def test_all_states_failed() -> None:
    found = lines(judged(0, "failed", "out of memory"), judged(1, "failed", "gone"))
    assert found == [
        "nothing was tested: no usable answer in 2 of 2 states; out of memory (and 1 other reason)"
    ]


def test_some_states_failed() -> None:
    found = lines(judged(0, "failed", "gone"), judged(1, "solved"), judged(2, "solved"))
    assert found == ["failed    no usable answer in 1 of 3 states; gone"]


def test_no_run_reaches_the_goal() -> None:
    assert lines(judged(0, "loop"), judged(1, "cut-off"), judged(2, "loop")) == [
        "goal      none of 3 runs reaches it; they end in a loop (2), by a limit (1)"
    ]
    assert lines(judged(0, "stuck")) == [
        "goal      the one run does not reach it; it ends where the policy gives no action (1)"
    ]
    assert lines(judged(0, "solved"), judged(1, "loop")) == lines() == []


def test_on_models_runs_count() -> None:
    dead_end, failed = (
        Ran(run=0, outcome="dead-end", steps=3),
        Ran(run=1, outcome="failed", steps=0, reason="gone"),
    )
    extra = {"has_goal": True, "outcomes": {"dead-end": 1, "failed": 1}}
    assert lines(dead_end, failed, extra=extra) == [
        "nothing was tested: no usable answer in 1 of 2 runs; gone",
        "goal      none of 2 runs reaches it; they end in a state without actions (1), without a usable answer (1)",
    ]
    assert lines(dead_end, extra={"has_goal": False, "outcomes": {"dead-end": 1}}) == []
    assert lines(dead_end, extra={"has_goal": True, "outcomes": {"dead-end": 1, "goal": 1}}) == []


def test_a_run_that_stops_before_its_first_decision_says_nothing() -> None:
    at_once, later = (Ran(run=steps, outcome="stuck", steps=steps) for steps in (0, 1))
    assert at_once.is_unanswered and not later.is_unanswered
    assert Tally.added_up([at_once, later]).counts()["failed"] == 1


def test_bugs_are_something() -> None:
    assert nothing_tested(Finished(tested=4, bugs=1, failed=3), []) == (
        "hardly anything was tested: no usable answer in 3 of 4 states"
    )
    assert nothing_tested(Finished(tested=4), []) is None
    assert nothing_tested(Finished(limits_hit=("translate: seconds",)), []) == (
        "nothing was tested: loading: time is up"
    )


def test_data_names_each_reason_once() -> None:
    failures = [Failure(n, f"reason {n % 7}") for n in range(40)]
    assert [each["id"] for each in first_failures(failures)] == [0, 1, 2, 3, 4]
    assert failure_words(Finished(tested=50, failed=40), failures) == (
        "no usable answer in 40 of 50 states; reason 0 (and 6 other reasons)"
    )
