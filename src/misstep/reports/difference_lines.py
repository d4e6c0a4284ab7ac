"""What changed between two tests, in a few lines for people."""

import math
from collections.abc import Sequence
from pathlib import Path

from misstep.bound import cost_text
from misstep.events import Judged
from misstep.explain.rates import percent
from misstep.explain.words import count_line, counted, does
from misstep.judge import Verdict
from misstep.reports.difference import Change, Difference, FamilyKey
from misstep.reports.report import Report
from misstep.support.command import command

# Changes of one kind that are shown one by one.
_SHOWN = 5
_MEANING = {
    "new": "bugs that were none before",
    "fixed": "bugs before, proven to be none now",
    "worse": "the policy pays more than before, or does not get there any more",
    "better": "the policy pays less than before, or gets there now",
    "same": "nothing changed that matters",
    "undecided": "runs were cut off or failed, so the two cannot be compared",
}
_MODEL_MEANING = {
    **_MEANING,
    "new": "bugs that were not found before",
    "fixed": "bugs before; no unsafe run comes there now, or no safe course exists",
}


def difference_lines(pairs: Sequence[tuple[Report, Report]], found: Difference) -> list[str]:
    """Everything, without the changes one by one."""
    meaning = _MODEL_MEANING if found.is_safety else _MEANING
    lines = [*found.unanswered, _states(found)]
    for kind, words in meaning.items():
        count = found.count(kind)
        if count or kind in ("new", "fixed", "worse", "better"):
            lines.append(count_line(kind, count, words))
        if kind in ("new", "worse"):
            lines += _examples(pairs, [change for change in found.changes if change.kind == kind])
    lines += _families("new", found.families_new) + _families("gone", found.families_gone)
    lines += [f"old rate  {found.old_rate}", f"new rate  {found.new_rate}"]
    return [*lines, *_chances(found)]


def _states(found: Difference) -> str:
    if found.is_safety:
        return f"{counted(len(found.changes), 'state')} on unsafe runs of one of the policies or of both"
    alone = [(found.only_old, "the old test"), (found.only_new, "the new one")]
    rest = ", ".join(f"{count} only in {where}" for count, where in alone if count)
    return f"{counted(len(found.changes), 'state')} tested in both" + (f" ({rest})" if rest else "")


def _examples(pairs: Sequence[tuple[Report, Report]], changes: list[Change]) -> list[str]:
    """Some changes, each with the command that shows it."""
    where = {report.tally.started.task: report.record.where for _, report in pairs if report.tally.started}
    lines = []
    for change in changes[:_SHOWN]:
        if change.new is None:
            continue
        known = command("show", Path(where[change.task]), change.new.id) if change.task in where else ""
        told = f"  {_course(change.new)}, before: {_course(change.old)}"
        lines.append(f"{told}; {known}" if change.new.verdict is Verdict.BUG and known else told)
    if len(changes) > _SHOWN:
        lines.append(f"  and {len(changes) - _SHOWN} more (--json lists all)")
    return lines


def _course(judged: Judged | None) -> str:
    """What a policy does in a state, in few words."""
    if judged is None:
        return "not come to"
    if judged.outcome == "solved":
        return f"pays {cost_text(judged.cost.lo)}"
    return does(judged.outcome)


def _families(what: str, families: Sequence[FamilyKey]) -> list[str]:
    if not families:
        return []
    words = [does(outcome) + ("" if schema is None else f" ({schema})") for outcome, schema in families]
    return [f"families  {what}: the policy {'; '.join(words)}"]


def _chances(found: Difference) -> list[str]:
    """Whether the differences may be chance; a model's two tests do not look at the same states."""
    if found.is_safety:
        return []
    lines = []
    new, fixed = found.count("new"), found.count("fixed")
    if new or fixed:
        lines.append(f"chance    {new} new against {fixed} fixed: {_chance(found.chance_of_bugs)}")
    if found.count("worse") or found.count("better"):
        lines.append(f"chance    what is paid in the same states: {_chance(found.chance_of_costs)}")
    return lines


def _chance(chance: float) -> str:
    said = "less than 0.1 %" if chance < 0.001 else percent(chance, math.ceil)
    return f"two equally good policies would differ as much in {said} of tests"
