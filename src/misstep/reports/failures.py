"""Where a policy gave no usable answer, and where no run reaches the goal, in words: what a reader needs first."""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from misstep.events import Finished
from misstep.explain.words import counted, limit_words
from misstep.status import Status, is_dead, status_of, status_of_all, tested, unanswered
from misstep.tally import Failure, Tally

if TYPE_CHECKING:
    from misstep.reports.report import Report

_MOST = 5
"""Failures with a reason of their own that data names; a policy may have a reason for every state."""


def failure_words(found: Finished, failures: Sequence[Failure]) -> str | None:
    """In how many states or runs the policy gave no usable answer, and the first reason; None where in none."""
    count = unanswered(found)
    if not count:
        return None
    reasons = list(dict.fromkeys(failure.reason for failure in failures))
    more = f" (and {counted(len(reasons) - 1, 'other reason')})" if len(reasons) > 1 else ""
    why = f"; {reasons[0]}{more}" if reasons else ""
    return f"no usable answer in {count} of {counted(tested(found), 'run' if found.runs else 'state')}{why}"


def nothing_tested(found: Finished, failures: Sequence[Failure]) -> str | None:
    """Why a test says nothing of the policy; None where it does."""
    if is_dead(found):
        how_much = "hardly anything" if found.bugs else "nothing"
        return f"{how_much} was tested: {failure_words(found, failures)}"
    if status_of(found) is Status.NOTHING_TESTED:
        return ": ".join(
            ["nothing was tested", *filter(None, ["; ".join(map(limit_words, found.limits_hit))])]
        )
    return None


def undecided_rules(reports: Sequence["Report"]) -> str | None:
    """Why rules that are not broken say nothing: nothing was tested. None where they hold."""
    status = status_of_all([report.finished for report in reports], is_failed=False)
    if status is not Status.NOTHING_TESTED:
        return None
    why = (nothing_tested(report.finished, report.failures) for report in reports)
    return next(filter(None, why), "nothing was tested")


def first_failures(failures: Sequence[Failure]) -> list[dict[str, object]]:
    """Those with a reason that was not there before, as data."""
    first = {failure.reason: failure for failure in reversed(failures)}
    ordered = sorted(first.values(), key=lambda failure: failure.id)
    return [dataclasses.asdict(failure) for failure in ordered[:_MOST]]


def head_lines(tally: Tally, found: Finished) -> list[str]:
    """What is said before all counts: that nothing was tested, that no run reaches the goal, what failed."""
    failures = tally.failures
    goal, failed = _no_goal(tally, found), failure_words(found, failures)
    lines = [] if goal is None else [f"goal      {goal}"]
    dead = nothing_tested(found, failures) if is_dead(found) else None
    if dead is not None:
        return [dead, *lines]
    return lines if failed is None else [*lines, f"failed    {failed}"]


def _no_goal(tally: Tally, found: Finished) -> str | None:
    """How all runs end where none reaches the goal; None where one does, or may, or where there is no goal."""
    ends: Counter[str]
    if found.runs:
        ends = Counter(found.extra.get("outcomes", {}))
        if not found.extra.get("has_goal") or any(ends[name] for name in ("goal", "safe", "look-ahead")):
            return None
    else:
        ends = Counter(event.outcome for event in tally.judged.values())
    total = ends.total()
    if not total or ends["solved"] or unanswered(found) == total:
        return None
    words = _MODEL_ENDS if found.runs else _TASK_ENDS
    how = ", ".join(f"{words.get(name, name)} ({count})" for name, count in ends.most_common())
    runs, end = (
        ("the one run does not reach", "it ends")
        if total == 1
        else (f"none of {total} runs reaches", "they end")
    )
    return f"{runs} it; {end} {how}"


_TASK_ENDS = {
    "loop": "in a loop",
    "stuck": "where the policy gives no action",
    "illegal": "with an action that does not apply",
    "dead-end": "in a dead end",
    "cut-off": "by a limit",
    "failed": "without a usable answer",
}
_MODEL_ENDS = {**_TASK_ENDS, "dead-end": "in a state without actions", "unsafe": "in an unsafe state"}
