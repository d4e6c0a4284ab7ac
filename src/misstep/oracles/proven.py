"""`abstraction`, `dead-ends` and `greedy`: bounds with proofs that anybody can check."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from misstep._core import (
    Abstraction,
    Action,
    Heuristic,
    SearchResult,
    State,
    find_invariant,
    improve_plan,
    search,
)
from misstep.bound import Bound
from misstep.claim import Claim, plan_claim
from misstep.lab import Lab
from misstep.oracle import Case
from misstep.plugins import option
from misstep.proof import Surrounded


@dataclass(frozen=True)
class AbstractionBound:
    """Merge-and-shrink with bisimulation: clears states whose distance in it is what the policy costs.

    Two are built, the second one when the first is not enough for a state. One variable after the other keeps
    symmetric things together (gripper: 48 states for 15 balls); pairs of variables with a small product suit
    few, large variables (delivery).
    """

    name = "abstraction"
    max_states: int = option(300_000, "the most states of one factor")
    max_transitions: int = option(10_000_000, "the most transitions of one factor")
    effort: float = option(4e6, "states and transitions of all products, for building one abstraction")
    max_seconds: float = option(60.0, "time limit for building one abstraction")

    def bind(self, lab: Lab, /) -> "BoundAbstraction":
        """The oracle on a lab; abstractions are built when they are first needed."""
        oracle = BoundAbstraction(self, lab)
        lab.lookups.append(oracle.look_up)
        return oracle

    def build(self, lab: Lab, order: str) -> Abstraction:
        """The abstraction that all oracles with the same options share; in later rounds it may be larger."""
        share = 10 if order == ORDERS[0] else 1  # where one by one is good at all, it is small
        scale = lab.scale / 2 ** (lab.round % 2)  # building takes time: every second round has to do
        if not lab.is_extended:
            scale = min(1.0, scale)  # larger ones took seconds each and settled nothing (docs/oracles.md)

        def make() -> Abstraction:
            return Abstraction(
                lab.task,
                max_states=self.max_states // share,
                max_transitions=self.max_transitions // share,
                order=order,
                budget=lab.budget.part(seconds=self.max_seconds, share=0.1, effort=scale * self.effort),
            )

        made = lab.shared(("abstraction", order, scale, self), make, is_fixed=True)
        if made.limit is not None:
            lab.limits_hit.add(f"abstraction: {made.limit}")
        return made


ORDERS = ("one-by-one", "newest")


@dataclass(frozen=True, slots=True)
class BoundAbstraction:
    """The oracle at work."""

    part: AbstractionBound
    lab: Lab
    is_anytime: ClassVar[bool] = True
    works_ahead: ClassVar[bool] = True

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """The distance of the state, or that it has no plan."""
        for order in ORDERS:
            proof = self.lab.prover.looked_up(self.part.build(self.lab, order), case.state)
            if proof is not None:
                yield _claim(case.state, proof, self.part.name)

    def prepare(self) -> list[Callable[[], object]]:
        """What all cases of a round need; helpers begin with it, each with one."""
        return [partial(self.part.build, self.lab, order) for order in ORDERS]

    def look_up(self, state: State) -> Claim[State] | None:
        """The largest distance of a state; the abstractions are those of this round."""
        proofs = [self.lab.prover.looked_up(self.part.build(self.lab, order), state) for order in ORDERS]
        best = max(
            (proof for proof in proofs if proof is not None), key=lambda proof: proof.bound, default=None
        )
        return None if best is None else _claim(state, best, self.part.name)


@dataclass(frozen=True)
class DeadEnds:
    """States from which nobody reaches the goal, by h^2; what shows it for one state is tried on others."""

    name = "dead-ends"
    max_seconds: float = option(5.0, "time limit for one state")

    def bind(self, lab: Lab, /) -> "BoundDeadEnds":
        """The oracle on a lab."""
        return BoundDeadEnds(self, lab)


@dataclass(frozen=True, slots=True)
class BoundDeadEnds:
    """The oracle at work."""

    part: DeadEnds
    lab: Lab
    works_ahead: ClassVar[bool] = True

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """That there is no plan. States that the policy solves are not looked at."""
        state = case.state
        if case.run.outcome == "solved" or self.lab.best(state).hi < math.inf:
            return
        budget = self.lab.turn.part(seconds=self.part.max_seconds)
        find = partial(find_invariant, self.lab.task, state, budget=budget)
        proof = self.lab.prover.dead_end(state, find=partial(self.lab.work, ("h2", state), find))
        if proof is not None:
            yield _claim(state, proof, self.part.name)


# Expansions that are spent on making a plan better.
_IMPROVEMENT = 1_000
# States of a run of the policy at which it is looked how near the goal they are.
_LOOKS = 50


@dataclass(frozen=True)
class Greedy:
    """Greedy search where the policy fails: finds a plan, or runs dry and so proves that there is none.

    Where the policy's run meets a state of which a plan is known, no search is needed; where a search gives up,
    another one starts in the state of the run that looks nearest to the goal.
    """

    name = "greedy"
    effort: float = option(5e7, "expansions times the actions of the task")
    max_seconds: float = option(60.0, "time limit for one state")
    max_memory_mb: int = option(4096, "memory limit of one search")

    def bind(self, lab: Lab, /) -> "BoundGreedy":
        """The oracle on a lab."""
        return BoundGreedy(self, lab)


@dataclass(frozen=True, slots=True)
class BoundGreedy:
    """The oracle at work."""

    part: Greedy
    lab: Lab
    is_anytime: ClassVar[bool] = True
    works_ahead: ClassVar[bool] = True

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """A plan, or that there is none. States that the policy solves are not looked at."""
        state = case.state
        if case.run.outcome == "solved" or self.lab.best(state).hi < math.inf:
            return
        if (known := self._reused(case)) is not None:
            yield plan_claim(state, self._better(state, known), self.part.name)
            return
        proof = self.lab.prover.known_dead_end(state)
        if proof is None:
            found = self._search("lazy:ff", state)
            if found.outcome == "solved":
                yield plan_claim(state, self._better(state, found.plan), self.part.name)
            if found.limit is not None:
                self.lab.limits_hit.add(f"{self.part.name}: {found.limit}")
                yield from self._guided(case)
            if found.outcome != "unsolvable":
                return
            # The same states again, now for the proof; both searches leave out what has no plan when relaxed.
            proof = self.lab.prover.frontier(self._search("astar:hmax", state))
        if proof is not None:
            yield _claim(state, proof, self.part.name)

    def _reused(self, case: Case) -> list[Action] | None:
        """The policy's run to the first state of which somebody knows a plan, and that plan."""
        for at, state in enumerate(case.run.states):
            if (plan := self.lab.plan(state)) is not None:
                return [*case.run.actions[:at], *plan]
        return None

    def _guided(self, case: Case) -> Iterator[Claim[State]]:
        """The policy shows the way: to the state of its run that looks nearest to the goal, then a search."""
        run, task = case.run, self.lab.task
        places = range(0, len(run.states), 1 + len(run.states) // _LOOKS)
        ff = self.lab.shared(("heuristic", "ff"), lambda: Heuristic(task, "ff"))
        looks = ff.evaluate(task.batch([run.states[at] for at in places])).tolist()
        self.lab.spend(len(looks) * (len(task.actions) + 1))
        best = min(range(len(looks)), key=lambda number: looks[number])
        if looks[best] == looks[0] or self.lab.turn.is_over:
            return
        found = self._search("lazy:ff", run.states[places[best]])
        if found.outcome == "solved":
            plan = [*run.actions[: places[best]], *found.plan]
            yield plan_claim(case.state, self._better(case.state, plan), self.part.name)

    def _better(self, state: State, plan: list[Action]) -> list[Action]:
        """The plan without its worst detours: a person is going to read it."""
        budget = self.lab.turn.part(expansions=_IMPROVEMENT)
        improve = partial(improve_plan, self.lab.task, state, plan, budget=budget)
        better = self.lab.work(("better", state, tuple(plan)), improve)
        self.lab.spend(better.expanded * (len(self.lab.task.actions) + 1))
        return better.plan

    def _search(self, config: str, state: State) -> SearchResult:
        effort = len(self.lab.task.actions) + 1
        expansions = max(1, int(self.lab.scale * self.part.effort // effort))
        searching = partial(
            search,
            self.lab.task,
            config,
            state=state,
            budget=self.lab.turn.part(
                expansions=expansions, seconds=self.part.max_seconds, memory_mb=self.part.max_memory_mb
            ),
            keep_frontier=config.startswith("astar"),
        )
        found = self.lab.work((config, state, expansions), searching)
        self.lab.spend(found.expanded * effort)
        return found


def _claim(state: State, proof: Surrounded, oracle: str) -> Claim[State]:
    return Claim(state, Bound(proof.bound), proof, oracle)
