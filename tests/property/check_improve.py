"""Plan improvement against exact costs on one task."""

from __future__ import annotations

import math

import pytest

from misstep import _core as core
from misstep.errors import InputError
from misstep.reference import fdr
from tests.property.cases import Case


def _clumsy_plan(case: Case, start: fdr.State) -> list[core.Action] | None:
    """A random walk that ends in a solvable state, then a plan; None where there is none."""
    if case.exact[start] == math.inf:
        return None
    walk: list[core.Action] = []
    state, solvable, kept = start, start, 0
    for _ in range(case.rng.randint(0, 12)):
        choice = case.reference.successors(state)
        if not choice:
            break
        action, state = case.rng.choice(choice)
        walk.append(case.native.actions[case.reference.actions.index(action)])
        if case.exact[state] < math.inf:
            solvable, kept = state, len(walk)
    rest = core.search(case.native, "gbfs:hadd", state=case.state(solvable)).plan
    return [*walk[:kept], *rest]


def _cost(case: Case, start: fdr.State, plan: list[core.Action]) -> int:
    """By indices, since actions may share a name; checks that it is a plan."""
    state, cost = start, 0
    for action in plan:
        chosen = case.reference.actions[action.index]
        state = chosen.apply(state)
        cost += chosen.cost
    assert case.reference.is_goal(state)
    return cost


def improvement_without_limits_ends_with_an_optimal_plan(case: Case) -> None:
    for start in case.sample[:3]:
        plan = _clumsy_plan(case, start)
        if plan is None:
            continue
        state = case.state(start)
        result = core.improve_plan(case.native, state, plan)
        assert result.cost == _cost(case, start, result.plan) == case.exact[start]
        assert result.limit is None and (result.exhausted or result.cost == 0)
        stopped = core.improve_plan(case.native, state, plan, enough=case.exact[start])
        assert stopped.cost == _cost(case, start, stopped.plan) == case.exact[start]
        assert stopped.expanded <= result.expanded


def improvement_within_limits_is_never_worse_and_never_wrong(case: Case) -> None:
    for start in case.sample[:3]:
        plan = _clumsy_plan(case, start)
        if plan is None:
            continue
        before = _cost(case, start, plan)
        for most in (0, 1, 4, 30):
            results = [
                core.improve_plan(case.native, case.state(start), plan, budget=core.Budget(expansions=most))
                for _ in "ab"
            ]
            for r in results:
                assert r.cost == _cost(case, start, r.plan)
                assert case.exact[start] <= r.cost <= before
                assert r.expanded <= most
                assert not r.exhausted or r.cost == case.exact[start]
                assert r.limit in (None, "expansions")
            assert results[0].plan == results[1].plan


def what_is_no_plan_is_refused(case: Case) -> None:
    for start in case.sample[:2]:
        actions = [case.rng.choice(case.native.actions) for _ in range(3)] if case.native.actions else []
        try:
            _cost(case, start, actions)
        except (ValueError, AssertionError):
            with pytest.raises(InputError, match="no plan for the state"):
                core.improve_plan(case.native, case.state(start), actions)
        else:
            core.improve_plan(case.native, case.state(start), actions)


CHECKS = (
    improvement_without_limits_ends_with_an_optimal_plan,
    improvement_within_limits_is_never_worse_and_never_wrong,
    what_is_no_plan_is_refused,
)
