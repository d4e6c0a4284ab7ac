"""Two records compared state by state: what is new, fixed, worse or better, and whether it may be chance."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misstep.errors import InputError
from misstep.events import Judged
from misstep.explain.rates import Rate
from misstep.judge import Verdict
from misstep.record.record import CLEARED, POOL, Record, records_in
from misstep.reports.failures import nothing_tested
from misstep.reports.report import Report
from misstep.statistics import CONFIDENCE, rate_bounds, sign_test, signed_rank_test
from misstep.status import is_dead

KINDS = ("new", "fixed", "worse", "better", "same", "undecided")
"""What can become of a state from the old test to the new one."""
FamilyKey = tuple[str, str | None]
"""The outcome of a family and the schema at fault: what can be compared between two tests."""


@dataclass(frozen=True, slots=True)
class Change:
    """One state in both tests; None where a test of a model did not come to it."""

    kind: str
    task: str
    old: Judged | None
    new: Judged | None

    def as_json(self) -> dict[str, Any]:
        """With the state's number in each record."""
        return {
            "kind": self.kind,
            "task": self.task,
            "old": None if self.old is None else self.old.id,
            "new": None if self.new is None else self.new.id,
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """All states of the records that were compared."""

    changes: tuple[Change, ...]
    only_old: int
    only_new: int
    """States that only one test looked at, so that nothing can be said about them."""
    families_new: tuple[FamilyKey, ...]
    families_gone: tuple[FamilyKey, ...]
    old_rate: Rate
    new_rate: Rate
    confidence: float
    is_safety: bool
    unanswered: tuple[str, ...] = ()
    """The tests that say nothing, since the policy gave hardly an answer; each in words."""

    def count(self, kind: str) -> int:
        """How many states changed so."""
        return sum(change.kind == kind for change in self.changes)

    @property
    def is_worse(self) -> bool:
        """Whether anything is new or worse."""
        return bool(self.count("new") + self.count("worse"))

    @property
    def chance_of_bugs(self) -> float:
        """McNemar's test: how likely such numbers of new and fixed bugs are if both policies are as good."""
        return sign_test(self.count("new"), self.count("fixed"))

    @property
    def chance_of_costs(self) -> float:
        """Wilcoxon's test on what the policies pay in the same states."""
        return signed_rank_test(_cost_differences(self.changes))

    def as_json(self) -> dict[str, Any]:
        """The JSON object of `misstep diff`."""
        return {
            **{kind: self.count(kind) for kind in KINDS},
            "states": len(self.changes),
            "only_old": self.only_old,
            "only_new": self.only_new,
            "bug_rate": {"old": list(self.old_rate.bounds), "new": list(self.new_rate.bounds)},
            "confidence": self.confidence,
            "chance": {"bugs": self.chance_of_bugs, "costs": self.chance_of_costs},
            "families": {
                "new": [{"outcome": outcome, "schema": schema} for outcome, schema in self.families_new],
                "gone": [{"outcome": outcome, "schema": schema} for outcome, schema in self.families_gone],
            },
            "unanswered": list(self.unanswered),
            "changes": [change.as_json() for change in self.changes if change.kind != "same"],
        }


def difference(pairs: Sequence[tuple[Report, Report]], *, confidence: float = CONFIDENCE) -> Difference:
    """What changed from the old report of each pair to the new one."""
    changes: list[Change] = []
    only_old = only_new = 0
    for old, new in pairs:
        _require_same(old, new)
        before, after = _states(old), _states(new)
        is_safety = old.is_safety
        # A test of a model looks at states of unsafe runs only: those it does not come to are no bugs of it.
        # Where a policy gave hardly an answer, that no unsafe run was found says nothing.
        is_told = is_safety and not (is_dead(old.finished) or is_dead(new.finished))
        both = before.keys() | after.keys() if is_told else before.keys() & after.keys()
        order = [*before, *(key for key in after if key not in before)]
        task = "" if new.tally.started is None else new.tally.started.task
        for key in order:
            if key in both:
                one, other = before.get(key), after.get(key)
                changes.append(Change(_kind(one, other), task, one, other))
        only_old += len(before.keys() - both)
        only_new += len(after.keys() - both)
    olds, news = ([pair[side] for pair in pairs] for side in (0, 1))
    known, found = family_keys(olds), family_keys(news)
    return Difference(
        changes=tuple(changes),
        only_old=only_old,
        only_new=only_new,
        families_new=tuple(key for key in found if key not in known),
        families_gone=tuple(key for key in known if key not in found),
        old_rate=pooled_rate(olds, confidence=confidence),
        new_rate=pooled_rate(news, confidence=confidence),
        confidence=confidence,
        is_safety=any(report.is_safety for report in olds),
        unanswered=tuple(
            f"{report.record.where}: {nothing_tested(report.finished, report.failures)}"
            for report in (*olds, *news)
            if is_dead(report.finished)
        ),
    )


def paired_reports(old: Path, new: Path) -> list[tuple[Report, Report]]:
    """The records of two directories by name; two single records are a pair whatever they are called."""
    olds, news = records_in(old), records_in(new)
    if len(olds) == len(news) == 1:
        return [(Report.read(olds[0]), Report.read(news[0]))]
    by_name = {path.name: path for path in olds}
    pairs = [(Report.read(by_name[path.name]), Report.read(path)) for path in news if path.name in by_name]
    if not pairs:
        raise InputError(f"{old} and {new} have no record of the same name, so there is nothing to compare")
    return pairs


def pooled_rate(reports: Sequence[Report], *, confidence: float = CONFIDENCE) -> Rate:
    """The rate in all tests together, each state with the same weight."""
    counts, effective = (0, 0, 0), 0.0
    for report in reports:
        here = report.counts()
        counts = (counts[0] + here[0], counts[1] + here[1], counts[2] + here[2])
        effective += sum(here) if report.finished.effective is None else report.finished.effective
    bounds = rate_bounds(*counts, confidence=confidence, effective=effective)
    of_runs = any(report.is_safety for report in reports)
    return Rate(*counts, bounds, confidence, effective, of_runs=of_runs)


def family_keys(reports: Iterable[Report]) -> list[FamilyKey]:
    """The families of all reports, each once; regions are numbered anew in every test and left out."""
    return list(
        dict.fromkeys((family.outcome, family.schema) for report in reports for family in report.families)
    )


def _require_same(old: Report, new: Report) -> None:
    one, other = old.record.environment(), new.record.environment()
    for name in ("task_sha256", "model_sha256"):
        if one.get(name) != other.get(name):
            raise InputError(
                f"{old.record.where} and {new.record.where} are about different tasks, so their states cannot "
                "be compared; test both policies on the same files"
            )


def _states(report: Report) -> dict[Any, Judged]:
    """The last word on each state, by what the state is."""
    try:
        return _judged_by_state(report)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        raise InputError(
            f"{report.record.where}: a state or its number is missing or damaged; `misstep verify` says more"
        ) from None


def _judged_by_state(report: Report) -> dict[Any, Judged]:
    record, judged = report.record, report.tally.judged
    if report.is_safety:
        return {
            json.dumps([certificate["state"], certificate.get("step")], sort_keys=True): judged[number]
            for certificate in _certificates(record)
            if (number := int(certificate["id"])) in judged
        }
    return {
        frozenset(line["facts"]): judged[number]
        for at, line in enumerate(record.store.lines(POOL))
        if (number := line.get("id", at)) in judged
    }


def _certificates(record: Record) -> Iterator[dict[str, Any]]:
    yield from record.store.lines(CLEARED)
    for name, certificate in record.bugs().items():
        if name.isdecimal():  # shrunk bugs are no states of the test
            yield certificate


def _kind(old: Judged | None, new: Judged | None) -> str:
    """What became of a state. Where a verdict is unknown, what the policy itself pays decides."""
    was_bug = old is not None and old.verdict is Verdict.BUG
    is_bug = new is not None and new.verdict is Verdict.BUG
    if old is None or new is None:
        return "new" if is_bug else "fixed" if was_bug else "same"
    if is_bug and old.verdict is Verdict.CLEARED:
        return "new"
    if was_bug and new.verdict is Verdict.CLEARED:
        return "fixed"
    if old.cost == new.cost or (not is_bug and old.verdict is new.verdict is Verdict.CLEARED):
        return "same"
    if new.cost.lo > old.cost.hi:
        return "worse" if was_bug or not is_bug else "new"
    if new.cost.hi < old.cost.lo:
        return "better"
    return "undecided"


def _cost_differences(changes: Iterable[Change]) -> Iterator[float]:
    for change in changes:
        if change.old is None or change.new is None:
            continue
        old, new = change.old.cost, change.new.cost
        if old.is_exact and new.is_exact and old != new:
            yield math.inf if new.lo == math.inf else -math.inf if old.lo == math.inf else new.lo - old.lo
