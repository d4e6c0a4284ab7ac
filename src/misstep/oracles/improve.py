"""`improve` and `improve/ehc`: the policy's own plan, made better (Aras in [22], Aras/EHC in [23])."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from misstep._core import State, improve_plan
from misstep.budget import Budget
from misstep.claim import Claim, plan_claim
from misstep.lab import Lab
from misstep.oracle import Case
from misstep.planners.native import EnforcedHillClimbing
from misstep.plugins import option


@dataclass(frozen=True)
class Improve:
    """Action elimination and plan neighbourhood graph search (Nakhost & Müller 2010) on the policy's plan."""

    name = "improve"
    max_expansions: int = option(30_000, "expansions in the plan's neighbourhood")
    effort: float = option(1.2e7, "expansions times the actions of the task: fewer expansions on large tasks")
    max_seconds: float = option(60.0, "time limit for one state")
    max_memory_mb: int = option(2048, "memory limit for one state")

    def bind(self, lab: Lab, /) -> "ImproveOracle":
        """The oracle on a lab."""
        return ImproveOracle(self, lab)


@dataclass(frozen=True)
class ImproveOrClimb(Improve):
    """`improve` where the policy solves the state, enforced hill-climbing where it does not."""

    name = "improve/ehc"

    def bind(self, lab: Lab, /) -> "ImproveOracle":
        """The oracle on a lab."""
        return ImproveOracle(self, lab, climb=EnforcedHillClimbing())


@dataclass(frozen=True, slots=True)
class ImproveOracle:
    """The oracle at work."""

    part: Improve
    lab: Lab
    climb: EnforcedHillClimbing | None = None
    is_anytime: ClassVar[bool] = True
    may_exceed: ClassVar[bool] = True
    works_ahead: ClassVar[bool] = True

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """A better plan, where one was found."""
        state = case.state
        plan = self.lab.plan(state)
        if plan is None:
            yield from self._climbed(case)
            return
        expansions, enough = self._max_expansions(), int(self.lab.best(state).lo)
        budget = self._budget(expansions)
        improve = partial(improve_plan, self.lab.task, state, list(plan), budget=budget, enough=enough)
        result = self.lab.work(("improve", state, plan, expansions, enough), improve)
        self.lab.spend(result.expanded * (len(self.lab.task.actions) + 1))
        if result.limit is not None:
            self.lab.limits_hit.add(f"{self.part.name}: {result.limit}")
        yield plan_claim(state, result.plan, self.part.name)

    def _budget(self, expansions: int) -> Budget:
        part = self.part
        return self.lab.turn.part(
            seconds=part.max_seconds, expansions=expansions, memory_mb=part.max_memory_mb
        )

    def _max_expansions(self) -> int:
        most = min(self.part.max_expansions, self.part.effort // (len(self.lab.task.actions) + 1))
        return 1 + int(self.lab.scale * most)

    def _climbed(self, case: Case) -> Iterator[Claim[State]]:
        if self.climb is None:
            return
        state, task = case.state, self.lab.task
        # An expansion evaluates all successors, each in time that grows with the actions of the task.
        work = (len(task.actions) + 1) * (len(task.applicable(state)) + 1)
        expansions = int(1 + 2 * self.lab.scale * self.part.effort // work)
        climb = partial(self.climb.run, task, state=state, budget=self._budget(expansions))
        found = self.lab.work((self.climb, state, expansions), climb)
        self.lab.spend(found.expanded * work)
        if found.limit is not None:
            self.lab.limits_hit.add(f"{self.part.name}: {found.limit}")
        if found.outcome == "solved":
            yield plan_claim(state, found.plan, self.part.name)
