"""A policy that gives no decision in some states: whatever it would decide there, no verdict is wrong."""

from __future__ import annotations

import math
import random

from misstep import _core as core
from misstep.bound import Bound
from misstep.judge import Verdict, judge
from misstep.lab import policy_cost
from misstep.objectives.cost import Quantitative
from misstep.objectives.goal import Qualitative
from misstep.reference import fdr
from tests.property.cases import FUZZING, Case
from tests.property.check_policy_graph import FailingPolicy, simulate

_LONG = 10**6


class Undecided:
    """What a failing policy decides in the end: its own random answer, or, as a perfect one, the best."""

    def __init__(self, case: Case, policy: FailingPolicy, *, perfect: bool) -> None:
        self.case = case
        self.policy = policy
        self.perfect = perfect

    def answer(self, values: fdr.State) -> int | None:
        if not self.perfect or not self.policy.fails(values):
            return self.policy.answer(values)
        costs = {
            number: action.cost + self.case.exact[action.apply(values)]
            for number, action in enumerate(self.case.reference.actions)
            if action.applicable(values)
        }
        return min(costs, key=costs.__getitem__, default=None)

    def cost(self, start: fdr.State) -> float:
        outcome, _, spent = simulate(self.case, self, start, _LONG)
        return spent if outcome == "solved" else math.inf


def check_verdicts(case: Case) -> None:
    """The interval holds for every way to go on, and so do the verdicts that follow from it."""
    policy = FailingPolicy(case)
    graph = core.PolicyGraph(case.native, policy)
    endings = [Undecided(case, policy, perfect=perfect) for perfect in (False, True)]
    for start, run in zip(case.sample, graph.run(case.batch(case.sample)), strict=True):
        proven = policy_cost(run)
        exact = case.exact[start]
        if run.outcome == "failed":
            assert proven == Bound(run.spent, math.inf)
            assert judge(proven, Bound(exact, exact), objective=Qualitative()).verdict is not Verdict.BUG
        verdict = judge(proven, Bound(exact, exact), objective=Quantitative()).verdict
        assert run.outcome != "failed" or run.steps > 0 or verdict is not Verdict.BUG
        for ending in endings:
            cost = ending.cost(start)
            assert proven.lo <= cost <= proven.hi
            assert verdict is not Verdict.BUG or cost > exact
            assert verdict is not Verdict.CLEARED or cost <= exact


def check_bounds(case: Case) -> None:
    """Bound maintenance takes no failure for a proof: what it flags is a bug for every way to go on."""
    if case.seed % 4 and not FUZZING:
        return
    policy = FailingPolicy(case)
    graph = core.PolicyGraph(case.native, policy)
    perfect = Undecided(case, policy, perfect=True)
    store = core.BoundStore(core.Dominance(case.native, max_transitions=60), lookahead=5)
    for run in graph.run(case.batch(case.sample)):
        store.add_run(run.states, run.actions, run.outcome)
    for state in store.take_flagged():
        values = tuple(state.values)
        assert perfect.cost(values) > case.exact[values], "a false bug"
    for start in case.sample:
        assert store.policy_cost(case.state(start)) <= perfect.cost(start)


def check_lookahead(case: Case) -> None:
    """Plans never lead through a state in which the policy failed after the free choices."""
    policy = FailingPolicy(case)
    graph = core.PolicyGraph(case.native, policy)
    depth = random.Random(case.seed).choice((0, 1, 2))
    for start in case.sample:
        plan, _, _ = graph.lookahead(case.state(start), depth=depth)
        if plan is None:
            continue
        state = start
        for step, action in enumerate(plan):
            if step >= depth:
                assert not policy.fails(state)
                answer = case.native.actions[policy.answer(state)]
                assert case.native.meant(case.state(state), answer) == action
            state = case.reference.actions[action.index].apply(state)
        assert case.reference.is_goal(state)


CHECKS = (check_verdicts, check_bounds, check_lookahead)
