"""Bound maintenance against exact costs: bounds hold, plans keep them, flagged states are bugs."""

from __future__ import annotations

import math
import random

import pytest

from misstep import _core as core
from misstep.reference import fdr
from tests.property.cases import Case, numbered
from tests.property.test_dominance import CHUNKS, replay

POOL = 12


def policy_run(
    case: Case, start: fdr.State, choices: dict[fdr.State, fdr.Action | None], rng: random.Random
) -> tuple[list[fdr.State], list[int], str]:
    """States, action numbers and outcome of a policy that is made up on the way."""
    task = case.reference
    numbers = {id(action): number for number, action in enumerate(task.actions)}
    states, actions = [start], []
    while not task.is_goal(states[-1]):
        if len(actions) == 15:
            return states, actions, "cut-off"
        if states[-1] not in choices:
            applicable = [action for action, _ in task.successors(states[-1])]
            choices[states[-1]] = rng.choice(applicable) if applicable and rng.random() < 0.95 else None
        action = choices[states[-1]]
        if action is None:
            return states, actions, "stuck"
        actions.append(numbers[id(action)])
        states.append(action.apply(states[-1]))
        if states[-1] in states[:-1]:
            return states, actions, "loop"
    return states, actions, "solved"


def policy_cost_at_least(case: Case, actions: list[int], outcome: str) -> float:
    if outcome in ("solved", "cut-off"):
        return sum(case.reference.actions[number].cost for number in actions)
    return math.inf


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda r: f"{r.start}-{r.stop - 1}")
def test_bounds_hold_and_come_with_plans(seeds: range) -> None:
    bugs = plans = 0
    for seed in seeds:
        case = numbered(seed)
        for factors, lookahead, maximise in (
            ("merged", 0, False),
            ("merged", 5, False),
            ("atomic", 20, True),
        ):
            rng = random.Random(f"bounds {seed} {lookahead}")
            dominance = core.Dominance(case.native, factors=factors, max_transitions=60)
            store = core.BoundStore(dominance, lookahead=lookahead, maximise_gap=maximise)
            choices: dict[fdr.State, fdr.Action | None] = {}
            seen: dict[fdr.State, float] = {}
            pool = rng.sample(list(case.depths), min(POOL, len(case.depths)))
            flagged: list[core.State] = []
            for start in pool:
                states, actions, outcome = policy_run(case, start, choices, rng)
                native = [case.state(state) for state in states]
                is_bug = store.add_run(native, [case.native.actions[a] for a in actions], outcome)
                least = policy_cost_at_least(case, actions, outcome)
                assert store.policy_cost(native[0]) >= least
                assert is_bug == (store.bound(native[0]) < store.policy_cost(native[0]))
                for state in states:
                    seen[state] = max(seen.get(state, 0), store.policy_cost(case.state(state)))
                if rng.random() < 0.2:
                    result = core.search(case.native, "gbfs:ff", state=native[0])
                    if result.outcome == "solved":
                        store.add_plan(native[0], result.plan)
                        assert store.bound(native[0]) <= sum(action.cost for action in result.plan)
                flagged += store.take_flagged()
            for state, policy_cost in seen.items():
                bound = store.bound(case.state(state))
                assert bound >= case.exact[state], f"random task {seed}"
                assert (case.state(state) in flagged) == (bound < policy_cost)
                if bound < math.inf:
                    plans += 1
                    assert replay(case.reference, state, store.plan_of(case.state(state))) <= bound
            bugs += len(flagged)
    print(f"\ntasks {seeds.start}-{seeds.stop - 1}: {bugs:,} bugs flagged, {plans:,} plans built")
    assert bugs > len(seeds)
