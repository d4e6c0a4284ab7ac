"""Bugs and faults: what a decider says about the states of an unsafe run (Definitions 2, 3 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from misstep._core import Budget, Decider, JaniGame

# Of one query, where nobody says otherwise.
_MAX_EXPANSIONS = 1_000_000


@dataclass(frozen=True)
class Fault:
    """The policy's action leaves the safe region: `outcome` is not safe, `alternative` would have been."""

    state: int
    action: int
    outcome: int
    alternative: int


@dataclass
class Findings:
    """What is proved of the states of a run; states by their numbers in the game."""

    bugs: list[int] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    possible_faults: list[int] = field(default_factory=list)
    cleared: list[int] = field(default_factory=list)  # not safe whatever one does: unsafe, but no bug
    unknown: list[int] = field(default_factory=list)
    reasons: set[str] = field(default_factory=set)


class Analyst:
    """Judges unsafe runs with one shared decider, so that later runs profit from what earlier ones proved.

    `max_seconds` is for one query, the seconds of `budget` are for all of them.
    """

    def __init__(
        self,
        game: JaniGame,
        decider: Decider,
        *,
        radius: int | None = None,
        budget: Budget | None = None,
        max_seconds: float | None = None,
    ):
        self.game = game
        self.decider = decider
        self.radius = radius
        self.budget = budget or Budget(expansions=_MAX_EXPANSIONS)
        self.max_seconds = max_seconds
        self._known: dict[int, str] = {}
        self._done: set[int] = set()
        self.reasons: set[str] = set()

    def verdict(self, s: int) -> str:
        """safe, unsafe or unknown."""
        known = self._known.get(s)
        if known is None:
            budget = self.budget.part(seconds=self.max_seconds)
            known, limit, _, _ = self.decider.decide(s, self.radius, budget=budget)
            if limit is not None:
                self.reasons.add(limit)
            self._known[s] = known
        return known

    def analyse(self, run: Sequence[int]) -> Findings:
        """Judge the states of an unsafe run that were not judged before, from its end to its start."""
        found = Findings()
        for i in reversed(range(len(run) - 1)):
            s = run[i]
            if s in self._done:
                continue
            self._done.add(s)
            verdict = self.verdict(s)
            if verdict == "safe":
                found.bugs.append(s)
            elif verdict == "unsafe":
                found.cleared.append(s)
            else:
                found.unknown.append(s)
            if verdict != "unsafe":
                self._look_for_fault(s, run[i + 1], verdict, found)
        found.reasons = set(self.reasons)
        return found

    def _look_for_fault(self, s: int, taken: int, verdict: str, found: Findings) -> None:
        """The outcome on the run is looked at first; any outcome of the policy's action counts."""
        label, _, outcomes = self.game.moves(s)[0]
        ordered = sorted(outcomes, key=lambda t: t != taken)
        verdicts = {t: self.verdict(t) for t in ordered}
        lost = next((t for t in ordered if verdicts[t] == "unsafe"), None)
        if lost is not None and verdict == "safe":
            found.faults.append(Fault(s, label, lost, self.safe_action(s)))
        elif any(v != "safe" for v in verdicts.values()):
            found.possible_faults.append(s)

    def safe_action(self, s: int) -> int:
        """The label that the decider's strategy takes in a safe state."""
        (_, _, label), *_ = self.decider.strategy(s, self.radius)
        if label is None:
            raise AssertionError("a state with a policy action is no leaf")
        return label
