"""A policy on a JANI model as a subject of tests: unsafe runs, their states, faults, certificates."""

import hashlib
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from misstep._core import Budget
from misstep.errors import InputError, PolicyError
from misstep.events import Family, Misstep, Ran, Warned
from misstep.judge import Judgement, Verdict
from misstep.lab import Known
from misstep.oracle import Panel
from misstep.plugins import make_part
from misstep.record.record import MODEL
from misstep.safety.certificate import make_certificate
from misstep.safety.evidence import question_digest
from misstep.safety.exam import how_it_ended, no_decision
from misstep.safety.fuzzers import BoundFuzzer, SafetyFuzzerPart
from misstep.safety.isolated import OpenedPolicy, open_function, open_policy
from misstep.safety.lab import DeciderOracle, DeciderPart, Fault, ModelCase, ModelLab, ModelRun, ModelState
from misstep.safety.model import SafetyTask, load_model
from misstep.safety.policy import PolicyFunction, policy_part
from misstep.safety.recheck import Remembered
from misstep.safety.shield import Shield, ShieldReport, measure
from misstep.statistics import CONFIDENCE, rate_bounds, running_bounds
from misstep.subject import UNTIL_WIDTH, Clock, Finding, Tell

if TYPE_CHECKING:
    from misstep.session import Session

DEFAULT_FUZZER = "greedy"
# A policy that fails in so many runs, and in none of them answers, is given up.
_FAILURES = 10
_LIMITS = ("seconds", "memory", "stopped", "expansions")


class NoClock:
    """Policies are asked inside the native game, which does not look at the clock."""

    policy_seconds = 0.0


@dataclass(slots=True, kw_only=True)
class ModelSubject:
    """One policy on one model. A case is a state on an unsafe run, from the end of the run to its start."""

    lab: ModelLab
    fuzzer: BoundFuzzer
    runs: int
    start_states: int
    max_steps: int
    seed: int
    shield: bool = False
    confidence: float = CONFIDENCE
    until_width: float | None = None
    """The test ends when the rate of unsafe runs is known this closely."""
    remembered: Remembered | None = None
    """Asks functions again at the end; networks are not random."""
    write: Callable[[dict[str, Any]], None] = lambda block: None
    """Keeps evidence; called before the certificates that refer to it are made."""
    panel: Panel[ModelState, ModelCase] = field(init=False)
    meter: NoClock = field(default_factory=NoClock)
    outcomes: Counter[str] = field(default_factory=Counter)
    """How many runs ended in which way."""
    _unanswered: int = 0
    """Of them, those that say nothing of the policy."""
    _raised: int = 0
    """Of these, those in which asking it failed."""
    _shield: ShieldReport | None = None
    _cases: int = 0
    _faults: dict[int, Fault] = field(default_factory=dict)

    def __post_init__(self) -> None:
        objective = make_part("objective", "quantitative")  # safe costs nothing, unsafe costs infinity
        self.panel = Panel(self.lab, [(self.lab.name, DeciderOracle(self.lab))], objective=objective)

    @property
    def size(self) -> int:
        """An unsafe run is worth a case or more; that there are more is of no matter to one decider."""
        return self.runs

    def cases(self, clock: Clock, tell: Tell, /) -> Iterator[ModelCase]:
        """Draws runs of the policy; the states of unsafe ones that were no case before."""
        lab, rng = self.lab, random.Random(self.seed)
        starts = lab.task.start_states(lab.game, count=self.start_states, seed=self.seed, budget=lab.budget)
        for number in range(self.runs):
            begin = time.perf_counter()
            outcome, run, why = self._run(starts[rng.randrange(len(starts))], tell)
            clock.fuzz += time.perf_counter() - begin
            if outcome in _LIMITS:  # with more time it would be another run
                lab.limits_hit.add(outcome)
                return
            ran = Ran(run=number, outcome=outcome, steps=len(run) - 1, **why)
            self.outcomes[outcome] += 1
            self._unanswered += ran.is_unanswered
            tell(ran)
            if outcome == "unsafe":
                yield from self._on_run(run)
            if self._raised == self.outcomes.total() == _FAILURES:
                lab.limits_hit.add("policy")
                return
            if self.until_width is not None and self._is_narrow(self.until_width):
                lab.limits_hit.add(UNTIL_WIDTH)
                break
        if self.remembered is not None and (warning := self.remembered.ask_again(lab.budget)):
            tell(Warned(text=warning))
        if self.shield:
            self._shield = self._behind_shield(starts)

    def find(
        self,
        case: ModelCase,
        judgement: Judgement,
        known: Known[ModelState],
        about: Mapping[str, Any],
        /,
    ) -> Finding:
        """The fault, if the decision in this very state is one, and the certificate."""
        s = case.state.number
        fault = None
        if judgement.verdict is not Verdict.CLEARED:
            fault = self.lab.fault(s, self.lab.book.following[s])
        if fault is not None:
            self._faults[s] = fault
            lost = self.lab.claim(self.lab.state(fault.outcome))
            if lost is not None:
                self.lab.enter(lost)
        if (block := self.lab.book.block()) is not None:
            self.write(block)
        certificate = None
        if judgement.verdict is not Verdict.UNKNOWN:
            certificate = make_certificate(
                self.lab.book,
                self.lab.task,
                self.lab.game,
                s,
                verdict=str(judgement.verdict),
                fault=fault,
                **about,
            )
        return Finding(
            judgement=judgement,
            best=known.bound,
            fault=None if fault is None else self._misstep(fault),
            certificate=certificate,
        )

    def families(self, bugs: list[tuple[ModelCase, Finding]], /) -> tuple[Family, ...]:
        """Bugs whose runs leave the safe states by the same action, with the same one being safe."""
        groups: dict[tuple[str | None, str | None], list[ModelCase]] = {}
        for case, _ in bugs:
            fault = self._fault_ahead(case.state.number)
            misstep = None if fault is None else self._misstep(fault)
            key = (None, None) if misstep is None else (misstep.action, misstep.better)
            groups.setdefault(key, []).append(case)
        found = [
            Family(
                outcome="unsafe",
                schema=action,
                region=0,
                members=tuple(case.id for case in cases),
                representative=min(cases, key=lambda case: (case.run.steps, case.id)).id,
            )
            for (action, _), cases in groups.items()
        ]
        return tuple(sorted(found, key=lambda family: (-len(family.members), family.representative)))

    def summary(self, bugs: list[tuple[ModelCase, Finding]], /) -> dict[str, Any]:
        """How runs ended, what the deciders and the shield did."""
        extra: dict[str, Any] = {
            "outcomes": dict(sorted(self.outcomes.items())),
            "has_goal": self.lab.task.files.goal is not None,
            "possible_faults": len(self.lab.possible_faults),
            "out_of_bounds": self.lab.game.out_of_bounds,
            "expanded": self.lab.decider.expanded,
        }
        if self.remembered is not None:
            extra["recheck"] = self.remembered.as_json()
        if self._shield is not None:
            extra["shield"] = self._shield.as_json()
        if not self.outcomes:
            return {"extra": extra}
        rate = rate_bounds(*self._counts(), confidence=self.confidence)
        return {"extra": extra, "bug_rate": tuple(rate), "confidence": self.confidence}

    def _counts(self) -> tuple[int, int, int]:
        """Unsafe runs, other runs, and runs in which the policy gave no usable answer."""
        unsafe, failed = self.outcomes["unsafe"], self._unanswered
        return unsafe, self.outcomes.total() - unsafe - failed, failed

    def _is_narrow(self, width: float) -> bool:
        return running_bounds(*self._counts(), confidence=self.confidence).width <= width

    def _run(self, start: int, tell: Tell) -> tuple[str, list[int], dict[str, Any]]:
        """A run, its outcome in words that do not depend on the fuzzer, and why and where there was no decision."""
        try:
            end, run = self.fuzzer.run(start, budget=self.lab.budget)
        except PolicyError as error:
            if not self._raised:
                tell(Warned(text=str(error)))
            self._raised += 1
            return "failed", [start], {"reason": str(error)}
        task, game, s = self.lab.task, self.lab.game, run[-1]
        outcome = how_it_ended(game, end, run)
        if outcome not in ("failed", "stuck"):
            return outcome, run, {}
        return outcome, run, {"reason": no_decision(task, game, s), "state": task.state(game, s)}

    def _on_run(self, run: list[int]) -> Iterator[ModelCase]:
        book = self.lab.book
        for s, following in zip(reversed(run[:-1]), reversed(run), strict=False):
            if s not in book.following:
                book.add_step(s, following)
                case = ModelCase(self._cases, self.lab.state(s), ModelRun(book.steps[s]))
                self._cases += 1
                yield case

    def _fault_ahead(self, s: int) -> Fault | None:
        """The first fault on the run from a state on."""
        following = self.lab.book.following
        while s in following:
            if s in self._faults:
                return self._faults[s]
            s = following[s]
        return None

    def _misstep(self, fault: Fault) -> Misstep:
        labels = self.lab.task.labels
        return Misstep(step=0, action=labels[fault.action], better=labels[fault.alternative])

    def _behind_shield(self, starts: list[int]) -> ShieldReport:
        """How the policy does behind a shield; a limit of the test ends that, too."""
        lab = self.lab
        shielded = ModelLab(
            task=lab.task,
            game=lab.game,
            decider=lab.decider,
            horizon=lab.horizon,
            max_expansions=lab.max_expansions,
            budget=lab.budget,
        )
        return measure(Shield(shielded), starts, runs=self.runs, max_steps=self.max_steps, seed=self.seed)


def open_model(session: "Session", budget: Budget) -> ModelSubject:
    """Loads the model and the policy that a session names, and begins its record."""
    task = load_model(session.config)
    opened, digests = _policy(session, task, budget)
    config = session.config
    digests["model_sha256"] = hashlib.sha256(task.files.model.encode()).hexdigest()
    part: DeciderPart = make_part("decider", config.decider)
    fuzzer: SafetyFuzzerPart = make_part("safety-fuzzer", config.fuzzer or DEFAULT_FUZZER)
    game = task.game(opened.policy, horizon=config.horizon)
    lab = ModelLab(
        task=task,
        game=game,
        decider=part.bind(game),
        name=part.name,
        budget=budget,
        seed=config.seed,
        radius=config.radius,
        horizon=config.horizon,
        max_expansions=part.max_expansions,
    )
    digests["question_sha256"] = question_digest(lab.book.question)
    session.begin_record(digests, {MODEL: task.files.model})
    session.record.evidence(lab.book.header)
    session.tell(session.started((config.decider,)))
    return ModelSubject(
        lab=lab,
        fuzzer=fuzzer.bind(game, max_steps=config.longest_run, seed=config.seed),
        runs=config.runs,
        start_states=config.start_states,
        max_steps=config.longest_run,
        seed=config.seed,
        shield=config.shield,
        confidence=config.confidence,
        until_width=config.until_width,
        remembered=opened.remembered,
        write=session.record.evidence,
    )


def _policy(session: "Session", task: SafetyTask, budget: Budget) -> tuple[OpenedPolicy, dict[str, str]]:
    """The policy: an object, the one that the configuration names, or the one that the property names."""
    config = session.config
    if session.policy is not None:
        if not callable(session.policy):
            raise InputError(
                "a policy for a JANI model is a text or a function of (state, applicable labels)"
            )
        return open_function(cast(PolicyFunction, session.policy), task), {}
    if not config.policy:
        network = task.files.network
        if network is None or not network.is_file():
            raise InputError(
                f"{task.files.file}: there is no policy to test; give one with --policy, such as nnet:FILE"
            )
        session.config = config = config.replace(policy=f"nnet:{network.resolve()}")
    part = policy_part(config.policy)
    opened = open_policy(config, task, budget=budget)
    session.host = opened.host
    digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in part.files]
    return opened, {"policy_sha256": " ".join(digests)} if digests else {}
