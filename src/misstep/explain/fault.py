"""Fault localisation: the first decision of a buggy run that provably leaves every optimal continuation.

The decision a = pi(s) is at fault where c(a) + h*(successor) > h*(s). Proven with bounds: the cost of a and a
lower bound of the successor exceed an upper bound of s. Beyond the papers, which leave it open.
"""

from dataclasses import dataclass
from typing import Any

from misstep._core import Action, State, search
from misstep.claim import Claim, names, plan_claim, rests_on_search
from misstep.events import Misstep
from misstep.lab import Lab
from misstep.oracle import Case

_SEARCH = "astar:lmcut"


@dataclass(frozen=True, slots=True)
class Fault:
    """The decision after `step` actions of a run; `witness` is a plan of the state where it was made."""

    step: int
    action: Action | None
    witness: tuple[Action, ...]
    lower: Claim[State] | None
    """What is proven about the state after the action; None where the answer itself was no legal action."""

    @property
    def schema(self) -> str | None:
        """The action schema of the decision."""
        return None if self.action is None else self.action.name.strip("()").split(" ")[0]

    @property
    def rests_on_search(self) -> bool:
        """Whether only a search says that the decision is at fault."""
        return rests_on_search(self.lower)

    @property
    def note(self) -> Misstep:
        """For events."""
        better = self.witness[0].name if self.witness else None
        return Misstep(
            step=self.step, action=None if self.action is None else self.action.name, better=better
        )

    def as_json(self) -> dict[str, Any]:
        """For certificates."""
        return {
            "step": self.step,
            "action": None if self.action is None else self.action.name,
            "schema": self.schema,
            "better": self.witness[0].name if self.witness else None,
            "witness": names(self.witness),
            "lower": None if self.lower is None else self.lower.evidence.as_json(self.lower.bound),
        }


def localise(lab: Lab, case: Case, *, effort: float = 5e6, max_seconds: float = 10.0) -> Fault | None:
    """The first decision on a run that is proven to be at fault, None where no proof was found.

    Landmarks are tried before searches: their proofs can be checked again. Upper bounds of the states on the
    run come from the known plan of the start, from the policy itself and from searches. `effort` is counted
    as the planner oracle counts it, half of it for landmarks.
    """
    states, actions = case.run.states, case.run.actions
    _spread_plans(lab, states, actions)
    left = effort / 2
    for state in states:
        left -= lab.evaluation_effort(state)  # claims the landmarks
        if left < 0 or lab.budget.is_over:
            break
    found = _first(lab, case)
    left += effort / 2
    for step, state in enumerate(states[:-1] if found is None else states[: found.step]):
        for subject in (step, step + 1):
            left -= _search(lab, case, subject, left / 4, max_seconds)
        if (fault := _decision(lab, step, actions[step], state, states[step + 1])) is not None:
            return fault
        if left < effort / 100 or lab.budget.is_over:
            break
    if found is None and case.run.outcome in ("stuck", "illegal"):
        _search(lab, case, len(actions), left, max_seconds)
        found = _answer(lab, case)
    return found


def _spread_plans(lab: Lab, states: list[State], actions: list[Action]) -> None:
    """A plan of a later state makes one of each earlier state."""
    for step in range(len(actions) - 1, -1, -1):
        plan = lab.plan(states[step + 1])
        cost = lab.best(states[step + 1]).hi + actions[step].cost
        if plan is not None and cost < lab.best(states[step]).hi:
            lab.enter(plan_claim(states[step], (actions[step], *plan), "fault"))


def _first(lab: Lab, case: Case) -> Fault | None:
    states, actions = case.run.states, case.run.actions
    for step, action in enumerate(actions):
        if (fault := _decision(lab, step, action, states[step], states[step + 1])) is not None:
            return fault
    return _answer(lab, case)


def _answer(lab: Lab, case: Case) -> Fault | None:
    """Where a run ends without a legal action although there is a plan, that answer is at fault."""
    plan = lab.plan(case.run.states[-1])
    if case.run.outcome in ("stuck", "illegal") and plan is not None:
        return Fault(len(case.run.actions), case.run.answer, plan, None)
    return None


def _decision(lab: Lab, step: int, action: Action, state: State, after: State) -> Fault | None:
    plan, lower = lab.plan(state), lab.lower(after)
    if plan is None or lower is None or not action.cost + lower.bound.lo > lab.best(state).hi:
        return None
    return Fault(step, action, plan, lower)


def _search(lab: Lab, case: Case, step: int, effort: float, max_seconds: float) -> float:
    """Tightens both bounds of a state on the run by a bounded optimal search; the effort that was spent."""
    state, before = case.run.states[step], lab.effort
    if lab.best(state).is_exact or effort <= 0:
        return 0.0
    per_expansion = lab.expansion_effort(state)
    budget = lab.budget.part(seconds=max_seconds, expansions=max(1, int(effort // per_expansion)))

    def ask() -> list[Claim[State]]:
        found = search(lab.task, _SEARCH, state=state, budget=budget, keep_frontier=True)
        lab.spend(found.expanded * per_expansion)
        return list(lab.claims_of(state, found, _SEARCH, "fault"))

    lab.consult(f"{case.id} fault {step}", ask)
    return lab.effort - before
