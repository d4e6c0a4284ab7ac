"""Session: a test from start to end, as a stream of events. The only place that puts the pieces together.

    task -> fuzz -> cases -> run -> claims -> judge -> findings -> record

Everything that an event reports is in the record before the event is seen.
"""

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from misstep._core import PolicyGraph, StopFlag
from misstep._version import __version__
from misstep.answers.guard import guarded
from misstep.budget import Budget
from misstep.config import Config
from misstep.errors import InputError
from misstep.events import Event, Finished, Judged, Started, Warned
from misstep.fuzz import Fuzz
from misstep.judge import Verdict
from misstep.lab import Lab
from misstep.loading import load_task
from misstep.oracle import AnyCase, make_oracles
from misstep.plugins import make_part
from misstep.policy import Policy, PolicyPart, make_policy_part, wants_unit_cost
from misstep.pool import PoolEntry, read_entries, read_pool
from misstep.record.record import POOL, TASK, Record
from misstep.subject import Clock, Finding, Subject
from misstep.tally import Tally
from misstep.task import Task
from misstep.task_subject import TaskSubject


@dataclass(slots=True)
class Session:
    """One test of one policy. Iterate over `events`; `tally` is true at any moment.

    `task` and `policy` stand in for what the configuration names, for callers who have them at hand. With
    `resume` the record goes on where it was stopped, to the result of an undisturbed test.
    """

    config: Config
    task: Task | None = None
    policy: Policy | PolicyPart | None = None
    record: Record = field(default_factory=Record.in_memory)
    resume: bool = False
    stop: StopFlag | None = None
    tally: Tally = field(default_factory=Tally)
    _begin: float = 0.0
    _translate_seconds: float = 0.0
    _told: list[Event] = field(default_factory=list)
    _open: dict[Any, AnyCase] = field(default_factory=dict)
    """Cases whose verdict is unknown so far, by state."""
    _bugs: dict[int, tuple[AnyCase, Finding]] = field(default_factory=dict)

    def events(self) -> Iterator[Event]:
        """Runs the test; ends early where the budget is spent. The last event sums up."""
        self._begin = time.perf_counter()
        config = self.config
        budget = Budget(seconds=config.seconds, memory_mb=config.memory_mb, stop=self.stop)
        clock = Clock()
        subject = self._subject(budget)
        try:
            yield from self._all(subject, clock)
        except KeyboardInterrupt:
            subject.knowledge.limits_hit.add("interrupted")
            self._recorded(self._finished(subject, clock))
            raise
        if budget.over is not None:
            subject.knowledge.limits_hit.add(budget.over)
        yield self._recorded(self._finished(subject, clock))

    def _all(self, subject: Subject[Any], clock: Clock) -> Iterator[Event]:
        yield from self._tell()
        cases = subject.cases(clock, self._told.append)
        while (case := next(cases, None)) is not None:
            yield from self._tell()
            if subject.knowledge.budget.is_over and self.tally.judged:
                break
            begin, policy = time.perf_counter(), subject.policy_seconds
            subject.panel.test(case)
            event = self._judge(subject, case)
            clock.oracle += time.perf_counter() - begin - (subject.policy_seconds - policy)
            yield event
            yield from self._judge_again(subject)
        yield from self._tell()

    def _judge(self, subject: Subject[Any], case: AnyCase) -> Event:
        """Explains, certifies and records what follows from all that is known about a case."""
        finding = subject.find(case, subject.panel.judge(case), self._about(case.id))
        verdict, certificate = finding.judgement.verdict, finding.certificate
        if verdict is Verdict.BUG:
            self._bugs[case.id] = (case, finding)
        if verdict is Verdict.UNKNOWN:
            self._open[case.state] = case
        elif certificate is not None:
            if verdict is Verdict.BUG:
                self.record.bug(str(case.id), certificate)
            else:
                self.record.cleared(certificate)
        known = subject.knowledge
        return self._recorded(
            Judged(
                id=case.id,
                verdict=verdict,
                outcome=case.run.outcome,
                cost=case.cost,
                best=known.best(case.state),
                gap=finding.judgement.gap,
                oracle=subject.panel.credited(case, finding.judgement),
                steps=case.run.steps,
                fault=finding.fault,
                reason=finding.reason,
                by_search=finding.by_search,
                limit=known.budget.over,
                effort=known.effort,
                at=self._now(),
            )
        )

    def _judge_again(self, subject: Subject[Any]) -> Iterator[Event]:
        """What was found out about one state may decide about states that were left open."""
        changed = subject.knowledge.changed
        while changed:
            case = self._open.get(changed.pop())
            if case is None or subject.panel.judge(case).is_open:
                continue
            del self._open[case.state]
            yield self._judge(subject, case)

    def _finished(self, subject: Subject[Any], clock: Clock) -> Finished:
        bugs = list(self._bugs.values())
        families = subject.families(bugs)
        seconds = {
            "translate": self._translate_seconds,
            "fuzz": clock.fuzz,
            "policy": subject.policy_seconds,
            "oracle": clock.oracle,
            "total": self._now(),
        }
        return Finished(
            **self.tally.counts(),
            families=families,
            bug_regions=len({family.region for family in families}),
            limits_hit=tuple(sorted(subject.knowledge.limits_hit)),
            effort=subject.knowledge.effort,
            seconds={name: round(value, 6) for name, value in seconds.items()},
            at=self._now(),
            **subject.summary(bugs),
        )

    def _tell(self) -> Iterator[Event]:
        """What others had to say meanwhile."""
        while self._told:
            yield self._recorded(self._told.pop(0))

    def _recorded(self, event: Event) -> Event:
        self.record.event(event)
        self.tally.add(event)
        return event

    def _now(self) -> float:
        return round(time.perf_counter() - self._begin, 6)

    def _about(self, number: int) -> dict[str, Any]:
        config = self.config
        about = {"id": str(number), "task": config.subject, "policy": config.policy, "seed": config.seed}
        if self.record.path is not None:
            about["replay"] = f"misstep replay {self.record.path} {number}"
        return about

    def _subject(self, budget: Budget) -> Subject[Any]:
        """Loads what is tested and begins the record."""
        if self.config.is_safety:
            from misstep.safety.subject import open_model  # the JANI side is loaded when it is needed

            return open_model(self, budget)
        return self._task_subject(budget)

    def _task_subject(self, budget: Budget) -> TaskSubject:
        config = self.config
        part = self._policy_part()
        unit_cost = config.unit_cost or wants_unit_cost(part)
        task = self.task or load_task(config.domain, config.problem, unit_cost=unit_cost, budget=budget)
        self._translate_seconds = time.perf_counter() - self._begin
        require_clear_names(task)
        policy = guarded(part.bind(task) if isinstance(part, PolicyPart) else part, task)
        graph = PolicyGraph(task, policy, recheck=config.recheck, seed=config.seed)
        lab = Lab(
            task=task,
            graph=graph,
            budget=budget,
            max_steps=config.max_steps,
            seed=config.seed,
            memory=self.record,
        )
        digest = hashlib.sha256(task.sas.encode()).hexdigest()
        self.begin_record({"task_sha256": digest}, {TASK: task.sas}, unit_cost=unit_cost)
        self._told.append(self.started(config.oracle))
        if unit_cost and not config.unit_cost:
            self._told.append(Warned(text="the policy was made for unit costs: every action counts as 1"))
        self._told += [Warned(text=text) for text in task.warnings]
        known = read_entries(self.record.store.lines(POOL), task, where=self.record.where) if self.resume else []
        self.record.store.cut(POOL, len(known))
        return TaskSubject(
            lab=lab,
            policy=policy,
            pool=self._pool(graph, task, budget, known),
            oracles=make_oracles(config.oracle),
            objective=make_part("objective", config.objective),
            interleave=config.interleave,
            gap=config.gap,
            write=lambda entry: self._write(entry, len(known)),
        )

    def _policy_part(self) -> Policy | PolicyPart:
        if self.policy is not None:
            return self.policy
        if not self.config.policy:
            raise InputError("there is no policy to test; give one as NAME:VALUE, such as asnet:FILE")
        return make_policy_part(self.config.policy)

    def _pool(
        self, graph: PolicyGraph, task: Task, budget: Budget, known: list[PoolEntry]
    ) -> Fuzz | list[PoolEntry]:
        config = self.config
        if config.pool_file is not None:
            return read_pool(config.pool_file, task)
        return Fuzz(
            graph,
            make_part("fuzzer", config.fuzzer or "refined"),
            make_part("bias", config.bias),
            seed=config.seed,
            size=config.pool,
            budget=budget.part(share=1.0 if config.interleave else 0.5),  # the other half is for the oracles
            known=known,
        )

    def _write(self, entry: PoolEntry, already: int) -> None:
        if entry.id >= already:
            self.record.store.append(POOL, entry.as_json())

    def begin_record(self, digests: dict[str, str], files: dict[str, str], **changes: Any) -> None:
        """Writes what is tested, or makes sure that it is what the record to be resumed is about."""
        if self.resume:
            before = self.record.environment()
            if any(before.get(name) != value for name, value in digests.items()):
                raise InputError(f"{self.record.where}: what was tested has changed; start a new record")
            self.record.resume()
            return
        environment = {"misstep": __version__, "seed": self.config.seed, **digests}
        self.record.begin(
            self.config.absolute().replace(**changes), environment=environment, files=files
        )

    def started(self, oracles: tuple[str, ...]) -> Started:
        """The first event."""
        config = self.config
        return Started(task=config.subject, policy=config.policy, seed=config.seed, oracles=oracles)


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
