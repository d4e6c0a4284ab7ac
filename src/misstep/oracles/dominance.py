"""`morph` and `bounds`: other states' plans, carried over by a dominance function ([23])."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from misstep._core import Action, BoundStore, Dominance, State
from misstep.claim import Claim, Plan, plan_claim
from misstep.errors import DominanceDefect
from misstep.lab import Lab
from misstep.oracle import Case
from misstep.plugins import option

Factors = Literal["merged", "atomic"]


@dataclass(frozen=True)
class Morph:
    """SMO: states that differ in one variable; what the policy costs there bounds what is possible here."""

    name = "morph"
    most: int = option(10, "the most morphed states for one test state")
    factors: Factors = option("merged", "`merged` by merge-and-shrink, or `atomic`: one for each variable")
    max_transitions: int = option(10_000, "the most transitions of a merged factor")
    max_seconds: float = option(60.0, "time limit for the dominance function")

    def bind(self, lab: Lab, /) -> "MorphOracle":
        """The oracle on a lab; computes the dominance function."""
        return MorphOracle(self, lab, dominance_of(lab, self))


@dataclass(frozen=True)
class Bounds:
    """BMO: upper bounds kept for all states met, spread by dominance, policy edges and a short search."""

    name = "bounds"
    lookahead: int = option(100, "expansions of a greedy search where comparisons find nothing")
    factors: Factors = option("merged", "`merged` by merge-and-shrink, or `atomic`: one for each variable")
    max_transitions: int = option(10_000, "the most transitions of a merged factor")
    max_seconds: float = option(60.0, "time limit for the dominance function")
    maximise_gap: bool = option(False, "continue with known bugs to prove larger gaps")

    def bind(self, lab: Lab, /) -> "BoundsOracle":
        """The oracle on a lab; computes the dominance function."""
        dominance = dominance_of(lab, self)
        store = BoundStore(dominance, lookahead=self.lookahead, maximise_gap=self.maximise_gap)
        return BoundsOracle(self, lab, store)


def dominance_of(lab: Lab, part: Morph | Bounds) -> Dominance:
    """The dominance function that all oracles with the same options share."""

    def make() -> Dominance:
        made = Dominance(
            lab.task,
            factors=part.factors,
            max_transitions=part.max_transitions,
            budget=lab.budget.part(seconds=part.max_seconds),
        )
        if made.limit is not None:
            lab.limits_hit.add(f"dominance: {made.limit}")
        return made

    return lab.shared(("dominance", part.factors, part.max_transitions), make)


@dataclass(frozen=True, slots=True)
class MorphOracle:
    """The oracle at work (Algorithm 1)."""

    part: Morph
    lab: Lab
    dominance: Dominance

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """A plan carried over from a morphed state on which the policy does better."""
        state = case.state
        morphs = self.dominance.morph(state, most=self.part.most, seed=self.lab.seed + case.entry.id)
        for morphed, value in morphs:
            below = min(case.cost.lo, self.lab.best(state).hi) + value
            if below <= 0:
                continue
            plan = self._cheaper(morphed, below)
            if plan is not None:
                try:
                    carried = self.dominance.carry(morphed, plan, state)
                except DominanceDefect as error:
                    self.lab.limits_hit.add(f"{self.part.name}: a plan could not be built: {error}")
                    continue
                yield plan_claim(state, carried, self.part.name)

    def _cheaper(self, morphed: State, below: float) -> list[Action] | None:
        """What the policy does there, where that costs less; a run that has cost so much is cut off."""
        plan, _, _ = self.lab.graph.lookahead(
            morphed,
            depth=0,
            below=None if below == math.inf else math.ceil(below),
            max_steps=self.lab.max_steps,
            budget=self.lab.budget,
        )
        return plan


@dataclass(frozen=True, slots=True)
class BoundsOracle:
    """The oracle at work (Algorithms 3 to 5)."""

    part: Bounds
    lab: Lab
    store: BoundStore

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """Plans of the case's state, and of pool states that it helps to decide about."""
        run = case.run
        self.store.add_run(run.states, run.actions, run.outcome, budget=self.lab.budget)
        yield from self._flagged(case.state)

    def restore(self, case: Case, /) -> None:
        """Notes the run as `claims` does; what followed from it comes from the record."""
        run = case.run
        self.store.add_run(run.states, run.actions, run.outcome)
        self.store.take_flagged()

    def learn(self, claim: Claim[State], /) -> Iterator[Claim[State]]:
        """A plan of a test state from elsewhere bounds other states too. Runs are noted with their case."""
        if claim.oracle == "policy" or not self.lab.is_in_pool(claim.state):
            return
        if isinstance(claim.evidence, Plan) and claim.evidence.cost < self.store.bound(claim.state):
            self.store.add_plan(claim.state, list(claim.evidence.actions))
            yield from self._flagged(None)

    def _flagged(self, wanted: State | None) -> Iterator[Claim[State]]:
        states = [s for s in self.store.take_flagged() if s != wanted and self.lab.is_in_pool(s)]
        if wanted is not None:
            states.append(wanted)  # the last one: nobody listens any more once the case is decided
        for state in states:
            bound = self.store.bound(state)
            if bound == math.inf or bound >= self.lab.best(state).hi:
                continue
            try:
                plan = self.store.plan_of(state)
            except DominanceDefect as error:
                self.lab.limits_hit.add(f"{self.part.name}: a plan could not be built: {error}")
                continue
            yield plan_claim(state, plan, self.part.name)
