"""`abstraction`, `dead-ends`, `greedy` and `frontier`: bounds with proofs that anybody can check."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from misstep._core import Abstraction, Heuristic, SearchResult, State, search
from misstep.bound import Bound
from misstep.claim import Claim, plan_claim
from misstep.lab import Lab
from misstep.oracle import Case
from misstep.plugins import option
from misstep.proof import Prover, Surrounded


@dataclass(frozen=True)
class AbstractionBound:
    """Merge-and-shrink with bisimulation: clears states whose distance in it is what the policy costs.

    Two are built, the second one when the first is not enough for a state. One variable after the other keeps
    symmetric things together (gripper: 48 states for 15 balls); pairs of variables with a small product suit
    few, large variables (delivery).
    """

    name = "abstraction"
    max_states: int = option(300_000, "of one factor")
    max_transitions: int = option(10_000_000, "of one factor")
    max_seconds: float = option(5.0, "for building one of them")

    def bind(self, lab: Lab, /) -> "BoundAbstraction":
        """The oracle on a lab; abstractions are built when they are first needed."""
        return BoundAbstraction(self, lab)

    def build(self, lab: Lab, order: str) -> Abstraction:
        """The abstraction that all oracles with the same options share."""
        share = 10 if order == ORDERS[0] else 1  # where one by one is good at all, it is small

        def make() -> Abstraction:
            made = Abstraction(
                lab.task,
                max_states=self.max_states // share,
                max_transitions=self.max_transitions // share,
                order=order,
                budget=lab.budget.part(seconds=self.max_seconds),
            )
            if made.limit is not None:
                lab.limits_hit.add(f"abstraction: {made.limit}")
            return made

        return lab.shared(("abstraction", order, self), make)


ORDERS = ("one-by-one", "newest")


@dataclass(frozen=True, slots=True)
class BoundAbstraction:
    """The oracle at work."""

    part: AbstractionBound
    lab: Lab

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """The distance of the state, or that it has no plan."""
        for order in ORDERS:
            proof = _prover(self.lab).looked_up(self.part.build(self.lab, order), case.state)
            if proof is not None:
                yield _claim(case.state, proof, self.part.name)


@dataclass(frozen=True)
class DeadEnds:
    """States from which nobody reaches the goal, by h^2; what shows it for one state is tried on others."""

    name = "dead-ends"
    max_seconds: float = option(5.0, "for one state")

    def bind(self, lab: Lab, /) -> "BoundDeadEnds":
        """The oracle on a lab."""
        return BoundDeadEnds(self, lab)


@dataclass(frozen=True, slots=True)
class BoundDeadEnds:
    """The oracle at work."""

    part: DeadEnds
    lab: Lab

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """That there is no plan. States that the policy solves are not looked at."""
        state = case.state
        if case.run.outcome == "solved" or self.lab.best(state).hi < math.inf:
            return
        proof = _prover(self.lab).dead_end(state, budget=self.lab.budget.part(seconds=self.part.max_seconds))
        if proof is not None:
            yield _claim(state, proof, self.part.name)


@dataclass(frozen=True)
class Greedy:
    """Greedy search where the policy fails: finds a plan, or runs dry and so proves that there is none."""

    name = "greedy"
    effort: float = option(5e7, "expansions times actions")
    max_seconds: float = option(60.0, "for one state")
    max_memory_mb: int = option(4096, "for one search")

    def bind(self, lab: Lab, /) -> "BoundGreedy":
        """The oracle on a lab."""
        return BoundGreedy(self, lab)


@dataclass(frozen=True, slots=True)
class BoundGreedy:
    """The oracle at work."""

    part: Greedy
    lab: Lab

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """A plan, or that there is none. States that the policy solves are not looked at."""
        state = case.state
        if case.run.outcome == "solved" or self.lab.best(state).hi < math.inf:
            return
        proof = _prover(self.lab).known_dead_end(state)
        if proof is None:
            found = self._search("lazy:ff", state)
            if found.outcome == "solved":
                yield plan_claim(state, found.plan, self.part.name)
            if found.limit is not None:
                self.lab.limits_hit.add(f"{self.part.name}: {found.limit}")
            if found.outcome != "unsolvable":
                return
            # The same states again, now for the proof; both searches leave out what has no plan when relaxed.
            proof = _prover(self.lab).frontier(self._search("astar:hmax", state))
        if proof is not None:
            yield _claim(state, proof, self.part.name)

    def _search(self, config: str, state: State) -> SearchResult:
        return search(
            self.lab.task,
            config,
            state=state,
            budget=self.lab.budget.part(
                expansions=max(1, int(self.part.effort // (len(self.lab.task.actions) + 1))),
                seconds=self.part.max_seconds,
                memory_mb=self.part.max_memory_mb,
            ),
            keep_frontier=config.startswith("astar"),
        )


@dataclass(frozen=True)
class FrontierSearch:
    """A* from the test state; what it expanded and what bounds the rest proves that nothing is cheaper."""

    name = "frontier"
    heuristic: Literal["lmcut", "abstraction", "both"] = option("lmcut", "guides the search")
    effort: float = option(5e6, "expansions times branching, actions and landmarks of the state")
    max_expansions: int | None = option(None, "of one search")
    max_seconds: float = option(60.0, "for one state")
    max_memory_mb: int = option(4096, "for one search")

    def bind(self, lab: Lab, /) -> "BoundFrontierSearch":
        """The oracle on a lab."""
        return BoundFrontierSearch(self, lab)


@dataclass(frozen=True, slots=True)
class BoundFrontierSearch:
    """The oracle at work."""

    part: FrontierSearch
    lab: Lab

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """A plan, or that no plan is cheaper than what the policy does; nothing where the effort is spent."""
        state = case.state
        is_lmcut = self.part.heuristic == "lmcut"
        abstraction = None if is_lmcut else AbstractionBound().build(self.lab, ORDERS[-1])
        found = search(
            self.lab.task,
            "astar",
            state=state,
            heuristic=self._heuristic(abstraction),
            budget=self.lab.budget.part(
                expansions=self._max_expansions(state),
                seconds=self.part.max_seconds,
                memory_mb=self.part.max_memory_mb,
            ),
            # Plans that cost as much as the policy are of no interest.
            below=None if case.cost.hi == math.inf else math.ceil(case.cost.hi),
            keep_frontier=True,
        )
        if found.limit not in (None, "bound"):
            self.lab.limits_hit.add(f"{self.part.name}: {found.limit}")
        if found.outcome == "solved":
            yield plan_claim(state, found.plan, self.part.name)
        if found.lower_bound >= case.cost.hi:
            proof = _prover(self.lab).frontier(found, abstraction=abstraction)
            if proof is None:
                self.lab.limits_hit.add(f"{self.part.name}: memory (the proof is too large)")
            else:
                yield _claim(state, proof, self.part.name)

    def _heuristic(self, abstraction: Abstraction | None) -> Heuristic:
        def make() -> Heuristic:
            if abstraction is None:
                return Heuristic(self.lab.task, "lmcut")
            return abstraction.heuristic("lmcut" if self.part.heuristic == "both" else None)

        return self.lab.shared(("heuristic of frontiers", self.part.heuristic), make)

    def _max_expansions(self, state: State) -> int:
        """The same work for large and small tasks, and the same on every machine, unlike seconds."""
        most = math.inf if self.part.max_expansions is None else self.part.max_expansions
        if self.part.heuristic == "abstraction":  # a lookup is far cheaper than landmarks
            effort = float(len(self.lab.task.applicable(state)) + 1)
        else:
            effort = self.lab.expansion_effort(state)
        return int(min(most, max(1, self.part.effort // effort)))


def _prover(lab: Lab) -> Prover:
    """What all oracles of a lab prove with, so that functions are written once."""
    return lab.shared("prover", lambda: Prover(lab.task))


def _claim(state: State, proof: Surrounded, oracle: str) -> Claim[State]:
    return Claim(state, Bound(proof.bound), proof, oracle)
