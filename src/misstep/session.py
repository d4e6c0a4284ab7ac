"""Session: a test from start to end, as a stream of events. The only place that puts the pieces together.

    task -> fuzz -> cases -> run -> claims -> judge -> findings -> record

Everything that an event reports is in the record before the event is seen.
"""

import hashlib
import os
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from misstep import __version__
from misstep.ahead import Ahead, Places
from misstep.bench import set_up
from misstep.budget import Budget, StopFlag
from misstep.config import Config
from misstep.errors import LimitReached, MisstepError
from misstep.events import Event, Finished, Judged, PoolGrown, Progress, Started, Warned
from misstep.isolation.host import Host
from misstep.judge import Judgement, Verdict
from misstep.lab import Known, Lab
from misstep.oracle import AnyCase
from misstep.policy import Policy, PolicyPart
from misstep.pool import PoolEntry
from misstep.record.pool_file import PoolKeeper, read_entries
from misstep.record.record import DOMAIN, POOL, PROBLEM, TASK, UNIT_COST_ASKED, Record
from misstep.subject import UNTIL_WIDTH, Clock, Finding, Subject
from misstep.support.census import own_bytes
from misstep.support.command import command
from misstep.tally import Tally
from misstep.task import Task
from misstep.task_subject import TaskSubject

_INTERRUPT = {signal.SIGINT}


@dataclass(slots=True)
class Session:
    """One test of one policy. Iterate over `events`; `tally` is true at any moment.

    `task`, `policy` and `parts` stand in for what the configuration names. With `resume` the
    record goes on where it was stopped, to the result of an undisturbed test.
    """

    config: Config
    task: Task | None = None
    policy: Policy | PolicyPart | None = None
    parts: Mapping[str, Any] = field(default_factory=dict)
    """Oracles, objective, fuzzer and bias that come as objects, by kind."""
    record: Record = field(default_factory=Record.in_memory)
    resume: bool = False
    stop: StopFlag | None = None
    jobs: int = 1
    """Threads that work on coming cases of a task; the result is the same, whatever their number."""
    places: Places | None = None
    """Room for these threads, where several sessions share the processors."""
    progress_seconds: float | None = None
    """So often it is told how the test goes; None where nobody wants to know."""
    tally: Tally = field(default_factory=Tally)
    _begin: float = 0.0
    _cpu: float = 0.0
    _translate_seconds: float = 0.0
    _about: dict[str, Any] = field(default_factory=dict)
    """What certificates say about their origin."""
    _replay: str | None = None
    host: Host | None = None
    """The process that the policy lives in, where it has one of its own; it ends with the test."""
    _helpers: Ahead | None = None
    _progress_at: float = 0.0
    _round_size: int = 0
    _told: list[Event] = field(default_factory=list)
    _open: dict[Any, AnyCase] = field(default_factory=dict)
    """Cases about which more is to be found out, by state."""
    _bugs: dict[int, tuple[AnyCase, Finding]] = field(default_factory=dict)

    def events(self) -> Iterator[Event]:
        """Runs the test; ends early where the budget is spent. The last event sums up."""
        self._begin, self._cpu = time.perf_counter(), _cpu_seconds()
        config = self.config
        memory = config.memory_mb
        budget = Budget(seconds=config.seconds, memory_mb=memory, growth_mb=memory, stop=self.stop)
        clock = Clock()
        try:
            subject = self.open(budget)
        except LimitReached as error:  # of the translator: an outcome like any other
            self._end_policy()
            yield from self._not_loaded(error)
            return
        except BaseException:
            self._end_policy()
            raise
        try:
            yield from self._all(subject, clock)
        except LimitReached as error:  # while the policy was asked
            subject.lab.limits_hit.add(error.limit)
        except KeyboardInterrupt:
            subject.lab.limits_hit.add("interrupted")
            self._end(subject, clock)
            self._end_policy()
            raise
        except BaseException:
            self._dismiss(subject)
            self._end_policy()
            raise
        self._dismiss(subject)
        if budget.over is not None:
            subject.lab.limits_hit.add(budget.over)
        try:
            yield self._end(subject, clock)
        finally:
            self._end_policy()

    def _end(self, subject: Subject[Any], clock: Clock) -> Event:
        """Sums up; nobody needs the policy any more."""
        self._dismiss(subject)
        if self.host is not None:
            self.host.hang_up()  # It ends while we sum up, and while that is shown.
        return self._recorded(self._finished(subject, clock))

    def _end_policy(self) -> None:
        """Ends the policy's process, if it has one, now and not when somebody forgets the session."""
        if self.host is not None:
            self.host.close()

    def _dismiss(self, subject: Subject[Any]) -> None:
        """Ends the helpers; what they would have done is done here."""
        if self._helpers is not None:
            subject.lab.helpers = None
            self._helpers.close()
            self._helpers = None

    def _is_over(self, subject: Subject[Any]) -> bool:
        """Whether the budget is spent; memory that helpers take does not count."""
        budget = subject.lab.budget
        if self._helpers is not None and budget.over == "memory":
            self._dismiss(subject)
        return budget.is_over

    def open(self, budget: Budget) -> Subject[Any]:
        """Loads what is tested and begins the record."""
        if self.config.is_safety:
            from misstep.safety.subject import open_model  # the JANI side is loaded when it is needed

            return open_model(self, budget)
        return self.open_task(budget)

    def fail(self, error: MisstepError) -> None:
        """Records that an error ended the test: an outcome of this task, where it is one of several."""
        if self.tally.started is None:
            self.begin_record({}, {})
            self._recorded(self.started(self.config.oracle))
        counts, seconds = self.tally.counts(), {"total": self._now()}
        self._recorded(Finished(**counts, extra={"error": str(error)}, seconds=seconds, at=self._now()))
        self.record.close()

    def _not_loaded(self, error: LimitReached) -> Iterator[Event]:
        self.begin_record({}, {})
        yield self._recorded(self.started(self.config.oracle))
        yield self._recorded(Warned(text=str(error), at=self._now()))
        limits = (f"translate: {error.limit}",)
        seconds = {"translate": self._now(), "total": self._now()}
        yield self._recorded(Finished(limits_hit=limits, seconds=seconds, at=self._now()))

    def _all(self, subject: Subject[Any], clock: Clock) -> Iterator[Event]:
        yield from self._tell(subject)
        cases = subject.cases(clock, self._told.append)
        size = subject.size
        while (case := next(cases, None)) is not None:
            yield from self._tell(subject)
            if self._is_over(subject) and self.tally.judged:
                break
            yield from self._test(subject, case, clock, among=size - len(self.tally.judged))
        yield from self._tell(subject)
        yield from self._rounds(subject, clock)

    def _rounds(self, subject: Subject[Any], clock: Clock) -> Iterator[Event]:
        """Asks again about what is open, with twice the effort each time, as long as the panel goes on.

        What is known to be a bug is asked about with the oracles' own effort, where its gap is wanted, and with more
        only in what is left of a limited time. A test that goes on repeats all rounds that it had before.
        """
        lab, panel, number = subject.lab, subject.panel, 0
        while self._open and not self._is_over(subject):
            cases = list(self._open.values())
            unknown = [case for case in cases if self.tally.judged[case.id].verdict is Verdict.UNKNOWN]
            number += 1
            # Where a limit of time is dropped, a test goes as far as it went with it.
            is_done = lab.is_extended and self.config.seconds is None and not self.record.answers
            if not panel.begin_round(number, left=len(unknown)) or (is_done and lab.scale > 1):
                break
            if lab.scale > 1 and not lab.is_extended:
                # Those that are nearly settled come first: what is settled in a round keeps the others in it.
                cases = sorted(unknown, key=lambda case: case.cost.lo - lab.best(case.state).lo)
                if UNTIL_WIDTH in lab.limits_hit:  # then enough is known, whatever these are
                    break
            self._round_size = len(cases)
            if self._helpers is not None:
                self._helpers.expect_again(cases, bugs=self._bugs)
            for at, case in enumerate(cases):
                if case.state in self._open and not self._is_over(subject):
                    yield from self._test(subject, case, clock, among=len(cases) - at)
        for case in list(self._open.values()):
            if self.tally.judged[case.id].best != lab.best(case.state):
                yield self._judge(subject, case, panel.judge(case), lab.known(case.state))

    def _test(self, subject: Subject[Any], case: AnyCase, clock: Clock, *, among: int) -> Iterator[Event]:
        """Asks the oracles about a case, one of so many that share the time that is left."""
        if self._helpers is not None:
            self._helpers.begin(case.id)
        begin, policy = time.perf_counter(), subject.meter.policy_seconds
        judgement, known = subject.panel.test(case, among=among)
        event = self._judge(subject, case, judgement, known) if self._is_news(case, judgement) else None
        clock.oracle += time.perf_counter() - begin - (subject.meter.policy_seconds - policy)
        if self._helpers is not None:
            self._helpers.end(case.id)
        if event is None:
            self.record.keep(subject.lab.take_answers())
        else:
            yield event
        yield from self._judge_again(subject)
        if (
            self.progress_seconds is not None
            and time.perf_counter() - self._progress_at > self.progress_seconds
        ):
            self._progress_at = time.perf_counter()
            yield self._progress(subject, left=among - 1)

    def _progress(self, subject: Subject[Any], *, left: int) -> Progress:
        """How the test goes; so many cases are left of this round."""
        counts, kinds, lab = self.tally.counts(), self.tally.kinds, subject.lab
        size = self._round_size if lab.round else subject.size
        return Progress(
            **{name: counts[name] for name in ("pool", "tested", "bugs", "cleared", "unknown")},
            kinds=len(kinds),
            last_kind_at=max(kinds.values(), default=None),
            round=lab.round,
            done=max(0, size - left),
            size=size,
            asked=getattr(subject.meter, "states_asked", None),
            policy_seconds=subject.meter.policy_seconds,
            oracles=subject.panel.uses(),
            memory_mb=round(own_bytes(os.getpid()) / 2**20, 1),
            seconds_left=lab.budget.seconds_left,
            effort=lab.effort,
            at=self._now(),
        )

    def _is_news(self, case: AnyCase, judgement: Judgement) -> bool:
        """Whether more can be said of a case than was said last; tighter bounds alone are told at the end."""
        said = self.tally.judged.get(case.id)
        if said is None or said.verdict is not judgement.verdict:
            return True
        return judgement.verdict is Verdict.BUG and said.gap != judgement.gap

    def _judge(self, subject: Subject[Any], case: AnyCase, judgement: Judgement, known: Known[Any]) -> Event:
        """Explains, certifies and records what follows from all that is known about a case."""
        # The claim that the verdict rests on: the plan of a bug, the lower bound of a clearance. Where the
        # policy pays nothing, nothing needs to be known to clear it: its own run is the proof.
        claim = known.upper if judgement.verdict is Verdict.BUG or known.lower is None else known.lower
        oracle = None if claim is None or judgement.verdict is Verdict.UNKNOWN else claim.oracle
        about = {"id": str(case.id), "oracle": oracle, **self._about}
        if self._replay is not None:
            about["replay"] = f"{self._replay} {case.id}"
        finding = subject.find(case, judgement, known, about)
        verdict = finding.judgement.verdict
        gap = finding.judgement.gap
        if verdict is Verdict.UNKNOWN or (self.config.gap and gap.lo < gap.hi):
            self._open[case.state] = case
        else:
            self._open.pop(case.state, None)
        event = Judged(
            id=case.id,
            verdict=verdict,
            outcome=case.run.outcome,
            cost=case.cost,
            best=finding.best,
            gap=finding.judgement.gap,
            oracle=oracle,
            steps=case.run.steps,
            fault=finding.fault,
            reason=finding.reason,
            by_search=finding.by_search,
            limit=subject.lab.budget.over,
            effort=subject.lab.effort,
            at=round(time.perf_counter() - self._begin, 6),
        )
        # Ctrl-C waits until certificate, event and counts say the same.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
        try:
            self.record.write_down(event, finding.certificate, subject.lab.take_answers())
            self.tally.add(event)
            if verdict is Verdict.BUG:
                self._bugs[case.id] = (case, finding)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return event

    def _judge_again(self, subject: Subject[Any]) -> Iterator[Event]:
        """What was found out about one state may decide about states that were left open."""
        changed = subject.lab.changed
        while changed:
            case = self._open.get(changed.pop())
            if case is None:
                continue
            judgement = subject.panel.judge(case)
            if self._is_news(case, judgement):
                yield self._judge(subject, case, judgement, subject.lab.known(case.state))

    def _finished(self, subject: Subject[Any], clock: Clock) -> Finished:
        bugs = list(self._bugs.values())
        families = subject.families(bugs)
        regions = len({family.region for family in families})
        seconds = {
            "translate": self._translate_seconds,
            "fuzz": clock.fuzz,
            "policy": subject.meter.policy_seconds,
            "oracle": clock.oracle,
            "total": self._now(),
            "cpu": _cpu_seconds() - self._cpu,
        }
        rounded = {name: round(value, 6) for name, value in seconds.items()}
        return Finished(
            **self.tally.counts(),
            families=families,
            bug_regions=regions,
            limits_hit=tuple(sorted(subject.lab.limits_hit)),
            effort=subject.lab.effort,
            seconds=rounded,
            at=self._now(),
            **subject.summary(bugs),
        )

    def tell(self, event: Event) -> None:
        """Takes an event that comes up while the next case is made."""
        self._told.append(event)

    def _tell(self, subject: Subject[Any]) -> Iterator[Event]:
        """What others had to say meanwhile."""
        while self._told:
            event = self._told.pop(0)
            if not isinstance(event, Started):  # that is the start
                event = replace(event, at=self._now(), effort=subject.lab.effort)
            yield self._recorded(event)

    def _recorded(self, event: Event) -> Event:
        if not isinstance(event, PoolGrown):  # the pool has a file of its own
            self.record.event(event)
        self.tally.add(event)
        return event

    def _now(self) -> float:
        return round(time.perf_counter() - self._begin, 6)

    def open_task(self, budget: Budget) -> TaskSubject:
        """The policy on a classical task."""
        config = self.config
        bench = set_up(
            config,
            budget,
            task=self.task,
            policy=self.policy,
            parts=self.parts,
            unit_cost_asked=self.record.unit_cost_asked if self.resume else None,
        )
        task, self.host = bench.task, bench.host
        self._translate_seconds = time.perf_counter() - self._begin
        digest = hashlib.sha256(task.sas.encode()).hexdigest()
        digests = {"task_sha256": digest, "objective": bench.objective.name}
        self.begin_record(digests, _files(task), unit_cost=bench.unit_cost)
        self._told += [
            self.started(config.oracle),
            *(Warned(text=text, at=self._now()) for text in bench.warnings),
        ]
        if config.extend and config.seconds is None:
            text = "`extend` is for what is left of a limited time; without `seconds` it changes nothing"
            self._told.append(Warned(text=text, at=self._now()))
        effort, is_extended = self._effort()
        known: list[PoolEntry] = []
        if self.resume:
            known = read_entries(self.record.store.lines(POOL), task, where=self.record.where)
            self.record.store.cut(POOL, len(known))
        share = 1.0 if config.interleave else 0.5  # the other half is for the oracles
        lab = Lab(
            task=task,
            graph=bench.graph,
            budget=budget,
            max_steps=config.longest_run,
            seed=config.seed,
            is_extended=is_extended,
            memory=self.record,
            proofs=self.record.proofs(),
        )
        subject = TaskSubject(
            lab=lab,
            policy=bench.policy,
            pool=bench.pool(budget.part(share=share), known=known),
            oracles=bench.oracles,
            objective=bench.objective,
            interleave=config.interleave,
            gap=config.gap,
            effort=effort,
            recheck=config.recheck,
            faults=config.faults,
            confidence=config.confidence,
            until_width=config.until_width,
            keep=PoolKeeper(partial(self.record.store.append, POOL), already=len(known)).keep,
        )
        if self.jobs > 1:
            spare = None if config.memory_mb is None else config.memory_mb / 2
            spending = Budget(seconds=budget.seconds_left, growth_mb=spare, stop=StopFlag())
            lab.helpers = subject.helpers = self._helpers = Ahead(
                lab,
                subject.panel,
                bench.oracles,
                jobs=self.jobs,
                budget=spending,
                faults=config.faults,
                places=self.places,
            )
        return subject

    def _effort(self) -> tuple[float, bool]:
        """How many times their own effort oracles may spend, and whether they go on while there is time.

        A test that an older version began goes on as it went: a limit of time was used up, unless the configuration
        said otherwise, and without a limit nothing was spent beyond the oracles' own effort.
        """
        config, is_limited = self.config, self.config.seconds is not None
        if not self.resume or "effort" in self.record.environment():
            return config.effort, config.extend and is_limited
        is_open = is_limited or len(self.record.answers) > 0
        return 1.0, is_open and self.record.extended_by_default()

    def begin_record(self, digests: dict[str, str], files: dict[str, str], **changes: Any) -> None:
        """Writes what is tested, or makes sure that it is what the record to be resumed is about."""
        config = self.config
        self._about = {"task": config.subject, "policy": config.policy, "seed": config.seed}
        if self.record.path is not None:
            self._replay = command("replay", self.record.path)
        if self.resume:
            self.record.check_same(config.absolute(**changes), digests)
            self.record.resume()
            return
        environment: dict[str, object] = {
            "misstep": __version__,
            "seed": config.seed,
            "effort": config.effort,
            **digests,
        }
        if not config.is_safety:
            environment[UNIT_COST_ASKED] = config.unit_cost
        self.record.begin(
            config.absolute(**changes).to_toml(),
            environment=environment,
            files=files,
            policy=config.policy if self.policy is None else None,
        )

    def started(self, oracles: tuple[str, ...]) -> Started:
        """The first event."""
        config = self.config
        kind = "model" if config.is_safety else "task"
        return Started(
            task=config.subject, policy=config.policy, seed=config.seed, oracles=oracles, kind=kind
        )


def _cpu_seconds() -> float:
    """What this process and the ended ones that it started have used."""
    return sum(os.times()[:4])


def _files(task: Task) -> dict[str, str]:
    """What makes a record complete: the task as it was tested, and the PDDL that policies look at."""
    files = {TASK: task.sas}
    if task.problem is not None:
        files |= {DOMAIN: task.problem.domain.source.text, PROBLEM: task.problem.source.text}
    return files
