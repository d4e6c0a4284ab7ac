"""Asks a policy again at the end of a test, until a policy that is random now and then had been noticed."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from misstep._core import Action, Budget, PolicyGraph, Run, State
from misstep.answers.guard import Guard
from misstep.errors import FlakyPolicy
from misstep.support.describe import cut

RARE = 0.05
"""A policy that is random in this share of its answers is what we want to notice, ..."""
ENOUGH = 90
"""... and after so many comparisons it goes unnoticed less than once in a hundred times."""
KEPT = 256
_PIECE = 16
# A slow policy is not asked again for longer than this, and this share of what it took so far.
LEAST_SECONDS = 1.0
_SHARE = 0.1


def how_sure(compared: int) -> dict[str, Any]:
    """How sure one can be that a policy is not random after so many equal answers."""
    return {"compared": compared, "share": RARE, "missed": round((1 - RARE) ** compared, 6)}


@dataclass(slots=True)
class Recheck:
    """Remembers some decisions of a policy and asks for them again. The graph compares answers, too."""

    guard: Guard
    graph: PolicyGraph
    _decisions: dict[State, Action] = field(default_factory=dict)
    _own: int = 0

    def remember(self, runs: Iterable[Run]) -> None:
        """Keeps the first decisions of runs, of many runs rather than many of one."""
        for run in runs:
            if len(self._decisions) >= KEPT:
                return
            first = zip(run.states[:_PIECE], run.actions[:_PIECE], strict=False)
            self._decisions.update(dict(first))

    def ask_again(self, budget: Budget) -> None:
        """Raises FlakyPolicy where an answer differs; ends early where the policy is slow."""
        most = LEAST_SECONDS + _SHARE * self.graph.policy_seconds
        begin, states = time.perf_counter(), list(reversed(self._decisions))
        while states and self.compared < ENOUGH and not budget.is_over and self.guard.dead is None:
            if time.perf_counter() - begin > most:
                return
            piece, states = states[:_PIECE], states[_PIECE:]
            for state, answer in zip(piece, self.guard(self.guard.task.batch(piece)), strict=True):
                self._compare(state, answer)
            states = states or (list(self._decisions) if self._own < ENOUGH else [])

    @property
    def compared(self) -> int:
        """How many answers were compared with earlier ones, at least."""
        return max(0, self.guard.asked - self.guard.failed - self.graph.states_asked)

    def as_json(self) -> dict[str, Any]:
        """How sure one can be that the policy is not random."""
        return how_sure(self.compared)

    def _compare(self, state: State, answer: Action | None) -> None:
        self._own += 1
        before = self._decisions[state]
        if answer is None or isinstance(answer, Action):
            if answer == before:
                return
            said = "nothing" if answer is None else answer.name
            raise FlakyPolicy(
                f"the policy is not deterministic: in the state {cut(str(state))} it first chose "
                f"{before.name}, later {said}; misstep tests deterministic policies without memory: switch "
                "off sampling and dropout, forget what was asked before, or skip this check (recheck=False, "
                "--no-recheck)"
            )
