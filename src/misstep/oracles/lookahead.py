"""`lookahead`: a few free choices, then the policy (Lookahead in [22], look+policy in [23])."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from misstep._core import State
from misstep.claim import Claim, plan_claim
from misstep.lab import Lab
from misstep.oracle import Case
from misstep.plugins import option

# Of asking the policy about a state, for each action of the task: networks are slow.
_EFFORT = 20.0


@dataclass(frozen=True)
class Lookahead:
    """All paths up to a depth, then the policy; runs end where they cannot beat the policy any more."""

    name = "lookahead"
    depth: int = option(2, "free choices before the policy takes over")
    max_asked: int = option(5_000, "states that the policy is asked about, for one test state")
    max_seconds: float = option(60.0, "for one state")

    def bind(self, lab: Lab, /) -> "LookaheadOracle":
        """The oracle on a lab."""
        return LookaheadOracle(self, lab)


@dataclass(frozen=True, slots=True)
class LookaheadOracle:
    """The oracle at work."""

    part: Lookahead
    lab: Lab
    is_anytime: ClassVar[bool] = True

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """The cheapest plan found, if it costs less than what is known."""
        state = case.state
        below = min(case.cost.lo, self.lab.best(state).hi)
        plan, limit, asked = self.lab.graph.lookahead(
            state,
            depth=self.part.depth,
            below=None if below == math.inf else math.ceil(below),
            max_steps=self.lab.max_steps,
            budget=self.lab.turn.part(
                seconds=self.part.max_seconds, expansions=1 + int(self.lab.scale * self.part.max_asked)
            ),
        )
        self.lab.spend(asked * _EFFORT * (len(self.lab.task.actions) + 1))
        if limit is not None:
            self.lab.limits_hit.add(f"{self.part.name}: {limit}")
        if plan is not None:
            yield plan_claim(state, plan, self.part.name)
