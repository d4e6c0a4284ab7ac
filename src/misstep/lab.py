"""Lab: a task, the policy's runs on it and what is known about it; all that an oracle may use."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from misstep._core import Action, Heuristic, PolicyGraph, Run, State
from misstep.bound import NEVER, Bound, policy_cost
from misstep.claim import Claim, DeadEnd, Exhausted, Landmarks, Plan, landmark_claim, names, plan_claim
from misstep.errors import MisstepError
from misstep.knowledge import Knowledge, UnsoundClaim
from misstep.pool import PoolEntry
from misstep.task import Task

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
    _entries: dict[int, PoolEntry] = field(default_factory=dict)
    _by_state: dict[State, PoolEntry] = field(default_factory=dict)

    def run(self, states: Sequence[State]) -> list[Run]:
        """The policy's runs; fewer than states where the budget ran out."""
        return self.graph.run(self.task.batch(list(states)), max_steps=self.max_steps, budget=self.budget)

    def policy_cost(self, run: Run) -> Bound:
        """What a run proves about the policy's cost. A run that was cut off may count on landmarks ahead."""
        if run.outcome != "cut-off":
            return policy_cost(run)
        return policy_cost(run, rest=self.claim_landmarks(run.states[-1]).lo)

    def claim_landmarks(self, state: State) -> Bound:
        """Makes sure that what LM-cut says of a state is known, and returns what is known."""
        if self.lower(state) is None:
            self.enter(self._landmarks(state, _LANDMARKS))
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

    def add_to_pool(self, entry: PoolEntry) -> None:
        """Makes a pool entry known, so that oracles can follow origins."""
        self._entries[entry.id] = entry
        self._by_state[entry.state] = entry

    def is_in_pool(self, state: State) -> bool:
        """Whether the state is a test state; claims about others are of little interest."""
        return state in self._by_state

    def entry(self, number: int | None) -> PoolEntry | None:
        """A pool entry by its id."""
        return None if number is None else self._entries.get(number)

    def plan(self, state: State) -> tuple[Action, ...] | None:
        """The cheapest known plan of a state."""
        claim = self.upper(state)
        return claim.evidence.actions if claim and isinstance(claim.evidence, Plan) else None

    def check(self, claim: Claim[State]) -> None:
        """Replays plans; refuses evidence that nobody could check later, and bounds that it does not carry."""
        evidence, bound = claim.evidence, claim.bound
        if isinstance(evidence, Plan):
            self._replay(claim, evidence.actions)
            proves = Bound(0, bound.hi)
        elif isinstance(evidence, Landmarks):
            proves = Bound(sum(share for _, share in evidence.cuts))
        elif isinstance(evidence, DeadEnd):
            proves = NEVER
        elif isinstance(evidence, Exhausted):
            proves = Bound(bound.lo)
        else:
            raise UnsoundClaim(
                f"oracle `{claim.oracle}`: evidence of the kind {evidence!r:.60} is not known to the checker; "
                "use Plan, Landmarks, DeadEnd or Exhausted of misstep"
            )
        if bound.lo > proves.lo or bound.hi < proves.hi:
            raise UnsoundClaim(
                f"oracle `{claim.oracle}` claims a cost of {bound} for {claim.state}, but evidence of the kind "
                f"{evidence.kind} proves {proves} at most; plans bound from above, landmarks, dead ends and "
                "searches from below: make a claim for each"
            )

    def write_claim(self, claim: Claim[State]) -> dict[str, Any]:
        """LM-cut's landmarks are not written: making them again takes less than reading them."""
        about: dict[str, Any] = {"state": claim.state.facts, "oracle": claim.oracle}
        if isinstance(claim.evidence, Plan):
            return {**about, "plan": names(claim.evidence.actions)}
        if isinstance(claim.evidence, Exhausted) or claim.oracle != _LANDMARKS:
            return {**about, **claim.evidence.as_json(claim.bound)}
        return about

    def read_claim(self, line: dict[str, Any]) -> Claim[State]:
        """The claim that was written so."""
        state, oracle = self.task.state(line["state"]), line["oracle"]
        if "plan" in line:
            return plan_claim(state, self.actions_named(state, line["plan"]), oracle)
        if "search" in line:
            lo = float("inf") if line["value"] is None else line["value"]
            return Claim(state, Bound(lo), Exhausted(line["search"], line["expanded"]), oracle)
        if "landmarks" in line:
            cuts = ((map(self.task.action, cut["actions"]), cut["share"]) for cut in line["landmarks"])
            evidence = Landmarks(tuple((tuple(actions), share) for actions, share in cuts))
            return Claim(state, Bound(line["value"]), evidence, oracle)
        if "kind" in line:
            return landmark_claim(state, None, oracle)
        return self._landmarks(state, oracle)

    def actions_named(self, state: State, plan: Sequence[str]) -> list[Action]:
        """The actions of a plan; where several have one name (the translator split one), those that apply."""
        actions = []
        for name in plan:
            action, state = next(
                ((action, after) for action, after in self.task.successors(state) if action.name == name),
                (self.task.action(name), state),
            )
            actions.append(action)
        return actions

    def _landmarks(self, state: State, oracle: str) -> Claim[State]:
        heuristic = self.shared("lmcut", lambda: Heuristic(self.task, "lmcut"))
        return landmark_claim(state, heuristic.landmarks(state), oracle)

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
