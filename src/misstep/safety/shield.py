"""A shield: the policy, except where its action could leave the safe region and another one does not."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from misstep.safety.lab import ModelLab
from misstep.safety.model import draw


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

    def __init__(self, lab: ModelLab) -> None:
        self._lab = lab
        self.interventions = 0

    def choose(self, s: int) -> int | None:
        """The label to take; None where the policy stops and nothing safe is known."""
        own = policy_move(self._lab, s)
        if own is not None and all(self._lab.verdict(t) == "safe" for t in own[1]):
            return own[0]
        if self._lab.game.moves(s) and self._lab.verdict(s) == "safe":
            label = self._lab.safe_action(s)
            self.interventions += own is None or label != own[0]
            return label
        return None if own is None else own[0]


def measure(lab: ModelLab, starts: Sequence[int], *, runs: int, max_steps: int, seed: int) -> ShieldReport:
    """Random runs of the bare and of the shielded policy, from the same start states."""
    rng = random.Random(seed)
    picks = [rng.choice(starts) for _ in range(runs)]
    shield = Shield(lab)
    unsafe, steps = [0, 0], 0
    for shielded in (False, True):
        for start in picks:
            s = start
            for _ in range(max_steps):
                if lab.game.is_unsafe(s) or lab.game.is_goal(s):
                    break
                own = policy_move(lab, s)
                label = shield.choose(s) if shielded else None if own is None else own[0]
                if label is None:
                    break
                s = draw(lab.game, s, label, rng)
                steps += shielded
            unsafe[shielded] += lab.game.is_unsafe(s)
    return ShieldReport(runs, unsafe[0], unsafe[1], steps, shield.interventions)


def policy_move(lab: ModelLab, s: int) -> tuple[int, list[int]] | None:
    """What the policy does in a state, and the outcomes; None where it stops."""
    for label, deviates, outcomes in lab.game.moves(s)[:1]:
        return None if deviates else (label, outcomes)
    return None
