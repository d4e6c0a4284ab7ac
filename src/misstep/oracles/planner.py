"""`planner` and `perfect`: a search from the test state itself."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from misstep._core import Budget, State
from misstep.claim import Claim, Found, plan_claim
from misstep.lab import Lab
from misstep.oracle import Case
from misstep.planners.native import AStar, NativeSearch
from misstep.plugins import make_part, option
from misstep.task import Task

# What A* has expanded can be written down as a proof up to so many states (`max_frontier` in search.hpp). Searches
# that may spend more than their own effort end there: what has to be believed is no better than an unknown state.
_PROVABLE = 200_000


class Search(Protocol):
    """A part of kind `search`."""

    def run(
        self, task: Task, *, state: State | None, budget: Budget | None = None, below: int | None = None
    ) -> Found:
        """Searches from a state."""
        ...


@dataclass(frozen=True)
class Planner:
    """A planner on the test state: `planner:astar`, `planner:ehc`, `planner:gbfs,max_expansions=1000`."""

    name = "planner"
    search: str = option("astar:lmcut", "any search of `misstep parts search`")
    max_expansions: int | None = option(None, "expansions of one search")
    effort: float | None = option(None, "expansions times branching, actions and landmarks of the state")
    max_seconds: float = option(60.0, "time limit for one state")
    max_memory_mb: int = option(4096, "memory limit of one search")

    def bind(self, lab: Lab, /) -> "PlannerOracle":
        """The oracle on a lab."""
        search: Search = make_part("search", self.search)
        is_anytime = self.effort is not None
        may_exceed = is_anytime and isinstance(search, NativeSearch)
        return PlannerOracle(self, search, lab, is_anytime=is_anytime, may_exceed=may_exceed)


@dataclass(frozen=True)
class Perfect:
    """Exact h* by A* with LM-cut, however long it takes (within the limits of the whole test)."""

    name = "perfect"
    max_memory_mb: int = option(4096, "memory limit of one search")

    def bind(self, lab: Lab, /) -> "PlannerOracle":
        """The oracle on a lab."""
        part = Planner(max_seconds=float("inf"), max_memory_mb=self.max_memory_mb)
        search: Search = make_part("search", part.search)
        return PlannerOracle(part, search, lab, name=self.name, is_exact=True)


@dataclass(frozen=True, slots=True)
class PlannerOracle:
    """The oracle at work."""

    part: Planner
    search: Search
    lab: Lab
    name: str = "planner"
    is_anytime: bool = False
    """Whether its effort is counted; seconds are not, since they differ from machine to machine."""
    is_exact: bool = False
    """Whether nothing but the exact cost is good enough."""
    may_exceed: bool = False
    """Whether more effort than its own is of use, and takes time in proportion."""

    @property
    def works_ahead(self) -> bool:
        """Planners in processes of their own are run by one thread."""
        return isinstance(self.search, NativeSearch)

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """The plan and the lower bound that the search found."""
        state = case.state
        # Plans that cost as much as the policy are of no interest.
        below = None if case.cost.hi == math.inf else math.ceil(case.cost.hi)
        # What A* found out can be proven to others; all other searches have to be believed.
        kept = {"keep_frontier": True} if isinstance(self.search, AStar) else {}
        expansions = self._max_expansions(state)
        searching = partial(
            self.search.run,
            self.lab.task,
            state=state,
            budget=self.lab.turn.part(
                seconds=self.part.max_seconds, expansions=expansions, memory_mb=self.part.max_memory_mb
            ),
            below=below,
            **kept,
        )
        found = self.lab.work((self.name, self.part.search, state, expansions, below), searching)
        self.lab.spend(found.expanded * self._effort(state))
        if found.limit not in (None, "bound"):
            note = getattr(found, "note", "")  # what an external planner has to say
            self.lab.limits_hit.add(f"{self.name}: {found.limit}" + (f" ({note})" if note else ""))
        claims = self.lab.claims_of(state, found, self.part.search, self.name)
        yield from self._on_the_way(state, found, claims)

    def _on_the_way(
        self, state: State, found: Found, claims: Iterator[Claim[State]]
    ) -> Iterator[Claim[State]]:
        """The claims; before them what follows for test states on the plan: the search was for them, too.

        The rest of a plan is a plan of each of them, and what bounds the whole bounds the rest.
        """
        lab, at = self.lab, state
        met = []
        for number, action in enumerate(found.plan, start=1):
            at = lab.task.apply(at, action)
            if lab.is_in_pool(at):
                met.append(plan_claim(at, found.plan[number:], self.name))
        if met:
            known = list(claims)
            for claim in known:
                met += lab.claims_along(claim, found.plan, self.name)
            claims = iter(known)
        yield from met
        yield from claims

    def _max_expansions(self, state: State) -> int | None:
        """The same work for large and small tasks, and the same on every machine, unlike seconds."""
        if self.part.effort is None:
            return self.part.max_expansions
        most = math.inf if self.part.max_expansions is None else self.part.max_expansions
        lab, own = self.lab, max(1, self.part.effort // self._effort(state))
        if lab.scale > 1 and not lab.is_extended and isinstance(self.search, AStar):
            most = min(most, max(own, _PROVABLE))
        return int(min(most, max(1, lab.scale * self.part.effort // self._effort(state))))

    def _effort(self, state: State) -> float:
        """Of one expansion; landmarks are looked at only where their number counts."""
        if self.part.effort is not None:
            return self.lab.expansion_effort(state)
        return float((len(self.lab.task.actions) + 1) * (len(self.lab.task.applicable(state)) + 1))
