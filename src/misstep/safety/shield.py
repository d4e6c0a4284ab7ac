"""A shield: the policy, except where its action could leave the safe region and another one does not."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from misstep.safety.analysis import Analyst


@dataclass(frozen=True)
class ShieldReport:
    """Runs with and without the shield, on the same start states."""

    runs: int
    unsafe_without: int
    unsafe_with: int
    steps: int
    interventions: int


class Shield:
    """Chooses moves in a game. From a state that is decided safe it never leaves the safe region."""

    def __init__(self, analyst: Analyst) -> None:
        self._analyst = analyst
        self.interventions = 0

    def outcomes(self, s: int) -> Sequence[int]:
        """The outcomes of the chosen action; none where the policy stops."""
        game = self._analyst.game
        moves = game.moves(s)
        if not moves:
            return ()
        own = None if moves[0][1] else moves[0]
        if own is not None and all(self._analyst.verdict(t) == "safe" for t in own[2]):
            return own[2]
        if self._analyst.verdict(s) == "safe":
            label = self._analyst.safe_action(s)
            if own is None or label != own[0]:
                self.interventions += 1
            return next(outcomes for name, _, outcomes in moves if name == label)
        return () if own is None else own[2]


def measure(analyst: Analyst, starts: Sequence[int], *, runs: int, max_steps: int, seed: int) -> ShieldReport:
    """Random runs of the bare and of the shielded policy, from the same start states."""
    rng = random.Random(seed)
    picks = [rng.choice(starts) for _ in range(runs)]
    shield = Shield(analyst)
    unsafe, steps = [0, 0], 0
    for shielded in (False, True):
        for start in picks:
            s = start
            for _ in range(max_steps):
                if analyst.game.is_unsafe(s) or analyst.game.is_goal(s):
                    break
                outcomes = shield.outcomes(s) if shielded else _bare(analyst, s)
                if not outcomes:
                    break
                s = rng.choice(outcomes)
                steps += shielded
            unsafe[shielded] += analyst.game.is_unsafe(s)
    return ShieldReport(runs, unsafe[0], unsafe[1], steps, shield.interventions)


def _bare(analyst: Analyst, s: int) -> Sequence[int]:
    moves = analyst.game.moves(s)
    return moves[0][2] if moves and not moves[0][1] else ()
