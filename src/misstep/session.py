"""A test from start to end: fuzz, run, claim, judge, prove, record. Everything reported is on disk before."""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from misstep._core import PolicyGraph, State, StopFlag
from misstep.bound import Bound
from misstep.errors import InputError
from misstep.events import BugFound, Cleared, Event, Finished, PoolGrown, Tested
from misstep.explain.families import BugSummary, families, share_with_unique_pair
from misstep.explain.fault import Fault, localise
from misstep.fuzz import Fuzz
from misstep.judge import Kind, Objective, Quantitative
from misstep.lab import Lab
from misstep.oracle import Case, OraclePart, Outcome, Panel, open_case
from misstep.pool import PoolEntry
from misstep.record.certificate import is_search_based, make_certificate
from misstep.record.store import CLEARED, POOL, RunDirectory
from misstep.task import Task

# Pool states whose runs advance together.
_RUNS_AT_ONCE = 500


@dataclass(frozen=True)
class Settings:
    """How to test. None: no limit."""

    oracles: Sequence[OraclePart]
    objective: Objective = Quantitative()
    seed: int = 0
    max_steps: int = 10_000
    max_seconds: float | None = None
    interleave: bool = False
    """Test each new pool state at once, instead of filling the pool first."""
    gap: bool = False
    """Go on with known bugs to make their proven gaps larger."""
    localise: bool = True
    max_memory_mb: int | None = None


@dataclass
class Campaign:
    """One policy on one task. Iterate over `events`; `result` is true at any moment.

    `pool` gives the states: a fuzzing session, or the entries of a pool file.
    """

    task: Task
    graph: PolicyGraph
    pool: Fuzz | Sequence[PoolEntry]
    settings: Settings
    name: str = "task"
    policy: str = "policy"
    out: RunDirectory | None = None
    stop: StopFlag | None = None
    result: Finished = field(default_factory=Finished)
    _bugs: list[BugSummary] = field(default_factory=list)
    _open: dict[State, Case] = field(default_factory=dict)
    """Cases whose verdict is unknown so far."""

    def events(self) -> Iterator[Event]:
        """Runs the test; ends early where the time is up or the stop flag is set. The last event sums up."""
        require_clear_names(self.task)
        start = time.perf_counter()
        limit = self.settings.max_seconds
        lab = Lab(
            self.task,
            self.graph,
            max_steps=self.settings.max_steps,
            max_memory_mb=self.settings.max_memory_mb,
            deadline=math.inf if limit is None else start + limit,
            stop=self.stop,
            seed=self.settings.seed,
        )
        panel = Panel(lab, self.settings.oracles, objective=self.settings.objective, gap=self.settings.gap)
        try:
            for batch in self._batches(lab):
                yield PoolGrown(self.result.pool)
                yield from self._test(lab, panel, batch)
                if lab.is_over:
                    lab.limits_hit.add("stopped" if self.stop and self.stop.is_set else "seconds")
                    break
        except KeyboardInterrupt:
            lab.limits_hit.add("interrupted")
            self._finish(lab, start)
            raise
        yield self._finish(lab, start)

    def _batches(self, lab: Lab) -> Iterator[list[PoolEntry]]:
        """The pool in pieces that are tested together."""
        size = 1 if self.settings.interleave else _RUNS_AT_ONCE
        batch: list[PoolEntry] = []
        entries = iter(self._entries(lab))
        while True:
            begin, policy = time.perf_counter(), self.graph.policy_seconds
            entry = next(entries, None)
            self.result.fuzz_seconds += time.perf_counter() - begin - (self.graph.policy_seconds - policy)
            if entry is not None:
                lab.enter(entry)
                self.result.pool += 1
                batch.append(entry)
            if batch and (entry is None or len(batch) >= size):
                yield batch
                batch = []
            if entry is None:
                return

    def _entries(self, lab: Lab) -> Iterable[PoolEntry]:
        for entry in self.pool:
            if self.out is not None:
                self.out.append(POOL, entry.as_json())
            yield entry
        if isinstance(self.pool, Fuzz) and self.pool.stopped not in ("full", "exhausted"):
            lab.limits_hit.add(f"fuzz: {self.pool.stopped}")

    def _test(self, lab: Lab, panel: Panel, batch: list[PoolEntry]) -> Iterator[Event]:
        for entry, run in zip(batch, lab.run([entry.state for entry in batch]), strict=False):
            if lab.is_over:
                return
            begin, policy = time.perf_counter(), self.graph.policy_seconds
            case = open_case(lab, entry, run)
            self.result.solved += run.outcome == "solved"
            outcome = panel.test(case)
            event = self._judged(lab, panel, case, outcome)
            self.result.oracle_seconds += time.perf_counter() - begin - (self.graph.policy_seconds - policy)
            yield event
            yield from self._judged_again(lab, panel)

    def _judged(self, lab: Lab, panel: Panel, case: Case, outcome: Outcome) -> Event:
        fault = localise(lab, case.run) if outcome.verdict.is_bug and self.settings.localise else None
        verdict = panel.verdict(case)  # localising may have tightened the bounds
        best = lab.best(case.entry.state)
        tested = Tested(
            case.entry.id, case.run.outcome, case.cost, best, verdict.kind, verdict.gap, outcome.oracle
        )
        if verdict.kind is Kind.BUG:
            self._bugs.append(_summary(case, verdict.gap, fault))
            return self._bug(lab, case, tested, fault)
        if verdict.kind is Kind.CLEARED:
            return self._cleared(lab, case, tested)
        self.result.unknown += 1
        self._open[case.entry.state] = case
        return self._recorded(tested)

    def _judged_again(self, lab: Lab, panel: Panel) -> Iterator[Event]:
        """What was found out about one state may decide about states that were left open."""
        while lab.changed:
            case = self._open.get(lab.changed.pop())
            if case is None or panel.verdict(case).kind is Kind.UNKNOWN:
                continue
            del self._open[case.entry.state]
            self.result.unknown -= 1
            yield self._judged(lab, panel, case, panel.known(case))

    def _bug(self, lab: Lab, case: Case, tested: Tested, fault: Fault | None) -> Event:
        if case.cost.lo == math.inf:
            self.result.qualitative += 1
        else:
            self.result.quantitative += 1
        number = case.entry.id
        replay = None
        if self.out is not None:
            replay = f"misstep replay {self.out.path} {number}"
            self.out.certificate(
                str(number), self._certificate(lab, case, tested, fault, id=str(number), replay=replay)
            )
        return self._recorded(BugFound(tested, fault, lab.plan(case.entry.state) or (), replay))

    def _cleared(self, lab: Lab, case: Case, tested: Tested) -> Event:
        self.result.cleared += 1
        certificate = self._certificate(lab, case, tested, None, id=str(case.entry.id))
        by_search = is_search_based(certificate)
        self.result.cleared_by_search += by_search
        if self.out is not None:
            self.out.append(CLEARED, certificate)
        return self._recorded(Cleared(tested, by_search=by_search))

    def _certificate(
        self, lab: Lab, case: Case, tested: Tested, fault: Fault | None, **about: object
    ) -> dict[str, object]:
        return make_certificate(
            lab,
            case,
            tested.verdict,
            objective=self.settings.objective,
            fault=fault,
            task=self.name,
            policy=self.policy,
            oracle=tested.oracle,
            seed=self.settings.seed,
            **about,
        )

    def _finish(self, lab: Lab, start: float) -> Event:
        states = [bug.state for bug in self._bugs]
        self.result.families = families(self.task, self._bugs)
        self.result.bug_regions = len({family.region for family in self.result.families})
        self.result.unique_fact_pairs = share_with_unique_pair(states)
        self.result.limits_hit = sorted(lab.limits_hit)
        self.result.policy_seconds = self.graph.policy_seconds
        self.result.total_seconds = time.perf_counter() - start
        return self._recorded(self.result)

    def _recorded(self, event: Tested | BugFound | Cleared | Finished) -> Event:
        if self.out is not None:
            self.out.event(event.as_json())
        return event


def require_clear_names(task: Task) -> None:
    """Certificates name actions, so a name must not stand for two things; PDDL never makes such tasks."""
    meaning: dict[str, tuple[object, int]] = {}
    for action in task.actions:
        here = (sorted(action.effect), action.cost)
        if meaning.setdefault(action.name, here) != here:
            raise InputError(
                f"{task.source}: two actions with different effects or costs are called {action.name}; "
                "certificates name actions, so rename one of them"
            )


def _summary(case: Case, gap: Bound, fault: Fault | None) -> BugSummary:
    schema = None if fault is None else fault.schema
    return BugSummary(case.entry.id, case.entry.state, case.run.outcome, schema, gap.lo, case.run.steps)
