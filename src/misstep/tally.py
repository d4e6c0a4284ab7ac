"""Tally: what the events of a test add up to. True at any moment, and of a log that is read again."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from misstep.bound import NEVER
from misstep.events import Event, Finished, Judged, PoolGrown, Ran, Started, Warned
from misstep.judge import Verdict


@dataclass(frozen=True, slots=True)
class Failure:
    """Where a policy gave no usable answer, and why."""

    id: int
    """Of the state; on a model, of the run."""
    reason: str
    state: dict[str, Any] | None = None
    """Of a model, where it is known; those of a task are in the pool."""


@dataclass(slots=True)
class Tally:
    """Counts events; a state that was judged again counts once, by the last word."""

    started: Started | None = None
    finished: Finished | None = None
    warnings: list[str] = field(default_factory=list)
    pool: int = 0
    runs: int = 0
    unsafe_runs: int = 0
    failed_runs: list[Failure] = field(default_factory=list)
    judged: dict[int, Judged] = field(default_factory=dict)
    """The last word on each state."""
    kinds: dict[tuple[str, str | None], float] = field(default_factory=dict)
    """How the runs of bugs end and the action schema at fault, with the time of the first bug of the kind."""

    @classmethod
    def added_up(cls, events: Iterable[Event]) -> Self:
        """What a whole log adds up to."""
        tally = cls()
        for event in events:
            tally.add(event)
        return tally

    def add(self, event: Event) -> None:
        """Takes an event in."""
        if isinstance(event, Judged):
            self.judged[event.id] = event
            if event.verdict is Verdict.BUG:
                action = None if event.fault is None else event.fault.action
                schema = None if action is None else action.strip("()").split(" ")[0]
                self.kinds.setdefault((event.outcome, schema), event.at)
        elif isinstance(event, PoolGrown):
            self.pool = event.pool
        elif isinstance(event, Ran):
            self.runs += 1
            self.unsafe_runs += event.outcome == "unsafe"
            if event.is_unanswered:
                self.failed_runs.append(Failure(event.run, event.reason or _NO_REASON, event.state))
        elif isinstance(event, Started):
            self.started = event
        elif isinstance(event, Warned):
            self.warnings.append(event.text)
        elif isinstance(event, Finished):
            self.finished = event
            self.pool = event.pool

    def of(self, verdict: Verdict) -> list[Judged]:
        """The states with this verdict, in the order in which they were judged first."""
        return [event for event in self.judged.values() if event.verdict is verdict]

    @property
    def bugs(self) -> list[Judged]:
        """The bugs."""
        return self.of(Verdict.BUG)

    @property
    def failures(self) -> list[Failure]:
        """The states, or runs on a model, in which the policy gave no usable answer."""
        states = [
            Failure(event.id, event.reason or _NO_REASON)
            for event in self.of(Verdict.UNKNOWN)
            if event.outcome == "failed"
        ]
        return states + self.failed_runs

    def counts(self) -> dict[str, Any]:
        """The counts that `Finished` states."""
        bugs, cleared = self.bugs, self.of(Verdict.CLEARED)
        qualitative = sum(event.cost == NEVER for event in bugs)
        return {
            "pool": self.pool,
            "tested": len(self.judged),
            "solved": sum(event.outcome == "solved" for event in self.judged.values()),
            "bugs": len(bugs),
            "qualitative": qualitative,
            "quantitative": len(bugs) - qualitative,
            "cleared": len(cleared),
            "cleared_by_search": sum(event.by_search for event in cleared),
            "unknown": len(self.of(Verdict.UNKNOWN)),
            "failed": len(self.failures),
            "runs": self.runs,
            "unsafe_runs": self.unsafe_runs,
            "faults": sum(event.fault is not None for event in self.judged.values()),
        }


_NO_REASON = "the record does not say why"
"""Of the runs in records that were made before runs had a reason."""
