"""Parts for misstep in a package of their own: a policy, an oracle, a bias, a fuzzer and an objective."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import misstep


@dataclass(frozen=True)
class GoalCounter:
    """Goes to the successor in which most goals hold; the first action on ties."""

    def bind(self, task: misstep.Task, /) -> misstep.Policy:
        """The policy on a task."""
        goal = set(task.goal)

        def missing(step: tuple[misstep.Action, misstep.State]) -> int:
            return len(goal - set(enumerate(step[1].values)))

        def choose(state: misstep.State) -> misstep.Action | None:
            steps = task.successors(state)
            return min(steps, key=missing)[0] if steps else None

        return misstep.per_state(choose)


@dataclass(frozen=True)
class Dive:
    """Dives from the state into the dark: a random walk that meets a goal is a plan."""

    name = "dive"
    tries: int = misstep.option(20, "walks from each state")
    length: int = misstep.option(30, "steps of a walk")

    def bind(self, lab: misstep.Lab, /) -> misstep.Oracle[misstep.Case]:
        """The oracle on a lab."""
        return _DiveOracle(self, lab)


@dataclass(frozen=True)
class _DiveOracle:
    part: Dive
    lab: misstep.Lab

    def claims(self, case: misstep.Case, /) -> Iterator[misstep.Claim[misstep.State]]:
        rng = random.Random(f"{self.lab.seed} {case.state}")
        for _ in range(self.part.tries):
            if self.lab.budget.is_over:
                return
            plan = self._dive(case.state, rng)
            if plan is not None and sum(action.cost for action in plan) < self.lab.best(case.state).hi:
                yield misstep.plan_claim(case.state, plan, self.part.name)

    def _dive(self, state: misstep.State, rng: random.Random) -> list[misstep.Action] | None:
        plan: list[misstep.Action] = []
        while not self.lab.task.is_goal(state):
            steps = self.lab.task.successors(state)
            if not steps or len(plan) == self.part.length:
                return None
            action, state = rng.choice(steps)
            plan.append(action)
        return plan


@dataclass(frozen=True)
class Fickle:
    """How many facts the policy gives up on its way."""

    name = "fickle"

    def score(self, run: misstep.PartialRun, /) -> float:
        """The number of facts that hold in one state of the run and not in the next."""
        return sum(len(set(before.facts) - set(after.facts)) for before, after in pairwise(run.states))


@dataclass(frozen=True)
class OneStep:
    """One step from a random state of the pool, to the new successor that the bias likes best."""

    name = "one-step"
    patience: int = misstep.option(200, "steps in vain before it gives up")

    def walk(self, fuzz: misstep.FuzzContext, /) -> Iterator[misstep.PoolEntry]:
        """Entries of the pool, the initial state first."""
        yield fuzz.first()
        idle = 0
        while idle < self.patience and not fuzz.budget.is_over:
            parent, known = fuzz.rng.choice(fuzz.pool), {entry.state for entry in fuzz.pool}
            steps = [step for step in fuzz.task.successors(parent.state) if step[1] not in known]
            scores = fuzz.score([state for _, state in steps])
            idle = 0 if scores else idle + 1
            if scores:
                yield fuzz.after(parent, [steps[scores.index(max(scores))][0]])


@dataclass(frozen=True)
class Capped:
    """Reach the goal at the least cost, where very late is as bad as never."""

    name = "capped"
    cap: int = misstep.option(1000, "a cost that counts as never")

    def value(self, cost: float, /) -> float:
        """The cost, but never more than the cap."""
        return min(cost, self.cap)
