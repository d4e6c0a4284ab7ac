"""`lookahead`: a few free choices, then the policy (Lookahead in [22], look+policy in [23])."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from misstep._core import Action, State
from misstep.claim import Claim, plan_claim
from misstep.lab import Lab
from misstep.oracle import Case
from misstep.plugins import option

# Of asking the policy about a state, for each action of the task: networks are slow.
_EFFORT = 20.0


@dataclass(frozen=True)
class Lookahead:
    """All paths up to a depth, then the policy; runs end where they cannot beat the policy any more.

    Where the policy fails and that brings nothing, one free choice at any later step of its run, and then the
    policy again.
    """

    name = "lookahead"
    depth: int = option(2, "free choices before the policy takes over")
    max_asked: int = option(5_000, "the most states that the policy is asked about, for one test state")
    max_seconds: float = option(60.0, "time limit for one state")

    def bind(self, lab: Lab, /) -> "LookaheadOracle":
        """The oracle on a lab."""
        return LookaheadOracle(self, lab)


@dataclass(frozen=True, slots=True)
class LookaheadOracle:
    """The oracle at work."""

    part: Lookahead
    lab: Lab
    is_anytime: ClassVar[bool] = True
    works_ahead: ClassVar[bool] = True
    asks_policy: ClassVar[bool] = True

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """The cheapest plan found, if it costs less than what is known."""
        state, most = case.state, 1 + int(self.lab.scale * self.part.max_asked)
        below = min(case.cost.lo, self.lab.best(state).hi)
        plan, asked = self._look(state, depth=self.part.depth, below=below, most=most)
        if plan is not None:
            yield plan_claim(state, plan, self.part.name)
        elif below == math.inf:
            yield from self._later(case, most - asked)

    def _later(self, case: Case, left: int) -> Iterator[Claim[State]]:
        """Where the policy fails, the free choice may come at any step of its run; late ones are tried first.

        So the policy is the guide of a search with one discrepancy. What it was asked before costs nothing.
        """
        run, seen = case.run, set[State]()
        for at in range(len(run.states) - 1, 0, -1):
            if run.states[at] in seen:  # the end of a loop
                continue
            if left <= 0 or self.lab.turn.is_over:
                return
            seen.add(run.states[at])
            plan, asked = self._look(run.states[at], depth=1, below=math.inf, most=left)
            left -= asked
            if plan is not None:
                yield plan_claim(case.state, [*run.actions[:at], *plan], self.part.name)
                return

    def _look(self, state: State, *, depth: int, below: float, most: int) -> tuple[list[Action] | None, int]:
        """The cheapest plan, and how many states the policy was asked about for it."""
        plan, limit, asked = self.lab.graph.lookahead(
            state,
            depth=depth,
            below=None if below == math.inf else math.ceil(below),
            max_steps=self.lab.max_steps,
            budget=self.lab.turn.part(seconds=self.part.max_seconds, expansions=most),
        )
        self.lab.spend(asked * _EFFORT * (len(self.lab.task.actions) + 1))
        if limit is not None:
            self.lab.limits_hit.add(f"{self.part.name}: {limit}")
        return plan, asked
