"""Lab: a task, the policy's runs on it and the tightest bounds known so far; all that an oracle may use."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from misstep._core import Action, Budget, Heuristic, PolicyGraph, Run, State
from misstep.bound import Bound, policy_cost
from misstep.claim import Claim, Landmarks, Plan, landmark_claim
from misstep.errors import MisstepError
from misstep.pool import PoolEntry
from misstep.task import Task

T = TypeVar("T")


class UnsoundClaim(MisstepError):
    """An oracle claimed what is not so: a defect of the oracle, never of the policy."""


@dataclass(slots=True)
class _Known:
    upper: Claim | None = None
    lower: Claim | None = None


@dataclass(slots=True)
class Lab:
    """What is known about one policy on one task.

    Every plan that is claimed is replayed before it counts, and bounds that contradict each other raise
    `UnsoundClaim`: an oracle with a defect cannot make a false bug.
    """

    task: Task
    graph: PolicyGraph
    max_steps: int = 10_000
    """Of one policy run."""
    budget: Budget = field(default_factory=Budget)
    """Of the whole test; oracles spend parts of it."""
    seed: int = 0
    limits_hit: set[str] = field(default_factory=set)
    """`oracle: limit` for every limit that kept an oracle from saying more."""
    changed: set[State] = field(default_factory=set)
    """States of which more is known than before; whoever judges states again empties it."""
    _known: dict[State, _Known] = field(default_factory=dict)
    _entries: dict[int, PoolEntry] = field(default_factory=dict)
    _by_state: dict[State, PoolEntry] = field(default_factory=dict)
    _shared: dict[object, object] = field(default_factory=dict)

    def shared(self, key: object, make: Callable[[], T]) -> T:
        """What is made once for all oracles, such as a heuristic or a dominance function."""
        if key not in self._shared:
            self._shared[key] = make()
        return cast(T, self._shared[key])

    def run(self, states: Sequence[State]) -> list[Run]:
        """The policy's runs; none where the budget was used up before."""
        batch = self.task.batch(list(states))
        runs = self.graph.run(batch, max_steps=self.max_steps, budget=self.budget)
        if self.graph.limit == "memory":
            self.limits_hit.add("runs: memory")
        return runs

    def policy_cost(self, run: Run) -> Bound:
        """What a run proves about the policy's cost. A run that was cut off may count on landmarks ahead."""
        if run.outcome != "cut-off":
            return policy_cost(run)
        return policy_cost(run, rest=self.claim_landmarks(run.states[-1]).lo)

    def claim_landmarks(self, state: State) -> Bound:
        """Makes sure that what LM-cut says of a state is known, and returns what is known."""
        known = self._known.get(state)
        if known is None or known.lower is None:
            heuristic = self.shared("lmcut", lambda: Heuristic(self.task, "lmcut"))
            cuts = heuristic.landmarks(state)
            self.add(landmark_claim(state, cuts, "landmarks"))
        return self.best(state)

    def evaluation_effort(self, state: State) -> float:
        """What LM-cut takes for a state, in units that are the same on every machine."""
        self.claim_landmarks(state)
        lower = self.lower(state)
        cuts = len(lower.evidence.cuts) if lower and isinstance(lower.evidence, Landmarks) else 0
        return float((cuts + 1) * (len(self.task.actions) + 1))

    def expansion_effort(self, state: State) -> float:
        """What an expansion of A* with LM-cut takes near a state, in the same units."""
        return self.evaluation_effort(state) * (len(self.task.applicable(state)) + 1)

    def enter(self, entry: PoolEntry) -> None:
        """Makes a pool entry known, so that oracles can follow origins."""
        self._entries[entry.id] = entry
        self._by_state[entry.state] = entry

    def is_in_pool(self, state: State) -> bool:
        """Whether the state is a test state; claims about others are of little interest."""
        return state in self._by_state

    def entry(self, number: int | None) -> PoolEntry | None:
        """A pool entry by its id."""
        return None if number is None else self._entries.get(number)

    def add(self, claim: Claim) -> bool:
        """Takes a claim in; whether it says more than was known. Raises UnsoundClaim where it cannot hold."""
        if isinstance(claim.evidence, Plan):
            self._replay(claim, claim.evidence.actions)
        known = self._known.setdefault(claim.state, _Known())
        news = False
        if claim.bound.hi < (math.inf if known.upper is None else known.upper.bound.hi):
            known.upper = claim
            news = True
        lo = 0.0 if known.lower is None else known.lower.bound.lo
        if claim.bound.lo > lo or (known.lower is None and isinstance(claim.evidence, Landmarks)):
            known.lower = claim
            news = True
        if news:
            self.changed.add(claim.state)
        if known.upper and known.lower and known.lower.bound.lo > known.upper.bound.hi:
            raise UnsoundClaim(
                f"in the state {claim.state} {known.lower.oracle} claims a cost of at least "
                f"{known.lower.bound.lo}, {known.upper.oracle} one of at most {known.upper.bound.hi}; "
                "one of them has a defect: please report it"
            )
        return news

    def best(self, state: State) -> Bound:
        """The tightest known bounds on h*."""
        known = self._known.get(state)
        if known is None:
            return Bound()
        return Bound(
            0.0 if known.lower is None else known.lower.bound.lo,
            math.inf if known.upper is None else known.upper.bound.hi,
        )

    def plan(self, state: State) -> tuple[Action, ...] | None:
        """The cheapest known plan of a state."""
        claim = self.upper(state)
        return claim.evidence.actions if claim and isinstance(claim.evidence, Plan) else None

    def upper(self, state: State) -> Claim | None:
        """The claim behind the upper bound."""
        known = self._known.get(state)
        return None if known is None else known.upper

    def lower(self, state: State) -> Claim | None:
        """The claim behind the lower bound."""
        known = self._known.get(state)
        return None if known is None else known.lower

    def _replay(self, claim: Claim, actions: Sequence[Action]) -> None:
        state = claim.state
        for step, action in enumerate(actions, start=1):
            try:
                state = self.task.apply(state, action)
            except MisstepError as error:
                raise UnsoundClaim(f"{claim.oracle}: step {step} of its plan: {error}") from None
        if not self.task.is_goal(state):
            raise UnsoundClaim(f"{claim.oracle}: its plan for {claim.state} does not end in a goal state")
        if sum(action.cost for action in actions) > claim.bound.hi:
            raise UnsoundClaim(f"{claim.oracle}: its plan for {claim.state} costs more than it claims")
