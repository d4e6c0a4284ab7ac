"""The result of a test on a JANI model as JSON and as a few lines for people."""

from typing import Any

from misstep.explain.rates import share_words
from misstep.explain.words import count_line, limit_words
from misstep.reports.failures import first_failures, head_lines
from misstep.reports.report import Report
from misstep.reports.summary import random_lines


def safety_json(report: Report) -> dict[str, Any]:
    """The JSON object of `misstep safety test`."""
    started, found = report.tally.started, report.finished
    extra, seconds = found.extra, found.seconds
    result: dict[str, Any] = {
        "task": None if started is None else started.task,
        "policy": None if started is None else started.policy,
        "seed": None if started is None else started.seed,
        "runs": found.runs,
        "unsafe_runs": found.unsafe_runs,
        "unsafe_rate": found.bug_rate,
        "confidence": found.confidence,
        "outcomes": extra.get("outcomes", {}),
        "states": found.tested,
        "bugs": found.bugs,
        "faults": found.faults,
        "possible_faults": extra.get("possible_faults", 0),
        "cleared": found.cleared,
        "unknown": found.unknown,
        "failed": report.failed,
        "failures": first_failures(report.failures),
        "families": len(found.families),
        "limits_hit": list(found.limits_hit),
        "out_of_bounds": extra.get("out_of_bounds", 0),
        "expanded": extra.get("expanded", 0),
        "seconds": {
            "fuzz": seconds.get("fuzz", 0.0),
            "decide": seconds.get("oracle", 0.0),
            "total": seconds.get("total", 0.0),
        },
        "warnings": report.tally.warnings,
        "out": None if report.record.path is None else str(report.record.path),
    }
    if "recheck" in extra:
        result["recheck"] = extra["recheck"]
    if "shield" in extra:
        result["shield"] = extra["shield"]
    return result


def safety_lines(report: Report) -> list[str]:
    """The counts for people."""
    found, extra = report.finished, report.finished.extra
    ends = ", ".join(f"{count} {_END.get(name, name)}" for name, count in extra.get("outcomes", {}).items())
    radius = report.record.config().radius
    within = "" if radius is None else f" with at most {radius} deviations from the policy"
    lines = [
        *head_lines(report.tally, found),
        f"{found.unsafe_runs} of {found.runs} runs are unsafe; {found.tested} states on them were tested",
        count_line("bugs", found.bugs, f"a safe course exists{within}, the policy can leave it"),
        count_line("faults", found.faults, "decisions after which nobody can avoid unsafe states"),
        count_line("cleared", found.cleared, f"proven that no safe course exists{within}"),
        count_line("unknown", found.unknown, "neither was proven"),
    ]
    if "recheck" in found.extra:
        lines += random_lines(found)
    if found.bug_rate is not None:
        lines.append(f"rate      {report.rate}")
    if ends:
        lines.append(f"runs      {ends}")
    if possible := extra.get("possible_faults"):
        lines.append(f"possible  {possible} more faults, where a limit was hit")
    if found.limits_hit:
        lines.append(f"limits    {'; '.join(map(limit_words, found.limits_hit))}")
    if out_of_bounds := extra.get("out_of_bounds"):
        lines.append(f"bounds    real values left them {out_of_bounds} times")
    if shield := extra.get("shield"):
        lines.append(
            f"shield    {shield['unsafe_without']} unsafe runs without it, {shield['unsafe_with']} with it; "
            f"{shield['interventions']} interventions in {shield['steps']} steps"
        )
        lines += _safe_starts(shield)
    return lines


def _safe_starts(shield: dict[str, Any]) -> list[str]:
    """What the shield does from start states that are not lost already."""
    rates = shield["from_safe_starts"]
    without, covered = (rates[key] for key in ("without", "with"))
    lost, safe = shield["lost_starts"], shield["safe_starts"]
    lines = [
        f"          {safe} start states are safe, {lost} are lost already; from the safe ones "
        f"{_share(without, 'unsafe')} of the runs are unsafe without it, {_share(covered, 'unsafe')} with it, "
        f"and {_share(without, 'goal')} and {_share(covered, 'goal')} reach the goal",
    ]
    if (best := rates.get("best_goal_rate")) is not None:
        lines.append(
            f"          {rates['goal_rate_without_risk']:.1%} reach it without the shield and without any risk; "
            f"nobody can do that in more than {best:.1%}"
        )
    return lines


def _share(exam: dict[str, Any], end: str) -> str:
    return share_words(exam["outcomes"].get(end, 0), exam["runs"])


_END = {
    "goal": "to the goal",
    "cut-off": "cut off",
    "look-ahead": "ended by the limit on look-ahead",
    "dead-end": "to a state without actions",
    "stuck": "where the policy gives no action",
    "failed": "without a usable answer",
    "safe": "seen to be safe for ever",
}
