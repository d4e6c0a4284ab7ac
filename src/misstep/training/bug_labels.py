"""What a bug teaches: the states in which the policy may have gone wrong, and what is good there."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from misstep import _core
from misstep.task import Task
from misstep.training.labels import Labeller, Sample, only_good
from misstep.training.teacher_cache import TeacherCache
from misstep.training.teachers import replayed

BugRule: TypeAlias = Literal["plan", "successors"]


@dataclass
class BugLabels:
    """Labels for the bugs of one task, by one of two rules.

    `plan`: in the states along the better plan its actions are good and all others bad. That makes up the
    policy's mind where several actions are as good, but may unlearn what was right.
    `successors`: teachers are asked about every successor, in the states along the better plan and along the
    policy's own run, where its mistake must be; a state is labelled once, however many bugs lead through it. Where
    teachers reach their limit, the plan's action is what is known.
    """

    rule: BugRule
    task: Task
    teachers: Sequence[str]
    max_expansions: int
    cache: TeacherCache | None = None
    _labeller: Labeller = field(init=False)
    _seen: set[_core.State] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._labeller = Labeller(self.task, self.teachers, self.max_expansions, self.cache)

    def of_bug(self, state: _core.State, *, plan: Sequence[str], run: Sequence[str]) -> list[Sample]:
        """Samples of a bug in this state, with a better plan and the actions that the policy takes."""
        samples = []
        here = state
        for action in replayed(self.task, state, plan):
            samples += self._sample(here, action)
            here = self.task.apply(here, action)
        here = state
        for name in run if self.rule == "successors" else ():
            samples += self._sample(here, None)
            taken = next((action for action in self.task.applicable(here) if action.name == name), None)
            if taken is None:  # The policy's answer was no action of the state: the run ends here.
                break
            here = self.task.apply(here, taken)
        return samples

    def _sample(self, state: _core.State, action: _core.Action | None) -> list[Sample]:
        """At most one sample; `action` is the plan's, if a plan goes through here."""
        if self.rule == "successors":
            if state in self._seen or self.task.is_goal(state):
                return []
            self._seen.add(state)
            found = self._labeller.by_successors(state)
            if found or action is None:
                return found
        assert action is not None
        return [only_good(self.task, state, action)]
