"""`planner` and `perfect`: a search from the test state itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from misstep._core import Action, State
from misstep.evidence import Claim, plan_claim, search_claim
from misstep.lab import Lab
from misstep.oracle import Case
from misstep.planners.native import Limits
from misstep.plugins import make_part, option
from misstep.task import Task


class Found(Protocol):
    """What the oracle wants to know of a search's result."""

    outcome: str
    limit: str | None
    lower_bound: float
    expanded: int

    @property
    def plan(self) -> list[Action]:
        """Empty without one."""
        ...


class Search(Protocol):
    """A part of kind `search`."""

    def run(
        self, task: Task, *, state: State | None, limits: Limits = Limits(), seed: int | None = None
    ) -> Found:
        """Searches from a state."""
        ...


@dataclass(frozen=True)
class Planner:
    """A planner on the test state: `planner:astar`, `planner:ehc`, `planner:gbfs,max_expansions=1000`."""

    name = "planner"
    search: str = option("astar:lmcut", "any search of `misstep parts search`")
    max_expansions: int | None = option(None, "of one search")
    max_seconds: float = option(60.0, "for one state")
    max_memory_mb: int = option(4096, "for one search")

    def bind(self, lab: Lab, /) -> "BoundPlanner":
        """The oracle on a lab."""
        search: Search = make_part("search", self.search)
        return BoundPlanner(self, search, lab)


@dataclass(frozen=True)
class Perfect:
    """Exact h* by A* with LM-cut, however long it takes (within the limits of the whole test)."""

    name = "perfect"
    max_memory_mb: int = option(4096, "for one search")

    def bind(self, lab: Lab, /) -> "BoundPlanner":
        """The oracle on a lab."""
        part = Planner(max_seconds=float("inf"), max_memory_mb=self.max_memory_mb)
        search: Search = make_part("search", part.search)
        return BoundPlanner(part, search, lab, name=self.name)


@dataclass(frozen=True, slots=True)
class BoundPlanner:
    """The oracle at work."""

    part: Planner
    search: Search
    lab: Lab
    name: str = "planner"

    def claims(self, case: Case, /) -> Iterator[Claim]:
        """The plan and the lower bound that the search found."""
        yield from self.solve(case.entry.state)

    def solve(self, state: State) -> Iterator[Claim]:
        """The same for any state."""
        found = self.search.run(
            self.lab.task,
            state=state,
            limits=Limits(
                self.part.max_expansions,
                self.lab.seconds_left(self.part.max_seconds),
                self.part.max_memory_mb,
            ),
        )
        if found.limit is not None:
            self.lab.limits_hit.add(f"{self.name}: {found.limit}")
        if found.outcome == "solved":
            yield plan_claim(state, found.plan, self.name)
        if found.lower_bound > self.lab.best(state).lo:
            yield search_claim(state, found.lower_bound, self.part.search, found.expanded, self.name)
