"""The result of a test as JSON and as a few lines for people."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from misstep.bound import cost_text
from misstep.events import Family, Finished, Misstep
from misstep.explain.words import count_line, counted, does, limit_words
from misstep.reports.failures import first_failures, head_lines
from misstep.reports.report import Report
from misstep.reports.text import table
from misstep.status import is_dead, unanswered

_LIKELY_NOTICED = 0.01
"""Less is not worth a line."""


def report_json(report: Report) -> dict[str, Any]:
    """The JSON object of `misstep test` for one task or model."""
    if report.is_safety:
        from misstep.reports.safety_summary import safety_json

        return safety_json(report)
    started, found = report.tally.started, report.finished
    result: dict[str, Any] = {
        "task": None if started is None else started.task,
        "policy": None if started is None else started.policy,
        "seed": None if started is None else started.seed,
        "pool": found.pool,
        "tested": found.tested,
        "solved": found.solved,
        "bugs": {"qualitative": found.qualitative, "quantitative": found.quantitative},
        "fuzzing_bugs": report.fuzzing_bugs,
        "cleared": found.cleared,
        "cleared_by_search": found.cleared_by_search,
        "unknown": found.unknown,
        "failed": found.failed,
        "failures": first_failures(report.failures),
        "families": len(found.families),
        "bug_regions": found.bug_regions,
        "unique_fact_pairs": found.unique_fact_pairs,
        "bug_rate": found.bug_rate,
        "confidence": found.confidence,
        "effective": found.effective,
        "effort": found.effort,
        "seconds": found.seconds,
        "limits_hit": list(found.limits_hit),
        "warnings": report.tally.warnings,
        "recheck": found.extra.get("recheck"),
        "out": None if report.record.path is None else str(report.record.path),
    }
    if report.error is not None:
        result |= {"outcome": "error", "error": report.error}
    elif not found.tested and found.limits_hit:
        result["outcome"] = "limit"
    return result


def total_json(reports: Sequence[Report]) -> dict[str, Any]:
    """The sum over several tasks."""
    found = [report.finished for report in reports]
    return {
        "tasks": len(found),
        "tested": sum(one.tested for one in found),
        "solved": sum(one.solved for one in found),
        "bugs": {
            "qualitative": sum(one.qualitative for one in found),
            "quantitative": sum(one.quantitative for one in found),
        },
        "cleared": sum(one.cleared for one in found),
        "unknown": sum(one.unknown for one in found),
        "failed": sum(map(unanswered, found)),
        "not_tested": sum(not one.tested for one in found),
        "errors": sum(report.error is not None for report in reports),
    }


@dataclass(frozen=True, slots=True)
class Kind:
    """Families in which the policy does the same and errs with the same action schema."""

    outcome: str
    schema: str | None
    members: tuple[int, ...]
    representative: int


def kinds(families: Sequence[Family]) -> list[Kind]:
    """Families told apart only by what a person would tell apart, the largest first.

    Families also differ in the region of the state space in which their bugs lie, which nobody sees.
    """
    groups: dict[tuple[str, str | None], list[Family]] = {}
    for family in families:
        groups.setdefault((family.outcome, family.schema), []).append(family)
    found = [
        Kind(*key, tuple(id for family in group for id in family.members), group[0].representative)
        for key, group in groups.items()
    ]
    return sorted(found, key=lambda kind: -len(kind.members))


def kind_lines(report: Report, *, most: int | None = None) -> list[str]:
    """The kinds of bugs in words: how many, what the policy does, how bad it is, the decision at fault."""
    found = kinds(report.finished.families)
    if not found:
        return []
    total = sum(len(kind.members) for kind in found)
    lines = [f"{counted(total, 'bug')} of {counted(len(found), 'kind')}:"] if total > 1 else []
    for kind in found[:most]:
        count, bug = len(kind.members), f"bug {kind.representative}"
        who = bug if count == 1 else f"{count} like {bug}"
        what, misstep = kind_words(report, kind)
        lines += [f"  {who}: {what}", f"    {misstep}"]
    if len(found) > len(found[:most]):
        lines.append(f"  and {counted(len(found) - len(found[:most]), 'more kind')}")
    return lines


def kind_words(report: Report, kind: Kind) -> tuple[str, str]:
    """What the policy does in bugs of this kind and how bad it is, and the decision at fault."""
    return f"the policy {does(kind.outcome)}{_how_bad(report, kind)}", _at_fault(report, kind)


def _how_bad(report: Report, kind: Kind) -> str:
    gaps = [report.tally.judged[id].gap.lo for id in kind.members if id in report.tally.judged]
    if not gaps or max(gaps) == math.inf:
        return ""
    least, most = cost_text(min(gaps)), cost_text(max(gaps))
    return f" (by {most})" if least == most else f" (by {least} to {most})"


def _at_fault(report: Report, kind: Kind) -> str:
    judged = report.tally.judged.get(kind.representative)
    fault = None if judged is None else judged.fault
    if kind.schema is None and (fault is None or not fault.is_single):
        return "no single decision could be proven to be wrong"
    if fault is None or not fault.is_single:
        return f"the decision at fault is {kind.schema}"
    better = "" if fault.better is None else f" instead of {fault.better}"
    return f"misstep: {fault.action or 'no action'}{better}"


def misstep_words(fault: Misstep) -> str:
    """The decision at fault, or those of which one is."""
    if not fault.is_single:
        return f"one of steps {fault.step + 1} to {fault.until}"
    instead = "" if fault.better is None else f" instead of {fault.better}"
    return f"step {fault.step + 1}, {fault.action or 'no action'}{instead}"


def summary_lines(report: Report) -> list[str]:
    """The counts for people."""
    if report.is_safety:
        from misstep.reports.safety_summary import safety_lines

        return safety_lines(report)
    found = report.finished
    by_search = f" ({found.cleared_by_search} rest on a search)" if found.cleared_by_search else ""
    failed = f" (in {found.failed} the policy failed to answer)" if found.failed else ""
    bug_words = _bug_words(found)
    lines = [
        *head_lines(report.tally, found),
        f"{counted(found.tested, 'state')} tested, {found.solved} solved by the policy",
        count_line("bugs", found.bugs, bug_words),
        count_line("cleared", found.cleared, f"proven that nothing better exists{by_search}"),
        count_line("unknown", found.unknown, f"neither was proven{failed}"),
    ]
    if "recheck" in found.extra:
        lines += random_lines(found)
    if found.bug_rate is not None:
        lines.append(f"rate      {report.rate}")
    if found.limits_hit:
        lines.append(f"limits    {'; '.join(_limits(found))}")
    return lines


def _limits(found: Finished) -> list[str]:
    """The limits in words; of a pool that does not grow any more, also its size."""
    size = f", there are {counted(found.pool, 'state')}"
    return [limit_words(one) + (size if one == "fuzz: exhausted" else "") for one in found.limits_hit]


def random_lines(found: Finished) -> list[str]:
    """How likely it is to have missed that the policy is random now and then, where that is worth a line."""
    recheck = found.extra["recheck"]
    if recheck["missed"] <= _LIKELY_NOTICED or found.tested == 0:
        return []
    if recheck["compared"] == 0:
        return ["random?   no answer was asked for twice: were the policy random, it would go unnoticed"]
    return [
        f"random?   {counted(recheck['compared'], 'answer')} asked for twice: were {recheck['share']:.0%} of "
        f"them random, it would go unnoticed with probability {recheck['missed']:.0%}"
    ]


def _bug_words(found: Finished) -> str:
    never = f"in {found.qualitative} the goal is never reached" if found.qualitative else ""
    dear = f"in {found.quantitative} too much is paid" if found.quantitative else ""
    return ", ".join(filter(None, (never, dear)))


def total_table(reports: Sequence[Report], *, width: int | None = None) -> list[str]:
    """One line a task, for the end of a test of several."""
    rows: list[tuple[str, ...]] = [("task", "tested", "solved", "bugs", "cleared", "unknown", "remarks")]
    for report in reports:
        found, started = report.finished, report.tally.started
        counts = (found.tested, found.solved, found.bugs, found.cleared, found.unknown)
        rows.append(("?" if started is None else started.task, *map(str, counts), _remark(report)))
    total = total_json(reports)
    bugs = total["bugs"]["qualitative"] + total["bugs"]["quantitative"]
    sums = (total["tested"], total["solved"], bugs, total["cleared"], total["unknown"])
    return table([*rows, ("total", *map(str, sums), "")], width)


def _remark(report: Report) -> str:
    limits = report.finished.limits_hit
    if report.error is not None:
        return "error"
    if is_dead(report.finished):
        return "no usable answers"
    if report.finished.tested:
        return "; ".join(map(limit_words, limits))
    reasons = dict.fromkeys(limit_words(limit.rpartition(": ")[2]) for limit in limits)
    return ": ".join(["not tested", *filter(None, [", ".join(reasons)])])
