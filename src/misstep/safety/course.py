"""Why a safe alternative is safe: where it leads, and how far a strategy goes on from there."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from misstep._core import JaniGame
from misstep.errors import MisstepError
from misstep.record.record import Record
from misstep.safety.model import SafetyTask, StateDict
from misstep.safety.recorded import Key, RecordedEvidence, recorded_model

MOST_STATES = 10_000
"""Of a strategy that are counted."""


@dataclass(frozen=True, slots=True)
class SafeCourse:
    """What an action of a recorded strategy can lead to, now and later."""

    action: str
    outcomes: tuple[StateDict, ...]
    states: int
    """That can be reached by the strategy afterwards; none of them is unsafe."""
    is_whole: bool
    """Whether these are all; there may be more than are counted."""
    goals: int

    def as_json(self) -> dict[str, Any]:
        """As `show --json` has it."""
        return {
            "action": self.action,
            "outcomes": list(self.outcomes),
            "states": self.states,
            "is_whole": self.is_whole,
            "goals": self.goals,
        }


@dataclass
class SafeCourses:
    """The strategies of a record, followed in its model. They are believed; `misstep verify` checks them."""

    record: Record
    evidence: RecordedEvidence

    @cached_property
    def _task(self) -> SafetyTask:
        return recorded_model(self.record, self.evidence)

    @cached_property
    def _game(self) -> JaniGame:
        return self._task.game()

    def of(self, key: Key) -> SafeCourse | None:
        """From a state that is known to be safe; None where the strategy ends, or only so many steps count."""
        action = self.evidence.strategy.get(key)
        if action is None or self.evidence.header["horizon"] is not None:
            return None
        try:
            start = self._game.add(self._task.to_values(self.evidence.facts(key)))
            first = self._outcomes(start)
            reached, left = set(first), list(first)
            while left and len(reached) <= MOST_STATES:
                new = set(self._outcomes(left.pop())) - reached
                reached |= new
                left += new
        except (MisstepError, KeyError, TypeError, ValueError):  # a record that was tampered with
            return None
        return SafeCourse(
            action,
            tuple(self._task.state(self._game, s) for s in first),
            len(reached),
            not left,
            sum(self._game.is_goal(s) for s in reached),
        )

    def _outcomes(self, s: int) -> list[int]:
        if self._game.is_goal(s):
            return []
        facts = self._task.state(self._game, s)
        action = self.evidence.strategy.get((*(facts[name] for name in self.evidence.header["fields"]), 0))
        moves = self._game.plain_moves(s)
        return next((list(after) for label, after in moves if self._task.labels[label] == action), [])
