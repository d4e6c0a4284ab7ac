"""The searches of the native core as parts."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from misstep import _core
from misstep.plugins import option
from misstep.task import Task

HeuristicName: TypeAlias = Literal["blind", "hmax", "hadd", "ff", "lmcut"]


class NativeSearch:
    """What the searches share; `name` is how the core calls the algorithm."""

    name: str
    heuristic: HeuristicName

    def run(
        self,
        task: Task,
        *,
        state: _core.State | None = None,
        budget: _core.Budget | None = None,
        seed: int | None = None,
        below: int | None = None,
        keep_frontier: bool = False,
    ) -> _core.SearchResult:
        """Searches from `state`, or from the initial state. Same seed, same result.

        An optimal search ends with the limit `bound` as soon as no plan can cost less than `below`. With
        `keep_frontier` its result says why its lower bound holds.
        """
        return _core.search(
            task,
            str(self),
            state=state,
            budget=budget,
            seed=seed,
            below=below,
            keep_frontier=keep_frontier,
        )

    def __str__(self) -> str:
        return f"{self.name}:{self.heuristic}"


@dataclass(frozen=True)
class AStar(NativeSearch):
    """A*: the plan is optimal where the heuristic is admissible (blind, hmax, lmcut)."""

    name = "astar"
    heuristic: HeuristicName = option("lmcut", "estimates the cost to the goal")


@dataclass(frozen=True)
class GreedyBestFirst(NativeSearch):
    """Greedy best-first search: fast, complete, plans of any quality."""

    name = "gbfs"
    heuristic: HeuristicName = option("ff", "estimates the cost to the goal")


@dataclass(frozen=True)
class LazyGreedy(NativeSearch):
    """Greedy search with late evaluation and preferred actions: fast on large tasks, complete."""

    name = "lazy"
    heuristic: Literal["ff"] = option("ff", "estimates the cost to the goal and prefers actions")


@dataclass(frozen=True)
class EnforcedHillClimbing(NativeSearch):
    """Enforced hill-climbing: very fast, incomplete; ends with the limit `incomplete` where it is stuck."""

    name = "ehc"
    heuristic: HeuristicName = option("ff", "estimates the cost to the goal")
