"""Rules of continuous integration: when a test that found bugs counts as failed."""

import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from misstep.bound import cost_text
from misstep.errors import InputError
from misstep.events import Family
from misstep.explain.rates import percent
from misstep.explain.words import counted, does
from misstep.plugins import option
from misstep.reports.difference import FamilyKey, family_keys
from misstep.reports.report import Report
from misstep.support.plain import read_fields
from misstep.support.suggest import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What may not happen. Where there are no rules, every bug is too much; with rules, what breaks one."""

    max_bug_rate: float | None = option(
        None, "the share of tested states (runs, on models) that may be proven bugs"
    )
    max_gap: float | None = option(None, "how much more than necessary the policy may pay in any state")
    new_families: bool = option(False, "whether a family that the corpus does not know fails the test")

    def __post_init__(self) -> None:
        rate, gap = self.max_bug_rate, self.max_gap
        if rate is not None and not 0 <= rate <= 1:
            raise InputError(f"rule `max_bug_rate` is {rate}; it must lie between 0 and 1")
        if gap is not None and not gap >= 0:
            raise InputError(f"rule `max_gap` is {gap}; it must be 0 or more")

    @classmethod
    def of(cls, texts: Iterable[str], table: Mapping[str, Any]) -> "Rules":
        """From a table of a TOML file and from NAME=VALUE on the command line, which goes before the table."""
        given = dict(table)
        for text in texts:
            name, has_value, value = text.partition("=")
            given[name.strip()] = _value(name, value.strip()) if has_value else True
        known = [each.name for each in dataclasses.fields(cls)]
        for name in given:
            if name not in known:
                hint = did_you_mean(name, known) or f"there are {', '.join(known)}"
                raise InputError(f"--fail-on, [misstep.fail]: unknown rule `{name}`; {hint}")
        try:
            made: Rules = read_fields(cls, given)
        except ValueError as error:
            raise InputError(f"--fail-on, [misstep.fail]: rule {error}") from None
        return made

    @property
    def given(self) -> list[str]:
        """The names of the rules that there are."""
        return [
            each.name
            for each in dataclasses.fields(self)
            if getattr(self, each.name) is not None and getattr(self, each.name) is not False
        ]

    def broken(self, reports: Sequence[Report], known: Collection[FamilyKey] = ()) -> dict[str, str]:
        """The rules that do not hold, each with a sentence that says why; nothing where nothing was asked."""
        found: dict[str, str] = {}
        if self.max_bug_rate is not None and (why := _too_many(reports, self.max_bug_rate)):
            found["max_bug_rate"] = why
        if self.max_gap is not None and (why := _too_bad(reports, self.max_gap)):
            found["max_gap"] = why
        if self.new_families and (why := _unheard_of(reports, known)):
            found["new_families"] = why
        return found


def breaks_a_rule(report: Report, family: Family, rules: Rules | None, known: Collection[FamilyKey]) -> bool:
    """Whether a family by itself is too much; a rate is broken by all families together."""
    if rules is None:
        return True
    worst = max(report.tally.judged[member].gap.lo for member in family.members)
    is_too_bad = rules.max_gap is not None and worst > rules.max_gap
    return is_too_bad or (rules.new_families and (family.outcome, family.schema) not in known)


def _value(name: str, text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--fail-on {name}={text}: this is no number; write --fail-on {name}=0.1") from None


def _too_many(reports: Sequence[Report], most: float) -> str | None:
    counts = [report.counts() for report in reports]
    bugs, tested = sum(each[0] for each in counts), sum(map(sum, counts))
    if not tested or bugs / tested <= most:
        return None
    things = "runs are unsafe" if all(report.is_safety for report in reports) else "states are bugs"
    share = percent(bugs / tested, math.ceil)
    return f"{bugs} of {tested} {things} ({share}), more than {percent(most, math.floor)}"


def _too_bad(reports: Sequence[Report], most: float) -> str | None:
    over = [
        (bug.gap.lo, bug.id, report) for report in reports for bug in report.tally.bugs if bug.gap.lo > most
    ]
    if not over:
        return None
    gap, bug, report = max(over, key=lambda each: each[0])
    task = "" if report.tally.started is None else f" of {report.tally.started.task}"
    worst = "never reaches the goal" if gap == math.inf else f"pays {cost_text(gap)} too much"
    return (
        f"in {counted(len(over), 'state')} the policy pays more than {cost_text(most)} too much, or never gets "
        f"there; in bug {bug}{task} it {worst}"
    )


def _unheard_of(reports: Sequence[Report], known: Collection[FamilyKey]) -> str | None:
    new = [key for key in family_keys(reports) if key not in known]
    if not new:
        return None
    words = "; ".join(does(outcome) + ("" if schema is None else f" ({schema})") for outcome, schema in new)
    return f"{counted(len(new), 'family', 'families')} not known before: the policy {words}"
