"""Report: the result of a test, for Python and for the command line; made from a record alone."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from misstep.bound import Bound
from misstep.errors import InputError
from misstep.events import Family, Finished, Judged, Misstep
from misstep.explain.rates import Rate
from misstep.record.pool_file import read_parents
from misstep.record.record import EVENTS, POOL, Record
from misstep.record.store import DirectoryStore, MemoryStore
from misstep.reports.failures import failure_words
from misstep.reports.ranking import added_gaps, ranked
from misstep.reports.show import bug_json, show_bug
from misstep.reports.text import screen_width
from misstep.statistics import CONFIDENCE, Interval, confidence_below, rate_bounds
from misstep.status import Status, status_of, unanswered
from misstep.support.extras import require_extra
from misstep.support.suggest import some_of
from misstep.tally import Failure, Tally

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Bug:
    """A state in which the policy does worse than is possible, with the proof."""

    judged: Judged
    certificate: dict[str, Any]
    record: Record = field(repr=False)

    @property
    def id(self) -> int:
        """Its number in the pool."""
        return self.judged.id

    @property
    def state(self) -> Any:
        """The state in which the policy started: the true atoms, or the values of a model's variables."""
        return self.certificate["state"]

    @property
    def run(self) -> list[str]:
        """The actions of the policy from there."""
        return list(bug_json(self.record, self.certificate)["run"]["actions"])

    @property
    def outcome(self) -> str:
        """How the policy's run ends: solved, loop, stuck, illegal, dead-end, cut-off, unsafe."""
        return self.judged.outcome

    @property
    def plan(self) -> list[str] | None:
        """A better plan; None in safety tests, where the alternative is a whole strategy."""
        plan = self.certificate.get("witness")
        return None if plan is None else list(plan)

    @property
    def gap(self) -> Bound:
        """How much more the policy pays than necessary: at least and at most this much."""
        return self.judged.gap

    @property
    def fault(self) -> Misstep | None:
        """A decision that is proven to be wrong; None if there is no proof. `show` says whether it is the first."""
        return self.judged.fault

    def show(self, *, width: int | None = None) -> str:
        """A text with both courses side by side and the misstep marked.

        Where names do not fit into `width` columns, one course stands below the other. Without a width it is COLUMNS,
        the width of the terminal, or 80.
        """
        return "\n".join(show_bug(self.record, self.certificate, width=width or screen_width()))


class Report:
    """What a test found. All bugs in `bugs` are proven; `cleared` counts states proven to be no bugs."""

    def __init__(self, record: Record, *, tally: Tally | None = None) -> None:
        self.record = record
        self.tally = tally or Tally.added_up(record.events())
        self.finished = self.tally.finished or Finished(**self.tally.counts())
        """The counts; of a test that is under way or was killed, those so far."""
        started = self.tally.started
        self.is_safety = started is not None and started.kind == "model"
        """Whether a JANI model was tested."""

    @classmethod
    def read(cls, folder: str | Path) -> "Report":
        """The report of a record on disk."""
        return cls(Record.open(Path(folder)))

    @cached_property
    def bugs(self) -> list[Bug]:
        """The bugs in the order in which they were found."""
        return [Bug(event, self.record.bug_named(str(event.id)), self.record) for event in self.tally.bugs]

    @cached_property
    def added_gaps(self) -> dict[int, float]:
        """For bugs with a tested parent: how much larger their gap is than the parent's, as far as that is proven.

        Those above 0 are fuzzing bugs (Definition 4 of Steinmetz et al. 2022).
        """
        if self.is_safety:
            return {}
        parents = read_parents(self.record.store.lines(POOL), where=f"{self.record.where}/{POOL}")
        return added_gaps(self.tally, parents)

    @property
    def fuzzing_bugs(self) -> int:
        """The number of bugs whose gap is proven to be larger than that of the state where their walk started."""
        return sum(added > 0 for added in self.added_gaps.values())

    @property
    def ranked(self) -> list[Bug]:
        """The bugs, most interesting first: sorted by how much their walk made the gap larger, then by the gap."""
        by_id = {bug.id: bug for bug in self.bugs}
        return [by_id[event.id] for event in ranked(self.tally, self.added_gaps)]

    @property
    def tested(self) -> int:
        """How many states were judged."""
        return self.finished.tested

    @property
    def solved(self) -> int:
        """From how many states the policy reaches the goal."""
        return self.finished.solved

    @property
    def cleared(self) -> int:
        """How many states are proven to be no bugs."""
        return self.finished.cleared

    @property
    def unknown(self) -> int:
        """How many states are neither proven to be bugs nor proven to be no bugs."""
        return self.finished.unknown

    @property
    def failed(self) -> int:
        """In how many states (of a JANI model: runs) the policy gave no usable answer; they count as unknown."""
        return unanswered(self.finished)

    @property
    def failures(self) -> list[Failure]:
        """These states or runs, each with the reason."""
        return self.tally.failures

    @property
    def status(self) -> Status:
        """What the test comes to; exit codes, JUnit, pytest and pages say the same."""
        return status_of(self.finished)

    @property
    def bug_rate(self) -> Interval:
        """The interval in which the share of bugs among such states lies (for a JANI model, that of unsafe runs).

        It holds with the confidence that the test was asked for; `confidence_below` answers the other way round.
        """
        rate = self.finished.bug_rate
        return rate_bounds(*self.counts()) if rate is None else Interval(*rate)

    @property
    def rate(self) -> Rate:
        """The bug rate for people: printed, it is the sentence that a summary has."""
        found = self.finished
        confidence = CONFIDENCE if found.confidence is None else found.confidence
        return Rate(*self.counts(), self.bug_rate, confidence, found.effective, of_runs=self.is_safety)

    def confidence_below(self, rate: float) -> float:
        """The confidence with which the bug rate is below `rate`."""
        return confidence_below(rate, *self.counts(), effective=self.finished.effective)

    def counts(self) -> tuple[int, int, int]:
        """What the rate is computed from: bugs, cleared and unknown states, or unsafe, other and failed runs."""
        found = self.finished
        if not self.is_safety:
            return found.bugs, found.cleared, found.unknown
        return found.unsafe_runs, found.runs - found.unsafe_runs - self.failed, self.failed

    @property
    def families(self) -> tuple[Family, ...]:
        """Groups of bugs that go wrong in the same way, large families first."""
        return self.finished.families

    @property
    def limits_hit(self) -> tuple[str, ...]:
        """The limits that were reached, so that the test could not say more."""
        return self.finished.limits_hit

    @property
    def error(self) -> str | None:
        """Why this task of several could not be tested; None if it could."""
        return self.finished.extra.get("error")

    def bug(self, number: int) -> Bug:
        """The bug with this id."""
        for bug in self.bugs:
            if bug.id == number:
                return bug
        known = some_of([str(bug.id) for bug in self.bugs])
        raise InputError(f"there is no bug {number}; there are: {known}")

    def show(self, bug: int | Bug, *, width: int | None = None) -> str:
        """A bug as a text, as `misstep show` prints it."""
        return (self.bug(bug) if isinstance(bug, int) else bug).show(width=width)

    def to_frame(self) -> "pandas.DataFrame":
        """A pandas data frame with one row for each tested state (needs the extra `pandas`)."""
        pandas = require_extra("pandas", extra="pandas", purpose="a report as a data frame")
        return pandas.DataFrame(list(self._rows()))

    def save(self, folder: str | Path) -> Path:
        """Writes the record to a new directory, from which `misstep verify`, `show` and `replay` read."""
        path = Path(folder)
        if not isinstance(self.record.store, MemoryStore):
            raise InputError(f"the record is on disk already: {self.record.where}")
        target = DirectoryStore.create(path, marker=EVENTS)
        try:
            self.record.store.copy_to(target)
        finally:
            target.close()
        return path

    def write_html(self, file: str | Path) -> Path:
        """Writes a page for the browser, as `misstep report` does."""
        from misstep.reports.html.page import make_page, write_page

        path = Path(file)
        write_page(path, make_page([self]))
        return path

    def as_json(self) -> dict[str, Any]:
        """The report as data, as `misstep test --json` prints it."""
        from misstep.reports.summary import report_json

        return report_json(self)

    def __repr__(self) -> str:
        counts, failed = self.finished, failure_words(self.finished, self.failures)
        runs = f"{counts.runs} runs, {counts.unsafe_runs} unsafe; " if self.is_safety else ""
        return (
            f"<Report: {runs}{counts.tested} states tested, {counts.bugs} bugs, {counts.cleared} cleared, "
            f"{counts.unknown} unknown{'' if failed is None else f'; {failed}'}>"
        )

    def _rows(self) -> Iterator[dict[str, Any]]:
        for event in self.tally.judged.values():
            yield {
                "id": event.id,
                "verdict": str(event.verdict),
                "outcome": event.outcome,
                "steps": event.steps,
                "cost_lo": event.cost.lo,
                "cost_hi": event.cost.hi,
                "best_lo": event.best.lo,
                "best_hi": event.best.hi,
                "gap_lo": event.gap.lo,
                "gap_hi": event.gap.hi,
                "added_gap": self.added_gaps.get(event.id),
                "oracle": event.oracle,
                "fault_step": None if event.fault is None else event.fault.step,
                "fault_until": None if event.fault is None else event.fault.until,
                "fault_action": None if event.fault is None else event.fault.action,
                "by_search": event.by_search,
            }
