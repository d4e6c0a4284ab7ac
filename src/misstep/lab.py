"""Lab: what is known about a policy on its task, and the one door through which claims come in."""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Protocol, TypeVar, cast

from misstep._core import Action, Heuristic, PolicyGraph, Run, SearchResult, State
from misstep.bound import NEVER, Bound
from misstep.budget import Budget
from misstep.claim import (
    Claim,
    DeadEnd,
    Exhausted,
    Found,
    Landmarks,
    Plan,
    StateT,
    landmark_claim,
    names,
    plan_claim,
    search_claim,
)
from misstep.errors import InputError, MisstepError
from misstep.pool import PoolEntry
from misstep.proof import ProofLog, Prover, Surrounded
from misstep.task import Task, actions_named

T = TypeVar("T")


class UnsoundClaim(MisstepError):
    """An oracle claimed what is not so: a defect of the oracle, never of the policy."""


class Learner(Protocol[StateT]):
    """Somebody who makes use of what others claim (Algorithm 5 of Eisenhut et al. 2023)."""

    def learn(self, claim: Claim[StateT], /) -> Iterable[Claim[StateT]]:
        """What follows from somebody else's claim."""
        ...


class Memory(Protocol):
    """What oracles said before a test was stopped, in the order in which they were asked."""

    @property
    def answers(self) -> Sized:
        """What is left of it."""
        ...

    def recall(self, key: str, /) -> dict[str, Any] | None:
        """The answer to this question, where it was asked before; each answer is recalled once."""
        ...


class Helpers(Protocol):
    """Threads that do work before it is asked for (ahead.py)."""

    def take(self, key: Hashable, make: Callable[[], T], /, *, is_fixed: bool = False) -> T:
        """The result of the work, by whoever was first."""
        ...


_NOTHING = Bound()


@dataclass(slots=True)
class Known(Generic[StateT]):
    """What is known about one state; kept up to date for whoever holds it. `bound` changes only by news."""

    bound: Bound = _NOTHING
    upper: Claim[StateT] | None = None
    """The claim behind the upper bound."""
    lower: Claim[StateT] | None = None
    """The claim behind the lower bound."""


@dataclass(slots=True)
class Knowledge(Generic[StateT]):
    """All that is known about what is achievable, whoever found it out.

    Everybody who learns something calls `enter`: it checks the claim, keeps it where it says more than was
    known, tells those who can make use of it, and marks the state for judging again.
    """

    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    memory: Memory | None = None
    round: int = 0
    """Oracles are asked in rounds; from one to the next they may spend more."""
    is_extended: bool = False
    """Whether more than the usual effort is spent, as long as there is time."""
    scale: float = 1.0
    """What an oracle may spend on one question in this round, as a share of its own effort."""
    turn: Budget = field(default_factory=Budget)
    """What may be spent on the state that is looked at just now: a part of the budget, by whoever asks."""
    effort: float = 0.0
    """Counted work of oracles so far, in units that are the same on every machine."""
    limits_hit: set[str] = field(default_factory=set)
    """`oracle: limit` for every limit that kept an oracle from saying more."""
    changed: set[StateT] = field(default_factory=set)
    """States of which more is known than before; whoever judges states again empties it."""
    learners: list[Learner[StateT]] = field(default_factory=list)
    helpers: Helpers | None = None
    """Those who work on what comes next meanwhile, where there are any."""
    _known: dict[StateT, Known[StateT]] = field(default_factory=dict)
    _shared: dict[object, object] = field(default_factory=dict)
    _answers: list[tuple[str, list[Claim[StateT]], float, list[str]]] = field(default_factory=list)
    _limits_told: set[str] = field(default_factory=set)
    """Limits that answers have told of; each is told once."""
    _speaker: object = None
    _heard: list[Claim[StateT]] | None = None
    """What the one who is asked just now has claimed so far; not what others made of it."""

    def shared(self, key: Hashable, make: Callable[[], T], *, is_fixed: bool = False) -> T:
        """What is made once for all oracles, such as a heuristic or a dominance function.

        What `is_fixed` never changes, not even inside, so that several threads may use it at the same time.
        """
        if key not in self._shared:
            helpers = self.helpers if is_fixed else None
            self._shared[key] = make() if helpers is None else helpers.take(key, make, is_fixed=True)
        return cast(T, self._shared[key])

    def work(self, key: Hashable, make: Callable[[], T]) -> T:
        """Does heavy work, unless a helper has done it already, or is at it.

        The key says all that the result depends on, but for the time and memory that may be spent. `make`
        does nothing but that work: it neither reads what is known nor enters a claim.
        """
        return make() if self.helpers is None else self.helpers.take(key, make)

    def spend(self, effort: float) -> None:
        """Counts work."""
        self.effort += effort

    def enter(self, claim: Claim[StateT]) -> bool:
        """Takes a claim in; whether it says more than was known. Raises UnsoundClaim where it cannot hold."""
        self.check(claim)
        if not self._take(claim):
            return False
        self.changed.add(claim.state)
        if self._heard is not None:
            self._heard.append(claim)
        self._tell(claim)
        return True

    def check(self, claim: Claim[StateT]) -> None:
        """Raises UnsoundClaim where the evidence does not hold; kinds of tasks know how to look at it."""

    def consult(
        self,
        key: str,
        ask: Callable[[], Iterable[Claim[StateT]]],
        *,
        speaker: object = None,
        about: StateT | None = None,
        enough: Callable[[], bool] | None = None,
        restore: Callable[[], None] | None = None,
    ) -> None:
        """Asks somebody until that is `enough`, or lets the answer of an earlier session stand for it.

        Whether it is enough is asked where more became known `about` a state. `restore` brings somebody who
        keeps notes to where the answer left it. An answer that the budget cut short is not kept: it would be
        another one with more time.
        """
        before, self._speaker, self._heard = self._speaker, speaker, []
        told = None if self.memory is None or not self.memory.answers else self.memory.recall(key)
        try:
            if told is not None:
                self._repeat(told, restore)
                return
            known = Known[StateT]() if about is None else self.known(about)
            for claim in ask():
                bound = known.bound
                self.enter(claim)
                news = known.bound is not bound
                if self.budget.is_over or (news and enough is not None and enough()):
                    break
            if self.memory is not None and not self.budget.is_over:
                limits = sorted(self.limits_hit - self._limits_told)
                self._limits_told.update(limits)
                self._answers.append((key, self._heard, self.effort, limits))
        finally:
            self._speaker, self._heard = before, None

    def best(self, state: StateT) -> Bound:
        """The tightest known bounds on the best achievable value."""
        known = self._known.get(state)
        return _NOTHING if known is None else known.bound

    def known(self, state: StateT) -> Known[StateT]:
        """All that is known of a state, now and later."""
        return self._known.setdefault(state, Known())

    def upper(self, state: StateT) -> Claim[StateT] | None:
        """The claim behind the upper bound."""
        known = self._known.get(state)
        return None if known is None else known.upper

    def lower(self, state: StateT) -> Claim[StateT] | None:
        """The claim behind the lower bound."""
        known = self._known.get(state)
        return None if known is None else known.lower

    def take_answers(self) -> list[dict[str, Any]]:
        """What was found out since this was called last, for a test that goes on later."""
        answers = [
            {
                "key": key,
                "claims": [self.write_claim(claim) for claim in heard],
                "effort": effort,
                "limits_hit": limits_hit,
            }
            for key, heard, effort, limits_hit in self._answers
        ]
        self._answers.clear()
        return answers

    def write_claim(self, claim: Claim[StateT]) -> dict[str, Any]:
        """A claim as plain data that `read_claim` takes; needed only where there is a memory."""
        raise TypeError(f"{type(self).__name__} does not write claims")

    def read_claim(self, line: dict[str, Any]) -> Claim[StateT]:
        """The claim that was written so."""
        raise TypeError(f"{type(self).__name__} does not read claims")

    def _take(self, claim: Claim[StateT]) -> bool:
        """Keeps a claim where it says more than was known."""
        known = self.known(claim.state)
        lo, hi = claim.bound.lo, claim.bound.hi
        if not 0 <= lo <= hi:  # also false for NaN
            raise UnsoundClaim(f"{claim.oracle}: no value lies between {lo} and {hi}")
        is_upper = hi < known.bound.hi
        # Landmarks of value 0 are kept too: that there are none is worth knowing once.
        is_lower = lo > known.bound.lo or (known.lower is None and isinstance(claim.evidence, Landmarks))
        if is_upper:
            known.upper = claim
        if is_lower:
            known.lower = claim
        if is_upper or lo > known.bound.lo:
            known.bound = Bound(max(lo, known.bound.lo), min(hi, known.bound.hi))
        if known.upper and known.lower and known.bound.lo > known.bound.hi:
            raise UnsoundClaim(
                f"in the state {claim.state} {known.lower.oracle} claims a value of at least "
                f"{known.bound.lo:g}, {known.upper.oracle} one of at most {known.bound.hi:g}; "
                "one of them has a defect: please report it"
            )
        return is_upper or is_lower

    def _tell(self, claim: Claim[StateT]) -> None:
        """What learners make of a claim comes in by the same door; it is theirs, not the speaker's."""
        heard, self._heard = self._heard, None
        for learner in self.learners:
            if learner is not self._speaker:
                speaker, self._speaker = self._speaker, learner
                for following in learner.learn(claim):
                    self.enter(following)
                self._speaker = speaker
        self._heard = heard

    def _repeat(self, told: dict[str, Any], restore: Callable[[], None] | None) -> None:
        if restore is not None:
            restore()
        for line in told["claims"]:
            try:
                claim = self.read_claim(line)
            except MisstepError:
                raise
            except Exception as error:  # whatever somebody put there
                raise InputError(
                    f"what an oracle said before the test was stopped cannot be read ({error!r:.100}); "
                    "start a new record"
                ) from None
            self.enter(claim)
        self.effort = told["effort"]
        self.limits_hit |= set(told["limits_hit"])
        self._limits_told |= set(told["limits_hit"])


_DEFAULT_STEPS = 10_000
# The oracle that is credited with what LM-cut says.
_LANDMARKS = "landmarks"


@dataclass(slots=True, kw_only=True)
class Lab(Knowledge[State]):
    """What is known about one policy on one classical task.

    Every plan that is claimed is replayed before it counts, and bounds that contradict each other raise
    `UnsoundClaim`: an oracle with a defect cannot make a false bug.
    """

    task: Task
    graph: PolicyGraph
    max_steps: int = _DEFAULT_STEPS
    """Of one policy run."""
    lookups: list[Callable[[State], Claim[State] | None]] = field(default_factory=list)
    """Lower bounds that are looked up, such as those of an abstraction; whoever has one adds it."""
    entries: dict[int, PoolEntry] = field(default_factory=dict)
    """The pool so far, by id."""
    proofs: ProofLog = field(default_factory=ProofLog)
    """What certificates and answers refer to; a proof is written there before they are."""
    _by_state: dict[State, PoolEntry] = field(default_factory=dict)
    _cuts: dict[State, int] = field(default_factory=dict)
    """How many landmarks LM-cut finds."""

    @property
    def prover(self) -> Prover:
        """What all oracles prove with, so that functions are written once."""
        return self.shared("prover", lambda: Prover(self.task))

    def run(self, states: Sequence[State]) -> list[Run]:
        """The policy's runs; fewer than states where the budget ran out."""
        return self.graph.run(self.task.batch(list(states)), max_steps=self.max_steps, budget=self.budget)

    def policy_cost(self, run: Run) -> Bound:
        """What a run proves about the policy's cost. A run that was cut off may count on landmarks ahead."""
        if run.outcome != "cut-off":
            return policy_cost(run)
        return policy_cost(run, rest=self.claim_landmarks(run.states[-1]).lo)

    def claims_of(self, state: State, found: Found, search: str, oracle: str) -> Iterator[Claim[State]]:
        """The plan and the lower bound that a search found; the bound with a proof, where it kept one."""
        if found.outcome == "solved":
            yield plan_claim(state, found.plan, oracle)
        if found.lower_bound > 0:
            proof = self.prover.frontier(found) if isinstance(found, SearchResult) else None
            if proof is not None:
                yield Claim(state, Bound(proof.bound), proof, oracle)
            else:
                yield search_claim(state, found.lower_bound, search, found.expanded, oracle)

    def claims_along(
        self, claim: Claim[State], path: Sequence[Action], oracle: str
    ) -> Iterator[Claim[State]]:
        """What a proof about a state says of test states further down a path: no search there is needed."""
        proof, state, spent = claim.evidence, claim.state, 0
        if not isinstance(proof, Surrounded) or proof.bound == math.inf:
            return
        for action in path:
            state, spent = self.task.apply(state, action), spent + action.cost
            if spent < proof.bound and self.is_in_pool(state):
                yield Claim(state, Bound(proof.bound - spent), proof.further_on(spent), oracle)

    def look_up(self, state: State) -> None:
        """Makes sure that all is known of a state that is to be had for next to nothing."""
        self.claim_landmarks(state)
        for look in self.lookups:
            if (claim := look(state)) is not None:
                self.enter(claim)

    def claim_landmarks(self, state: State) -> Bound:
        """Makes sure that what LM-cut says of a state is known, and returns what is known."""
        if self.lower(state) is None:
            self.enter(self._landmarks(state, _LANDMARKS))
        return self.best(state)

    def evaluation_effort(self, state: State) -> float:
        """What LM-cut takes for a state, in units that are the same on every machine."""
        if state not in self._cuts:
            self.claim_landmarks(state)
        if state not in self._cuts:  # what was known of it without landmarks
            self._landmarks(state, _LANDMARKS)
        return float((self._cuts[state] + 1) * (len(self.task.actions) + 1))

    def expansion_effort(self, state: State) -> float:
        """What an expansion of A* with LM-cut takes near a state, in the same units."""
        return self.evaluation_effort(state) * (len(self.task.applicable(state)) + 1)

    def add_to_pool(self, entries: Iterable[PoolEntry]) -> None:
        """Makes pool entries known, so that oracles can follow origins."""
        for entry in entries:
            self.entries[entry.id] = entry
            self._by_state[entry.state] = entry

    def is_in_pool(self, state: State) -> bool:
        """Whether the state is a test state; claims about others are of little interest."""
        return state in self._by_state

    def entry(self, number: int | None) -> PoolEntry | None:
        """A pool entry by its id."""
        return None if number is None else self.entries.get(number)

    def plan(self, state: State) -> tuple[Action, ...] | None:
        """The cheapest known plan of a state."""
        claim = self.upper(state)
        return claim.evidence.actions if claim and isinstance(claim.evidence, Plan) else None

    def check(self, claim: Claim[State]) -> None:
        """Replays plans; refuses evidence that nobody could check later, and bounds beyond the evidence."""
        evidence, bound = claim.evidence, claim.bound
        if not 0 <= bound.lo <= bound.hi:  # also false for NaN
            raise UnsoundClaim(f"oracle `{claim.oracle}`: no value lies between {bound.lo} and {bound.hi}")
        if isinstance(evidence, Plan):
            self._replay(claim, evidence.actions)
            proves = Bound(0, bound.hi)
        elif isinstance(evidence, Landmarks):
            proves = Bound(sum(share for _, share in evidence.cuts))
        elif isinstance(evidence, DeadEnd):
            proves = NEVER
        elif isinstance(evidence, Surrounded):
            proves = Bound(evidence.bound)
        elif isinstance(evidence, Exhausted):
            proves = Bound(bound.lo)
        else:
            raise UnsoundClaim(
                f"oracle `{claim.oracle}`: evidence of the kind {evidence!r:.60} is not known to the "
                "checker; use Plan, Landmarks, DeadEnd, Surrounded or Exhausted of misstep"
            )
        if bound.lo > proves.lo or bound.hi < proves.hi:
            raise UnsoundClaim(
                f"oracle `{claim.oracle}` claims a cost of {bound} for {claim.state}, but evidence of the "
                f"kind {evidence.kind} proves {proves} at most; plans bound from above, landmarks, dead ends "
                "and searches from below: make a claim for each"
            )

    def write_claim(self, claim: Claim[State]) -> dict[str, Any]:
        """LM-cut's landmarks are not written: making them again takes less than reading them."""
        about: dict[str, Any] = {"state": claim.state.facts, "oracle": claim.oracle}
        if isinstance(claim.evidence, Plan):
            return {**about, "plan": names(claim.evidence.actions)}
        if isinstance(claim.evidence, Surrounded):
            self.proofs.keep(claim.evidence)
            return {**about, **claim.evidence.as_json(claim.bound)}
        if isinstance(claim.evidence, Exhausted) or claim.oracle != _LANDMARKS:
            return {**about, **claim.evidence.as_json(claim.bound)}
        return about

    def read_claim(self, line: dict[str, Any]) -> Claim[State]:
        """The claim that was written so."""
        state, oracle = self.task.state(line["state"]), line["oracle"]
        if "plan" in line:
            return plan_claim(state, actions_named(self.task, state, line["plan"]), oracle)
        if "search" in line:
            lo = float("inf") if line["value"] is None else line["value"]
            return Claim(state, Bound(lo), Exhausted(line["search"], line["expanded"]), oracle)
        if "landmarks" in line:
            cuts = ((map(self.task.clear_action, cut["actions"]), cut["share"]) for cut in line["landmarks"])
            evidence = Landmarks(tuple((tuple(actions), share) for actions, share in cuts))
            return Claim(state, Bound(line["value"]), evidence, oracle)
        if line.get("kind") == "frontier":
            proof = self.proofs.read(line)
            self.prover.remember(proof)
            return Claim(state, Bound(proof.bound), proof, oracle)
        if "kind" in line:
            return landmark_claim(state, None, oracle)
        return self._landmarks(state, oracle)

    def _landmarks(self, state: State, oracle: str) -> Claim[State]:
        heuristic = self.shared("lmcut", lambda: Heuristic(self.task, "lmcut"))
        cuts = self.work((_LANDMARKS, state), partial(heuristic.landmarks, state))
        self._cuts[state] = 0 if cuts is None else len(cuts)
        return landmark_claim(state, cuts, oracle)

    def _replay(self, claim: Claim[State], actions: Sequence[Action]) -> None:
        state = claim.state
        for step, action in enumerate(actions, start=1):
            try:
                state = self.task.apply(state, action)
            except MisstepError as error:
                raise UnsoundClaim(f"oracle `{claim.oracle}`: step {step} of its plan: {error}") from None
        if not self.task.is_goal(state):
            raise UnsoundClaim(
                f"oracle `{claim.oracle}`: its plan for {claim.state} does not end in a goal state"
            )
        if sum(action.cost for action in actions) > claim.bound.hi:
            raise UnsoundClaim(
                f"oracle `{claim.oracle}`: its plan for {claim.state} costs more than it claims"
            )


def policy_cost(run: Run, *, rest: float = 0.0) -> Bound:
    """What a run proves about the policy's cost; `rest` is an admissible estimate for where it was cut off.

    A loop, a dead end, no answer and an illegal one prove that the goal is never reached. Where
    the policy failed to answer, nothing is proven about what it would have done.
    """
    if run.outcome == "solved":
        return Bound(run.spent, run.spent)
    if run.outcome in ("cut-off", "failed"):
        return Bound(run.spent + rest, math.inf)
    return NEVER
