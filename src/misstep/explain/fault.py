"""Fault localisation: a decision of a buggy run that provably leaves every best course, the first one if possible.

Let P(j) be what the run has spent when it is in its j-th state s(j), and E(j) = P(j) + h*(s(j)) what reaching the
goal costs in all if one does from there on the best that is possible. E never falls along a run, and it rises
exactly where a decision leaves every best course. So one such decision is found by bisection between states
that are *good* (as cheap in all as the plan that is known for the start) and *bad* (provably dearer). It is the
first one where the known plan is a best one, of cost E(0). A plan that costs more hides the decisions that are
wrong by no more than that, and may take them, too. So the start comes first: a search looks for a better plan,
or proves that there is none.
Where bounds are too weak for that, what is left between them is a window that must contain such a decision.
Beyond the papers, which leave it open.
"""

import math
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

from misstep._core import Action, State, search
from misstep.bound import Bound
from misstep.claim import Claim, names, plan_claim, rests_on_search
from misstep.events import Misstep
from misstep.lab import Lab
from misstep.oracle import Case
from misstep.proof import Surrounded

_SEARCH, _ANY_PLAN = "astar:lmcut", "lazy:ff"
# After so many states in a row about which nothing could be proven, the window is left as it is.
_TRIES = 6
_FEW = 10
# What may be spent on one bug, as the planner oracle counts it; also where exact costs were asked for.
_EFFORT, _EXACT_EFFORT = 5e6, 5e8


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


def localise(
    lab: Lab, case: Case, *, exact: bool = False, effort: float | None = None, max_seconds: float = 10.0
) -> Fault | None:
    """A decision on a run that is proven to be at fault, or a window that contains one.

    Where the best cost of the start is known exactly afterwards, it is the first such decision on the run, or the
    window contains the first one. None where there is no proof: the plan that is known is no better than a part
    of the run. With `exact` the search for proofs may take much longer; `effort` says how long, as the planner
    oracle counts it.
    """
    if lab.plan(case.state) is None:
        return None
    if effort is None:
        effort = _EXACT_EFFORT if exact else _EFFORT
    return _Bisection(lab, case, effort, max_seconds).fault()


class _Bisection:
    def __init__(self, lab: Lab, case: Case, effort: float, max_seconds: float) -> None:
        self.lab, self.case = lab, case
        self.states, self.actions = case.run.states, case.run.actions
        self.spent = [0, *accumulate(action.cost for action in self.actions)]
        self.left, self.max_seconds = effort, max_seconds
        self._spread_back()
        self._look_at_start()
        self._spread_forward()
        self.best = lab.best(case.state).hi
        """What the best known plan of the start costs."""

    def fault(self) -> Fault | None:
        bad = self._end()
        if bad is None:
            return self._loop()
        good = self._last_good(bad)
        tries, at = 0, (good + bad) // 2
        while bad - good > 1 and tries < _TRIES and not self.lab.budget.is_over:
            self._look(at)
            if self._improves(at):
                bad = next(step for step in range(1, bad + 1) if step == bad or self._is_bad(step))
                good = self._last_good(bad)
                tries, at = 0, (good + bad) // 2
            elif self._is_good(at):
                good, tries, at = at, 0, (at + bad) // 2
            elif self._is_bad(at):
                bad, tries, at = at, 0, (good + at) // 2
            else:
                # Searches get easier towards the goal, proofs of dead ends too: then from the other side.
                tries += 1
                step = 1 + (bad - good - 2) * tries // _TRIES
                at = min(bad - 1, good + step) if tries % 2 else max(good + 1, bad - step)
        return self._between(good, bad)

    def _last_good(self, bad: int) -> int:
        """The last state before the bad one with a plan that is known already; there is one for the start."""
        return max((step for step in range(bad) if self._is_good(step)), default=0)

    def _improves(self, at: int) -> bool:
        """Whether the plan of a state makes one of the start that is better than any known; then it is known."""
        before = self.best
        if self.spent[at] + self.lab.best(self.states[at]).hi >= before:
            return False
        self._spread_back()
        self._spread_forward()
        self.best = self.lab.best(self.case.state).hi
        return self.best < before

    def _end(self) -> int | None:
        """The first step that is known to be bad without a look: the end of the run, or before."""
        last = len(self.actions)
        if self.case.run.outcome == "loop":
            self._bound_the_repeated()
        for at in range(1, last + 1):
            if self._is_bad(at):
                return at
        if self.case.run.outcome in ("stuck", "illegal"):
            return last + 1  # where the answer leads: nowhere
        self._look(last)
        self._improves(last)
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
        self.lab.look_up(self.states[at])
        if not self._is_good(at) and not self._is_bad(at):
            # Either there is a plan that makes the state good, or all plans make it bad.
            self._search(at, int(self.best) - self.spent[at] + 1)

    def _look_at_start(self) -> None:
        """Looks for a better plan of the start than the best that is known; what it spends counts extra."""
        self.lab.look_up(self.case.state)
        known, left = self.lab.best(self.case.state), self.left
        # Where expansions cost so much that the search is over before it has begun, it only takes time.
        if known.lo < known.hi and left / 3 >= _FEW * self.lab.expansion_effort(self.case.state):
            self._search(0, int(known.hi))
            self.left = left

    def _search(self, at: int, below: int) -> None:
        """A bounded search for a plan of a state that costs less than `below`."""
        state, lab = self.states[at], self.lab
        per_expansion = lab.expansion_effort(state)
        share, before = self.left / 3, lab.effort
        expansions = max(1, int(share // per_expansion))
        budget = lab.turn.part(seconds=self.max_seconds, expansions=expansions)
        searching = partial(
            search, lab.task, _SEARCH, state=state, budget=budget, below=below, keep_frontier=True
        )

        def ask() -> list[Claim[State]]:
            found = lab.work((_SEARCH, "fault", state, expansions, below), searching)
            lab.spend(found.expanded * per_expansion)
            return list(lab.claims_of(state, found, _SEARCH, "fault"))

        lab.consult(f"{self.case.id} fault {at}", ask)
        self.left -= lab.effort - before

    def _bound_the_repeated(self) -> None:
        """The best course through a state of the run costs no less than the best one of the start.

        Where that is known, the end of a loop is known to be bad without a search.
        """
        lab, at = self.lab, len(self.actions)
        proof = None if (known := lab.lower(self.case.state)) is None else known.evidence
        spent = self.spent[self.states.index(self.states[at])]
        if isinstance(proof, Surrounded) and spent < proof.bound < math.inf:
            rest = proof.further_on(spent)
            lab.enter(Claim(self.states[at], Bound(rest.bound), rest, "fault"))

    def _spread_back(self) -> None:
        """A plan of a later state makes one of each earlier state."""
        lab = self.lab
        for step in range(len(self.actions) - 1, -1, -1):
            action, state, after = self.actions[step], self.states[step], self.states[step + 1]
            plan = lab.plan(after)
            if plan is not None and lab.best(after).hi + action.cost < lab.best(state).hi:
                lab.enter(plan_claim(state, (action, *plan), "fault"))

    def _spread_forward(self) -> None:
        """A plan of the start, as far as the run follows it, makes one of each state on the way."""
        lab, plan = self.lab, self.lab.plan(self.states[0])
        for step, action in enumerate(self.actions):
            if plan is None or not plan or plan[0].name != action.name:
                return
            plan, state = plan[1:], self.states[step + 1]
            if sum(each.cost for each in plan) < lab.best(state).hi:
                lab.enter(plan_claim(state, plan, "fault"))
