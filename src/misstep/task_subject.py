"""A policy on a classical task as a subject of tests: pool states, runs, faults, families, certificates."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from misstep._core import PolicyGraph, Run, State
from misstep.ahead import Ahead
from misstep.answers.guard import Guard, failure_report, reason_of_run
from misstep.answers.recheck import Recheck
from misstep.events import Family, PoolGrown, Warned
from misstep.explain.families import BugSummary, families, share_with_unique_pair
from misstep.explain.fault import localise
from misstep.fuzz import Fuzz
from misstep.judge import Judgement, Objective, Verdict
from misstep.lab import Known, Lab
from misstep.oracle import Case, OraclePart, Panel, bind_oracles, open_case
from misstep.plugins import require
from misstep.policy import Policy
from misstep.pool import PoolEntry
from misstep.proof import Surrounded
from misstep.record.certificate import make_certificate
from misstep.statistics import CONFIDENCE, effective_size, rate_bounds, running_bounds
from misstep.subject import UNTIL_WIDTH, Clock, Finding, Tell

# Pool states that are made before the first of them is tested, unless tests and fuzzing take turns.
_MADE_AT_ONCE = 500
# Runs advance together in slices. They start small and grow while the policy answers fast, so that a slow
# policy has finished some runs when the time is over.
_SLICE_SECONDS = 0.5


@dataclass(slots=True, kw_only=True)
class TaskSubject:
    """One policy on one classical task; `pool` gives the states: a fuzzing session, or given entries."""

    lab: Lab
    policy: Policy
    pool: Fuzz | Sequence[PoolEntry]
    oracles: Sequence[OraclePart]
    objective: Objective
    interleave: bool = False
    gap: bool = False
    effort: float = 1.0
    """How many times their own effort oracles may spend on a state that stays unknown."""
    recheck: bool = True
    faults: bool = True
    confidence: float = CONFIDENCE
    until_width: float | None = None
    """The test ends when the bug rate is known this closely."""
    keep: Callable[[PoolEntry], None]
    """Writes a pool entry down, before it is tested."""
    helpers: Ahead | None = None
    """Those who are told which cases come next, where there are any."""
    size: int = field(init=False)
    """How many states are wanted."""
    panel: Panel[Any, Case] = field(init=False)
    meter: PolicyGraph = field(init=False)
    _guard: Guard | None = field(init=False)
    _recheck: Recheck | None = field(init=False)
    _judged: dict[int, tuple[Verdict, int | None]] = field(default_factory=dict)
    """The verdict on each state so far, and the state that its walk started in."""
    _unique_pairs: float | None = None
    """How varied the bugs are, as found with their families."""

    def __post_init__(self) -> None:
        if not type(self.objective).__module__.startswith("misstep."):
            require("objective", self.objective, "name", "value")
        self.size = self.pool.size if isinstance(self.pool, Fuzz) else len(self.pool)
        self.meter = self.lab.graph
        self._guard = self.policy if isinstance(self.policy, Guard) else None
        self._recheck = Recheck(self._guard, self.meter) if self._guard and self.recheck else None
        oracles = bind_oracles(self.oracles, self.lab)
        self.panel = Panel(
            self.lab,
            oracles,
            objective=self.objective,
            gap=self.gap,
            exact=self.gap or self.faults,
            effort=self.effort,
        )

    def cases(self, clock: Clock, tell: Tell, /) -> Iterator[Case]:
        """Pool states with the policy's runs from them."""
        for batch in self._batches(clock, tell):
            for entry, run in self._runs(batch):
                yield open_case(self.lab, entry, run)
                if self.until_width is not None and self._is_narrow(self.until_width):
                    self.lab.limits_hit.add(UNTIL_WIDTH)
                    return
            if given_up := self._given_up():
                tell(Warned(text=given_up))
                self.lab.limits_hit.add("policy")
                return
        if self._recheck is not None:
            self._recheck.ask_again(self.lab.budget)
        if self._guard is not None and (words := self._guard.words()):
            tell(Warned(text=f"the policy printed something; the last of it: {words}"))

    def _given_up(self) -> str | None:
        """Why it makes no sense to ask the policy on; native ones never fail."""
        return None if self._guard is None else failure_report(self._guard)

    def find(
        self, case: Case, judgement: Judgement, known: Known[State], about: Mapping[str, Any], /
    ) -> Finding:
        """The fault of a bug, and the certificate of a bug or a clearance."""
        fault, reason, bound = None, None, known.bound
        if self.faults and judgement.verdict is Verdict.BUG:
            fault = localise(self.lab, case, exact=self.panel.seeks_exact)
            if known.bound is not bound:  # localising has tightened the bounds
                judgement = self.panel.judge(case)
        if case.run.outcome in _WITHOUT_DECISION:
            reason = reason_of_run(self.policy, case.run)
        self._judged[case.id] = judgement.verdict, case.entry.parent
        lower = known.lower if judgement.verdict is Verdict.CLEARED else None
        if lower is not None and isinstance(lower.evidence, Surrounded) and case.run.outcome == "solved":
            # The rest of a best course is one: test states that it leads through are cleared as well.
            for claim in self.lab.claims_along(lower, case.run.actions, lower.oracle):
                self.lab.enter(claim)
        certificate, by_search = None, False
        if judgement.verdict is not Verdict.UNKNOWN:
            certificate, by_search = make_certificate(
                self.lab,
                case,
                judgement,
                known,
                objective=self.objective,
                proofs=self.lab.proofs,
                fault=fault,
                reason=reason,
                **about,
            )
        return Finding(
            judgement=judgement,
            best=known.bound,
            fault=None if fault is None else fault.note,
            schema=None if fault is None else fault.schema,
            reason=reason,
            by_search=by_search,
            certificate=certificate,
        )

    def families(self, bugs: list[tuple[Case, Finding]], /) -> tuple[Family, ...]:
        """Bugs with the same outcome, the same schema at fault and in the same region."""
        summaries = [
            BugSummary(
                case.id,
                case.state,
                case.run.outcome,
                finding.schema,
                finding.judgement.gap.lo,
                case.run.steps,
            )
            for case, finding in bugs
        ]
        states = [bug.state for bug in summaries]
        found = tuple(families(self.lab.task, summaries))
        self._unique_pairs = share_with_unique_pair(states)
        return found

    def summary(self, bugs: list[tuple[Case, Finding]], /) -> dict[str, Any]:
        """How varied the bugs are (Table 1 of Steinmetz et al. 2022), and between which their rate lies."""
        counts = self._counts()
        effective, tested = self._effective(), len(self._judged)
        rate = rate_bounds(*counts, confidence=self.confidence, effective=effective)
        found: dict[str, Any] = {
            "bug_rate": tuple(rate) if tested else None,
            "confidence": self.confidence,
            "effective": round(effective, 1) if effective < tested else None,
            "unique_fact_pairs": self._unique_pairs,
        }
        return found if self._recheck is None else {**found, "extra": {"recheck": self._recheck.as_json()}}

    def _counts(self) -> tuple[int, int, int]:
        """Bugs, cleared and unknown states."""
        found = Counter(verdict for verdict, _ in self._judged.values())
        return found[Verdict.BUG], found[Verdict.CLEARED], found[Verdict.UNKNOWN]

    def _effective(self) -> float:
        """How many independent states say as much as those that were judged."""
        is_bug = {id: verdict is Verdict.BUG for id, (verdict, _) in self._judged.items()}
        unknown = {id for id, (verdict, _) in self._judged.items() if verdict is Verdict.UNKNOWN}
        return effective_size(
            is_bug, {id: parent for id, (_, parent) in self._judged.items()}, unknown=unknown
        )

    def _is_narrow(self, width: float) -> bool:
        counts, confidence = self._counts(), self.confidence
        if running_bounds(*counts, confidence=confidence).width > width:  # nor with what depends left out
            return False
        return running_bounds(*counts, confidence=confidence, effective=self._effective()).width <= width

    def _batches(self, clock: Clock, tell: Tell) -> Iterator[list[PoolEntry]]:
        """The pool in pieces that are tested together."""
        size = 1 if self.interleave else _MADE_AT_ONCE
        entries = iter(self.pool)
        made, batch = 0, list[PoolEntry]()
        while True:
            begin, policy = time.perf_counter(), self.meter.policy_seconds
            entry = next(entries, None)
            clock.fuzz += time.perf_counter() - begin - (self.meter.policy_seconds - policy)
            if entry is not None:
                self.keep(entry)
                batch.append(entry)
                made += 1
            if batch and (entry is None or len(batch) >= size):
                self.lab.add_to_pool(batch)
                tell(PoolGrown(pool=made, size=self.size))
                yield batch
                batch = []
            if entry is None:
                break
        if isinstance(self.pool, Fuzz) and self.pool.stopped != "full":
            self.lab.limits_hit.add(f"fuzz: {self.pool.stopped}")

    def _runs(self, batch: list[PoolEntry]) -> Iterator[tuple[PoolEntry, Run]]:
        at, size, helpers = 0, 1, self.helpers
        if helpers is not None and helpers.run_policy:
            helpers.expect([(entry, None) for entry in batch], size=self.size)
            helpers = None  # they know
        while at < len(batch) and not self.lab.budget.is_over and self._given_up() is None:
            before = self.meter.policy_seconds
            piece = batch[at : at + size]
            runs = self.lab.run([entry.state for entry in piece])
            if self._recheck is not None:
                self._recheck.remember(runs)
            found = list(zip(piece, runs, strict=False))
            if helpers is not None:
                helpers.expect(found, size=self.size)
            yield from found
            at += len(piece)
            # Where nobody waits for the end of a limit, the clock decides nothing: same seed, same result.
            is_fast = self.lab.budget.seconds_left is None or (
                self.meter.policy_seconds - before < _SLICE_SECONDS
            )
            size = size * 2 if is_fast else max(1, size // 2)


_WITHOUT_DECISION = ("illegal", "failed")
