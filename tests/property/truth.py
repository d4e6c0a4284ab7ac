"""What a classical certificate says, held against brute force: written without a look at the checker."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from misstep.reference.fdr import Action, State, Task
from misstep.testing import exhaustive


def check_truth(
    task: Task, certificate: dict[str, Any], *, known: Mapping[State, float] = MappingProxyType({})
) -> None:
    """Fail if the certificate says something false. What a search says is believed, as the checker does.

    `known` holds exact costs of states and of all states that can be reached from them.
    """
    state = find_state(task, certificate["state"])
    exact = known if state in known else exhaustive.exact_costs(task, exhaustive.depths(task, state))
    low, high = (number(certificate["best"][end]) for end in ("lo", "hi"))
    assert exact[state] <= high
    assert low <= exact[state] or is_search(certificate["lower"])
    states, spent = replay(task, state, certificate["run"]["actions"])
    cost = least_cost(certificate["run"], exact[states[-1]], spent)
    assert number(certificate["cost"]["lo"]) <= cost or is_search(certificate["run"].get("rest"))
    if certificate["run"]["outcome"] not in ("cut-off", "failed"):
        assert cost <= number(certificate["cost"]["hi"])
        check_verdict(certificate, cost, exact[state])
    if certificate["fault"] is not None:
        check_fault(task, certificate, states, exact)


def check_verdict(certificate: dict[str, Any], cost: float, best: float) -> None:
    name = certificate["objective"]["name"]
    if name not in ("quantitative", "qualitative") or is_search(certificate["lower"]):
        return
    if name == "qualitative":
        cost, best = (math.inf if x == math.inf else 0 for x in (cost, best))
    gap = 0 if cost == best else cost - best
    assert number(certificate["gap"]["lo"]) <= gap <= number(certificate["gap"]["hi"])
    assert certificate["verdict"] == ("bug" if cost > best else "cleared")


def check_fault(
    task: Task, certificate: dict[str, Any], states: list[State], exact: Mapping[State, float]
) -> None:
    fault, run = certificate["fault"], certificate["run"]
    first, last = fault["step"], fault["until"]
    here, actions = exact[states[first]], run["actions"]
    decisions = [*actions, run.get("answer")][first:last]
    assert len(decisions) == last - first >= 1
    assert fault["action"] == (decisions[0] if len(decisions) == 1 else None)
    if last == len(actions) + 1:
        assert run["outcome"] in ("stuck", "illegal") and here < math.inf
    elif not is_search(fault["lower"]):
        costs = {action.name: action.cost for action in task.actions}
        assert sum(costs[name] for name in decisions) + exact[states[last]] > here


def least_cost(run: dict[str, Any], rest: float, spent: int) -> float:
    """What the policy costs at least, if it decides as the run says: exact but for runs that were ended."""
    if run["outcome"] == "solved":
        assert rest == 0
        return spent
    if run["outcome"] == "cut-off":
        return spent + rest
    return spent if run["outcome"] == "failed" else math.inf


def replay(task: Task, state: State, names: list[str]) -> tuple[list[State], int]:
    states, spent = [state], 0
    for name in names:
        fitting: list[Action] = [a for a in task.actions if a.name == name and a.applicable(states[-1])]
        states.append(fitting[0].apply(states[-1]))
        spent += fitting[0].cost
    return states, spent


def find_state(task: Task, atoms: list[str]) -> State:
    """Read a state variable by variable: the atom that is listed, or the value that is no atom."""
    values = []
    for names in task.facts:
        listed = [value for value, name in enumerate(names) if name in atoms]
        other = [value for value, name in enumerate(names) if name is None or name.startswith("(not ")]
        (value,) = listed or other
        values.append(value)
    return tuple(values)


def number(value: float | None) -> float:
    return math.inf if value is None else value


def is_search(evidence: dict[str, Any] | None) -> bool:
    return evidence is not None and evidence["kind"] == "search"
