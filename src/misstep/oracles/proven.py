"""`abstraction`, `dead-ends` and `frontier`: lower bounds with proofs that anybody can check (docs/proofs.md)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from misstep._core import Abstraction, Heuristic, State, search
from misstep.bound import Bound
from misstep.claim import Claim, plan_claim
from misstep.lab import Lab
from misstep.oracle import Case
from misstep.plugins import option
from misstep.proof import Prover, Surrounded


@dataclass(frozen=True)
class AbstractionBound:
    """Merge-and-shrink with bisimulation: clears states whose distance in it is what the policy costs."""

    name = "abstraction"
    max_states: int = option(100_000, "of one factor")
    max_transitions: int = option(2_000_000, "of one factor")
    max_seconds: float = option(20.0, "for building it")

    def bind(self, lab: Lab, /) -> "BoundAbstraction":
        """The oracle on a lab; the abstraction is built when it is first asked."""
        return BoundAbstraction(self, lab)

    def build(self, lab: Lab) -> Abstraction:
        """The abstraction that all oracles with the same options share."""

        def make() -> Abstraction:
            made = Abstraction(
                lab.task,
                max_states=self.max_states,
                max_transitions=self.max_transitions,
                max_seconds=lab.seconds_left(self.max_seconds),
                max_memory_mb=lab.max_memory_mb,
                stop=lab.stop,
            )
            if made.limit is not None:
                lab.limits_hit.add(f"abstraction: {made.limit}")
            return made

        return lab.shared(("abstraction", self), make)


@dataclass(frozen=True, slots=True)
class BoundAbstraction:
    """The oracle at work."""

    part: AbstractionBound
    lab: Lab

    def claims(self, case: Case, /) -> Iterator[Claim]:
        """The distance of the state, or that it has no plan."""
        proof = _prover(self.lab).looked_up(self.part.build(self.lab), case.entry.state)
        if proof is not None:
            yield _claim(case.entry.state, proof, self.part.name)


@dataclass(frozen=True)
class DeadEnds:
    """States from which nobody reaches the goal, by h^2; what shows it for one state is tried on all others."""

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

    def claims(self, case: Case, /) -> Iterator[Claim]:
        """That there is no plan. States that the policy solves are not looked at."""
        state = case.entry.state
        if case.run.outcome == "solved" or self.lab.best(state).hi < math.inf:
            return
        proof = _prover(self.lab).dead_end(state, max_seconds=self.lab.seconds_left(self.part.max_seconds))
        if proof is not None:
            yield _claim(state, proof, self.part.name)


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

    def claims(self, case: Case, /) -> Iterator[Claim]:
        """A plan, or that no plan is cheaper than what the policy does; nothing where the effort is spent."""
        state = case.entry.state
        abstraction = None if self.part.heuristic == "lmcut" else AbstractionBound().build(self.lab)
        found = search(
            self.lab.task,
            "astar",
            state=state,
            heuristic=self._heuristic(abstraction),
            max_expansions=self._max_expansions(state),
            max_seconds=self.lab.seconds_left(self.part.max_seconds),
            max_memory_mb=self.part.max_memory_mb,
            # Plans that cost as much as the policy are of no interest.
            below=None if case.cost.hi == math.inf else math.ceil(case.cost.hi),
            stop=self.lab.stop,
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


def _claim(state: State, proof: Surrounded, oracle: str) -> Claim:
    return Claim(state, Bound(proof.bound), proof, oracle)
