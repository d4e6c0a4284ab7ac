"""Campaigns in words and tables for people."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from misstep.campaign.coordinator import Progress
from misstep.campaign.database import FAILED, Row
from misstep.campaign.groups import Group, is_dead_job
from misstep.explain.words import counted
from misstep.reports.text import shorten, table
from misstep.statistics import CONFIDENCE

# More kinds of failures are not read, nor longer ones.
_MOST_REASONS = 5
_LONGEST_REASON, _LONGEST_NAME = 1000, 300


def duration(seconds: float) -> str:
    """A time that people can plan with: `40 s`, `12 min`, `3.5 h`, `12 days`."""
    for unit, size in (("s", 1), ("min", 60), ("h", 3600)):
        if seconds < 100 * size or (unit == "h" and seconds < 48 * size):
            amount = seconds / size
            return f"{amount:.0f} {unit}" if amount >= 10 or unit == "s" else f"{amount:.1f} {unit}"
    return f"{seconds / 86400:,.0f} days"


def progress_words(progress: Progress) -> str:
    """The status line of a campaign under way."""
    counts = progress.counts
    failed = f" · {counts['failed']} failed" if counts["failed"] else ""
    left = "" if progress.seconds_left is None else f" · about {duration(progress.seconds_left)} left"
    return f"{counts['done']} of {sum(counts.values())} jobs done{failed} · bugs {progress.bugs}{left}"


def prediction_words(left: float | None, slots: int, known: int) -> str:
    """How long what is left will take, and how one knows."""
    if left is None:
        return "unknown: no job is done yet, and jobs have no limit (`seconds`)"
    source = (
        f"from {counted(known, 'job')} that {'is' if known == 1 else 'are'} done"
        if known
        else "from the limits"
    )
    return f"about {duration(left / slots)} with {counted(slots, 'job')} at a time, {source}"


def group_table(
    groups: Sequence[Group], by: Sequence[str], *, width: int | None, confidence: float = CONFIDENCE
) -> list[str]:
    """Counts of every group, with the bounds of its rate; JANI models have a table of their own."""
    tasks = [group for group in groups if not group.runs]
    models = [group for group in groups if group.runs]
    lines: list[str] = []
    for some, counts in ((tasks, _TASK_COUNTS), (models, _MODEL_COUNTS)):
        if some:
            # A column in which all say the same says nothing.
            places = [at for at in range(len(by)) if len({group.names[at] for group in some}) > 1] or [0]
            rows = _rows(some, by, places, counts, confidence)
            lines += [*([""] if lines else []), *table(rows, width, names=len(places))]
    return lines


_TASK_COUNTS = ("tested", "bugs", "cleared", "unknown")
_MODEL_COUNTS = ("runs", "unsafe_runs", "bugs", "faults")


def _rows(
    groups: Sequence[Group],
    by: Sequence[str],
    places: Sequence[int],
    counts: Sequence[str],
    confidence: float,
) -> list[list[str]]:
    heads = [*(by[at] for at in places), "jobs", *(name.replace("_runs", "") for name in counts), "rate"]
    rows = [heads]
    for group in groups:
        done = str(group.done) if group.done == group.jobs else f"{group.done}/{group.jobs}"
        numbers = [done, *(str(getattr(group, name)) for name in counts)]
        rows.append([*(group.names[at] for at in places), *numbers, group.told(confidence).brief])
    return rows


def failure_lines(rows: Iterable[Row]) -> list[str]:
    """Why jobs failed, the most frequent reason first; and in which the policy gave hardly an answer."""
    rows, reasons = list(rows), dict[str, list[Row]]()
    for row in rows:
        if row.state == FAILED:
            # Files are named as from here: whole paths make lines that nobody can read.
            reason = (row.reason or "").replace(f"{Path.cwd()}/", "")
            reasons.setdefault(reason, []).append(row)
    ordered = sorted(reasons.items(), key=lambda item: -len(item[1]))
    lines = [
        f"failed    {len(failed)} ({shorten(failed[0].task, _LONGEST_NAME)}, "
        f"{shorten(failed[0].policy, _LONGEST_NAME)}): {shorten(reason, _LONGEST_REASON)}"
        for reason, failed in ordered[:_MOST_REASONS]
    ]
    if len(ordered) > _MOST_REASONS:
        more = sum(len(failed) for _, failed in ordered[_MOST_REASONS:])
        lines.append(f"failed    {more} more, for {counted(len(ordered) - _MOST_REASONS, 'other reason')}")
    dead = [row for row in rows if is_dead_job(row)]
    if dead:
        first = f"{shorten(dead[0].task, _LONGEST_NAME)}, {shorten(dead[0].policy, _LONGEST_NAME)}"
        why = "the policy gave no usable answer in half of what was tested, or more"
        lines.append(f"no answer {counted(len(dead), 'job')} ({first}): {why}")
    return lines
