"""The result of a test as JSON (INTERFACE.md) and as a few lines for people."""

from collections.abc import Sequence
from typing import Any

from misstep.events import Family
from misstep.explain.words import does
from misstep.reports.report import Report


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
        "cleared": found.cleared,
        "cleared_by_search": found.cleared_by_search,
        "unknown": found.unknown,
        "failed": found.failed,
        "families": len(found.families),
        "bug_regions": found.bug_regions,
        "unique_fact_pairs": found.unique_fact_pairs,
        "effort": found.effort,
        "seconds": found.seconds,
        "limits_hit": list(found.limits_hit),
        "warnings": report.tally.warnings,
        "out": None if report.record.path is None else str(report.record.path),
    }
    if not found.tested and found.limits_hit:
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
        "failed": sum(one.failed for one in found),
        "not_tested": sum(not one.tested for one in found),
    }


def family_line(family: Family) -> str:
    """A family in words: `12 bugs: the policy runs in a loop, wrong at the first `drive` (such as bug 9)`."""
    count = len(family.members)
    where = "" if family.schema is None else f"; the first wrong decision is a `{family.schema}`"
    many = "1 bug" if count == 1 else f"{count} bugs"
    such = "" if count == 1 else ", such as"
    return f"{many}{such} {family.representative}: the policy {does(family.outcome)}{where}"


def summary_lines(report: Report) -> list[str]:
    """The counts for people."""
    if report.is_safety:
        from misstep.reports.safety_summary import safety_lines

        return safety_lines(report)
    found = report.finished
    by_search = f" ({found.cleared_by_search} by the word of a search)" if found.cleared_by_search else ""
    failed = f" (in {found.failed} the policy failed to answer)" if found.failed else ""
    lines = [
        f"{found.tested} states tested, {found.solved} solved by the policy",
        f"bugs      {found.bugs}: in {found.qualitative} the goal is never reached, in {found.quantitative} "
        "too much is paid",
        f"cleared   {found.cleared}: proven that nothing better exists{by_search}",
        f"unknown   {found.unknown}: neither was proven{failed}",
    ]
    if found.limits_hit:
        lines.append(f"limits    {', '.join(found.limits_hit)}")
    return lines


def total_table(reports: Sequence[Report]) -> list[str]:
    """One line a task, for the end of a test of several."""
    head = ("task", "tested", "solved", "bugs", "cleared", "unknown", "limits")
    rows: list[tuple[str, ...]] = [
        (
            "?" if report.tally.started is None else report.tally.started.task,
            str(found.tested),
            str(found.solved),
            str(found.bugs),
            str(found.cleared),
            str(found.unknown),
            ", ".join(found.limits_hit) or ("" if found.tested else "not tested"),
        )
        for report in reports
        for found in [report.finished]
    ]
    total = total_json(reports)
    bugs = total["bugs"]["qualitative"] + total["bugs"]["quantitative"]
    sums = [total["tested"], total["solved"], bugs, total["cleared"], total["unknown"]]
    rows.append(("total", *map(str, sums), ""))
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = []
    for row in [head, *rows]:
        numbers = [f"{text:>{width}}" for text, width in zip(row[1:-1], widths[1:-1], strict=True)]
        lines.append("  ".join([f"{row[0]:<{widths[0]}}", *numbers, row[-1]]).rstrip())
    return lines
