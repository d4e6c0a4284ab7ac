"""`undo` and `inverse`: the way back to where the walk came from, then a plan of that state ([22])."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from misstep._core import Action, SearchResult, State, UndoProofs, improve_plan
from misstep.claim import Claim, plan_claim
from misstep.formats.sas import with_goal
from misstep.lab import Lab
from misstep.oracle import Case
from misstep.planners.native import GreedyBestFirst
from misstep.plugins import option
from misstep.pool import PoolEntry
from misstep.task import Task

# Expansions that are spent on making a plan better.
_IMPROVEMENT = 1_000


@dataclass(frozen=True)
class Undo:
    """UndoQual: where every action of the walk can provably be undone, back to a state with a plan."""

    name = "undo"
    max_expansions: int = option(10_000, "expansions of the search for a plan of the initial state")
    max_seconds: float = option(60.0, "time limit of that search")
    max_return: int = option(300, "expansions of a search for the way back where an action cannot be undone")
    failing: bool = option(False, "look only at states that the policy does not solve")

    def bind(self, lab: Lab, /) -> "UndoOracle":
        """The oracle on a lab."""
        return UndoOracle(self, lab, UndoProofs(lab.task))


@dataclass(frozen=True)
class Inverse:
    """InvQuant: back to the parent pool state by inverse actions, then the policy from there."""

    name = "inverse"

    def bind(self, lab: Lab, /) -> "InverseOracle":
        """The oracle on a lab."""
        return InverseOracle(lab, UndoProofs(lab.task))


@dataclass(frozen=True, slots=True)
class UndoOracle:
    """The oracle at work."""

    part: Undo
    lab: Lab
    proofs: UndoProofs

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """A plan over the nearest ancestor of which one is known, or over the initial state."""
        if self.part.failing and (case.run.outcome == "solved" or self.lab.best(case.state).hi < math.inf):
            return
        back: list[Action] = []
        at: PoolEntry | None = case.entry
        while at is not None and at.parent is not None and at.walk:
            parent = self.lab.entry(at.parent)
            undone = None if parent is None else self._undone(parent.state, at.state, at.walk)
            if parent is None or undone is None:
                return
            back += undone
            plan = self._plan(parent)
            if plan is not None:
                # Undoing may leave more than was there before, so the plan's actions stay applicable.
                yield plan_claim(case.state, self._better(case.state, [*back, *plan]), self.part.name)
                return
            at = parent

    def _undone(self, start: State, end: State, walk: tuple[Action, ...]) -> list[Action] | None:
        back = way_back(self.lab, start, walk, self.proofs.undo_plan)
        return self._searched(start, end) if back is None else back

    def _searched(self, start: State, end: State) -> list[Action] | None:
        """What cannot be undone everywhere may be undone here: a plan back to all that counts in `start`."""
        task = self.lab.task
        used = self.lab.shared("used facts", lambda: _used_facts(task))
        goal = {variable: value for variable, value in enumerate(start.values) if (variable, value) in used}
        towards = Task(with_goal(task.sas, goal))
        budget = self.lab.turn.part(seconds=self.part.max_seconds, expansions=self.part.max_return)
        found = GreedyBestFirst().run(towards, state=towards.state_from_values(end.values), budget=budget)
        self.lab.spend(found.expanded * (len(task.actions) + 1))
        return [task.actions[a.index] for a in found.plan] if found.outcome == "solved" else None

    def _plan(self, entry: PoolEntry) -> tuple[Action, ...] | None:
        plan = self.lab.plan(entry.state)
        if plan is None and entry.parent is None:
            # Once for all cases that lead back to it. It is not counted: where a stopped test goes on, another
            # case than before may be the first.
            found = self.lab.shared(("undo", self.part, entry.state), lambda: self._search(entry.state))
            if found.outcome == "solved":
                self.lab.enter(plan_claim(entry.state, found.plan, self.part.name))
                plan = tuple(found.plan)
        return plan

    def _search(self, state: State) -> SearchResult:
        budget = self.lab.turn.part(seconds=self.part.max_seconds, expansions=self.part.max_expansions)
        return GreedyBestFirst().run(self.lab.task, state=state, budget=budget)

    def _better(self, state: State, plan: list[Action]) -> list[Action]:
        """The plan without its worst detours: a person is going to read it."""
        better = improve_plan(self.lab.task, state, plan, budget=self.lab.turn.part(expansions=_IMPROVEMENT))
        self.lab.spend(better.expanded * (len(self.lab.task.actions) + 1))
        return better.plan


@dataclass(frozen=True, slots=True)
class InverseOracle:
    """The oracle at work."""

    lab: Lab
    proofs: UndoProofs

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """The way back and the policy's run from the parent."""
        parent = self.lab.entry(case.entry.parent)
        if parent is None or not case.entry.walk:
            return
        back = way_back(self.lab, parent.state, case.entry.walk, self._inverse)
        runs = [] if back is None else self.lab.run([parent.state])
        if back is not None and runs and runs[0].outcome == "solved":
            yield plan_claim(case.state, [*back, *runs[0].actions], "inverse")

    def _inverse(self, action: Action, before: State) -> list[Action] | None:
        inverse = self.proofs.inverse(action, before)
        return None if inverse is None else [inverse]


def _used_facts(task: Task) -> frozenset[tuple[int, int]]:
    """Facts that a precondition or the goal asks for. A state without the others is no worse."""
    needed = [fact for action in task.actions for fact in action.precondition]
    return frozenset([*needed, *task.goal])


def way_back(
    lab: Lab, start: State, walk: tuple[Action, ...], undo: Callable[[Action, State], list[Action] | None]
) -> list[Action] | None:
    """From the end of a walk to its start, step by step; None where a step cannot be undone."""
    states = [start]
    for action in walk:
        states.append(lab.task.apply(states[-1], action))
    back: list[Action] = []
    for action, before in zip(reversed(walk), reversed(states[:-1]), strict=True):
        undone = undo(action, before)
        if undone is None:
            return None
        back += undone
    return back
