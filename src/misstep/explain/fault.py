"""Fault localisation: the first decision of a buggy run that provably leaves every optimal continuation.

Let P(j) be what the run has spent when it is in its j-th state s(j), and E(j) = P(j) + h*(s(j)) what reaching the
goal costs in all if one does from there on the best that is possible. E never falls along a run, and it rises
exactly where a decision leaves every best course. So the first such decision is found by bisection between
states that are *good* (as cheap in all as the plan that is known for the start) and *bad* (provably dearer).
Where bounds are too weak for that, what is left between them is a window that must contain such a decision.
Beyond the papers, which leave it open.
"""

import math
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

from misstep._core import Action, State, search
from misstep.claim import Claim, names, plan_claim, rests_on_search
from misstep.events import Misstep
from misstep.lab import Lab
from misstep.oracle import Case

_SEARCH, _ANY_PLAN = "astar:lmcut", "lazy:ff"
# After so many states in a row about which nothing could be proven, the window is left as it is.
_TRIES = 6


@dataclass(frozen=True, slots=True)
class Fault:
    """Of the decisions from `step` to before `until`, one is at fault; most often there is just one."""

    step: int
    until: int
    action: Action | None
    """The decision, where there is just one."""
    witness: tuple[Action, ...]
    """A plan of the state before the first one."""
    lower: Claim[State] | None
    """What is proven about the state after the last one; None where the run goes on for ever from there, or
    ended without a legal action."""

    @property
    def is_single(self) -> bool:
        """Whether it is one decision."""
        return self.until == self.step + 1

    @property
    def schema(self) -> str | None:
        """The action schema of the decision."""
        return None if self.action is None else self.action.name.strip("()").split(" ")[0]

    @property
    def better(self) -> str | None:
        """What one should do instead; of a window nobody knows."""
        return self.witness[0].name if self.witness and self.is_single else None

    @property
    def rests_on_search(self) -> bool:
        """Whether only a search says that the decision is at fault."""
        return rests_on_search(self.lower)

    @property
    def note(self) -> Misstep:
        """For events."""
        action = None if self.action is None else self.action.name
        return Misstep(step=self.step, until=self.until, action=action, better=self.better)

    def as_json(self) -> dict[str, Any]:
        """For certificates."""
        return {
            "step": self.step,
            "until": self.until,
            "action": None if self.action is None else self.action.name,
            "schema": self.schema,
            "better": self.better,
            "witness": names(self.witness),
            "lower": None if self.lower is None else self.lower.evidence.as_json(self.lower.bound),
        }


def localise(lab: Lab, case: Case, *, effort: float = 5e6, max_seconds: float = 10.0) -> Fault | None:
    """The first decision on a run that is proven to be at fault, or a window that contains one.

    None where there is no proof: the plan that is known is no better than a part of the run. `effort` is
    counted as the planner oracle counts it.
    """
    if lab.plan(case.state) is None:
        return None
    return _Bisection(lab, case, effort, max_seconds).fault()


class _Bisection:
    def __init__(self, lab: Lab, case: Case, effort: float, max_seconds: float) -> None:
        self.lab, self.case = lab, case
        self.states, self.actions = case.run.states, case.run.actions
        self.spent = [0, *accumulate(action.cost for action in self.actions)]
        self.left, self.max_seconds = effort, max_seconds
        self._spread_plans()
        self.best = lab.best(case.state).hi
        """What the best known plan of the start costs."""

    def fault(self) -> Fault | None:
        good, bad = 0, self._end()
        if bad is None:
            return self._loop()
        for step in range(bad):  # plans that are known already
            if self._is_good(step):
                good = step
        tries, at = 0, (good + bad) // 2
        while bad - good > 1 and tries < _TRIES and not self.lab.budget.is_over:
            self._look(at)
            if self._is_good(at):
                good, tries, at = at, 0, (at + bad) // 2
            elif self._is_bad(at):
                bad, tries, at = at, 0, (good + at) // 2
            else:
                # Searches get easier towards the goal, proofs of dead ends too: then from the other side.
                tries += 1
                step = 1 + (bad - good - 2) * tries // _TRIES
                at = min(bad - 1, good + step) if tries % 2 else max(good + 1, bad - step)
        return self._between(good, bad)

    def _end(self) -> int | None:
        """The first step that is known to be bad without a look: the end of the run, or before."""
        last = len(self.actions)
        for at in range(1, last + 1):
            if self._is_bad(at):
                return at
        if self.case.run.outcome in ("stuck", "illegal"):
            return last + 1  # where the answer leads: nowhere
        self._look(last)
        return last if self._is_bad(last) else None

    def _between(self, good: int, bad: int) -> Fault | None:
        plan = self.lab.plan(self.states[good])
        assert plan is not None  # or it would not be good
        is_single = bad == good + 1
        if bad > len(self.actions):
            return Fault(good, bad, self.case.run.answer if is_single else None, plan, None)
        action = self.actions[good] if is_single else None
        return Fault(good, bad, action, plan, self.lab.lower(self.states[bad]))

    def _loop(self) -> Fault | None:
        """Going round costs something and leads nowhere: whatever a state's best course is, that leaves it."""
        last = len(self.actions)
        if self.case.run.outcome != "loop":
            return None
        back = self.states.index(self.states[last])
        if self.spent[last] == self.spent[back]:
            return None
        self._find_plan(back)
        # Any plan will do: where there is one, somebody who goes round does not take the cheapest.
        first = next(at for at in range(back, -1, -1) if self.lab.plan(self.states[at]) is not None)
        plan = self.lab.plan(self.states[first])
        assert plan is not None
        is_single = last == first + 1
        return Fault(first, last, self.actions[first] if is_single else None, plan, None)

    def _find_plan(self, at: int) -> None:
        """Looks for any plan of a state, however much it costs."""
        state, lab = self.states[at], self.lab
        if lab.plan(state) is not None:
            return
        work, before = len(lab.task.actions) + 1, lab.effort
        expansions = max(1, int(self.left // work))
        budget = lab.turn.part(seconds=self.max_seconds, expansions=expansions)
        searching = partial(search, lab.task, _ANY_PLAN, state=state, budget=budget)

        def ask() -> list[Claim[State]]:
            found = lab.work((_ANY_PLAN, "fault", state, expansions), searching)
            lab.spend(found.expanded * work)
            return [plan_claim(state, found.plan, "fault")] if found.outcome == "solved" else []

        lab.consult(f"{self.case.id} fault plan {at}", ask)
        self.left -= lab.effort - before

    def _is_good(self, at: int) -> bool:
        return at < len(self.states) and self.spent[at] + self.lab.best(self.states[at]).hi <= self.best

    def _is_bad(self, at: int) -> bool:
        return self.spent[at] + self.lab.best(self.states[at]).lo > self.best

    def _look(self, at: int) -> None:
        """Asks whether a state of the run is good or bad: what costs little first, then a bounded search."""
        if at >= len(self.states):
            return
        state, lab = self.states[at], self.lab
        lab.look_up(state)
        per_expansion = lab.expansion_effort(state)
        if self._is_good(at) or self._is_bad(at):
            return
        share, before = self.left / 3, lab.effort
        expansions = max(1, int(share // per_expansion))
        budget = lab.turn.part(seconds=self.max_seconds, expansions=expansions)
        # Either there is a plan that makes the state good, or all plans make it bad.
        below = None if self.best == math.inf else int(self.best) - self.spent[at] + 1

        searching = partial(
            search, lab.task, _SEARCH, state=state, budget=budget, below=below, keep_frontier=True
        )

        def ask() -> list[Claim[State]]:
            found = lab.work((_SEARCH, "fault", state, expansions, below), searching)
            lab.spend(found.expanded * per_expansion)
            return list(lab.claims_of(state, found, _SEARCH, "fault"))

        lab.consult(f"{self.case.id} fault {at}", ask)
        self.left -= lab.effort - before

    def _spread_plans(self) -> None:
        """A plan of a later state makes one of each earlier state."""
        lab = self.lab
        for step in range(len(self.actions) - 1, -1, -1):
            action, state, after = self.actions[step], self.states[step], self.states[step + 1]
            plan = lab.plan(after)
            if plan is not None and lab.best(after).hi + action.cost < lab.best(state).hi:
                lab.enter(plan_claim(state, (action, *plan), "fault"))
        # And a plan of the start, as far as the run follows it, makes one of each state on the way.
        plan = lab.plan(self.states[0])
        for step, action in enumerate(self.actions):
            if plan is None or not plan or plan[0].name != action.name:
                return
            plan, state = plan[1:], self.states[step + 1]
            if sum(each.cost for each in plan) < lab.best(state).hi:
                lab.enter(plan_claim(state, plan, "fault"))
