"""`heuristic:NAME`: greedy descent on a heuristic."""

from dataclasses import dataclass

from misstep._core import HeuristicPolicy
from misstep.planners.native import HeuristicName
from misstep.plugins import option
from misstep.task import Task


@dataclass(frozen=True)
class Heuristic:
    """Goes to the successor that a heuristic likes best; the first action on ties."""

    name: HeuristicName = option("ff", "the heuristic")

    def bind(self, task: Task, /) -> HeuristicPolicy:
        """The native policy on this task."""
        return HeuristicPolicy(task, self.name)
