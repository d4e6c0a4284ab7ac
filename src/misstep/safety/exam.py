"""How well a policy does on a model: random runs, and how they end."""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from misstep._core import Budget, JaniGame, SafetyFuzzer
from misstep.errors import PolicyError
from misstep.safety.model import SafetyTask


@dataclass(frozen=True, slots=True)
class Exam:
    """The ends of so many runs."""

    runs: int
    goals: int
    unsafe: int
    ends: dict[str, int] = field(default_factory=dict)
    """How all runs ended, in the words of docs/safety.md."""

    @property
    def goal_rate(self) -> float:
        """The share of runs that reach the goal."""
        return self.goals / self.runs if self.runs else 0.0

    @property
    def unsafe_rate(self) -> float:
        """The share of runs that reach an unsafe state."""
        return self.unsafe / self.runs if self.runs else 0.0

    def as_json(self) -> dict[str, Any]:
        """Rates and counts."""
        return {
            "runs": self.runs,
            "goal_rate": round(self.goal_rate, 4),
            "unsafe_rate": round(self.unsafe_rate, 4),
            "outcomes": self.ends,
        }

    @property
    def rank(self) -> tuple[float, float]:
        """The greater, the better."""
        return (self.goal_rate, -self.unsafe_rate)


def exam_of(ends: Iterable[str]) -> Exam:
    """From the ends of runs."""
    counts = Counter(ends)
    return Exam(counts.total(), counts["goal"], counts["unsafe"], dict(sorted(counts.items())))


def examine(
    game: JaniGame,
    starts: Sequence[int],
    *,
    runs: int,
    max_steps: int,
    seed: int,
    budget: Budget | None = None,
) -> Exam:
    """Runs of the game's policy from start states that are drawn at random."""
    fuzzer = SafetyFuzzer(game, "uniform", max_steps=max_steps, seed=seed)
    rng, ends = random.Random(seed), list[str]()
    for _ in range(runs if starts else 0):
        try:
            end, run = fuzzer.run(starts[rng.randrange(len(starts))], budget=budget)
        except PolicyError:  # a network that training has spoilt
            ends.append("failed")
        else:
            ends.append(how_it_ended(game, end, run))
    return exam_of(ends)


def how_it_ended(game: JaniGame, end: str, run: Sequence[int]) -> str:
    """The outcome of a run in words that do not depend on the fuzzer that made it."""
    if end != "exhausted":
        return {"max_steps": "cut-off", "max_lookahead": "look-ahead"}.get(end, end)
    if game.is_goal(run[-1]):
        return "goal"
    return how_it_stops(game, run[-1]) or "safe"  # safe: all that the policy can reach was seen


def how_it_stops(game: JaniGame, s: int) -> str | None:
    """Why a run ends in a state that is no leaf: there is no action, the policy wants none, or it names one that
    does not apply, which is no decision. None where it goes on.
    """
    moves = game.moves(s)
    if not moves:
        return "dead-end"
    if not moves[0][1]:
        return None
    return "stuck" if game.chosen(s) is None else "failed"


def no_decision(task: SafetyTask, game: JaniGame, s: int) -> str:
    """Why there was no decision in a state where a run is `stuck` or has `failed`."""
    label = game.chosen(s)
    if label is None:
        return "the policy gave no action where some apply"
    return f"the policy chose {task.labels[label]}, which does not apply"
