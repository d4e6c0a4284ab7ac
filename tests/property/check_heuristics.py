"""Estimates of the native heuristics against fixed points, exact costs and definitions on one task."""

from __future__ import annotations

import math

from misstep import _core as core
from misstep.reference import fdr
from misstep.testing import exhaustive
from tests.property.cases import Case

HEURISTICS = ("blind", "hmax", "hadd", "ff", "lmcut")


def hmax_is_the_fixed_point(case: Case) -> None:
    h = case.heuristic("hmax")
    for values in case.sample:
        assert h(case.state(values)) == exhaustive.hmax(case.reference, values)


def hadd_is_the_fixed_point(case: Case) -> None:
    h = case.heuristic("hadd")
    for values in case.sample:
        assert h(case.state(values)) == exhaustive.hadd(case.reference, values)


def ff_is_the_cost_of_a_relaxed_plan(case: Case) -> None:
    h = case.heuristic("ff")
    for values in case.sample:
        state = case.state(values)
        plan = h.relaxed_plan(state)
        if plan is None:
            assert h(state) == math.inf
        else:
            _assert_relaxed_plan(case, plan, values, case.reference.goal)
            assert h(state) == sum(action.cost for action in plan)


def _assert_relaxed_plan(case: Case, plan: list[core.Action], state: fdr.State, goal: fdr.Facts) -> None:
    indices = [action.index for action in plan]
    assert len(set(indices)) == len(indices)
    assert exhaustive.is_relaxed_plan([case.reference.actions[i] for i in indices], state, goal)


def infinite_iff_relaxed_unreachable(case: Case) -> None:
    for name in ("hmax", "hadd", "ff", "lmcut"):
        h = case.heuristic(name)
        for values in case.sample:
            unreachable = exhaustive.hmax(case.reference, values) == math.inf
            assert (h(case.state(values)) == math.inf) == unreachable, name


def admissible_ones_never_overestimate(case: Case) -> None:
    for name in ("blind", "hmax", "lmcut"):
        h = case.heuristic(name)
        assert h.is_admissible
        for values in case.sample:
            assert h(case.state(values)) <= case.exact[values], name
    assert not case.heuristic("hadd").is_admissible
    assert not case.heuristic("ff").is_admissible


def estimates_are_ordered(case: Case) -> None:
    """hmax <= lmcut and hmax <= ff; all are 0 in goal states."""
    hmax, lmcut, ff = (case.heuristic(name) for name in ("hmax", "lmcut", "ff"))
    for values in case.sample:
        state = case.state(values)
        assert hmax(state) <= lmcut(state)
        assert hmax(state) <= ff(state)
        if case.reference.is_goal(values):
            assert [case.heuristic(name)(state) for name in HEURISTICS] == [0] * len(HEURISTICS)


def landmarks_are_landmarks(case: Case) -> None:
    """Without the actions of a landmark no relaxed plan is left; no action is charged more than it costs."""
    h = case.heuristic("lmcut")
    for values in case.sample:
        state = case.state(values)
        found = h.landmarks(state)
        if found is None:
            assert h(state) == math.inf
            continue
        assert sum(cost for _, cost in found) == h(state)
        charged = dict.fromkeys(range(len(case.reference.actions)), 0)
        for actions, cost in found:
            indices = {action.index for action in actions}
            rest = [a for i, a in enumerate(case.reference.actions) if i not in indices]
            without = fdr.Task(case.reference.facts, values, case.reference.goal, tuple(rest))
            assert exhaustive.hmax(without, values) == math.inf
            for i in indices:
                charged[i] += cost
        assert all(charged[i] <= a.cost for i, a in enumerate(case.reference.actions))


def batches_equal_single_calls(case: Case) -> None:
    """Sizes from 1 to 40, states repeated and in random order."""
    size = 1 + case.seed % 40
    states = [case.rng.choice(case.sample) for _ in range(size)]
    for name in HEURISTICS:
        h = case.heuristic(name)
        single = [h(case.state(values)) for values in states]
        assert h.evaluate(case.batch(states)).tolist() == single, name
        assert h.evaluate(case.batch([])).tolist() == []


def pairwise_is_the_estimate_with_that_goal(case: Case) -> None:
    sources, targets = case.sample[:3], case.sample[::-1][:4]
    for name, exact in (("hmax", exhaustive.hmax), ("hadd", exhaustive.hadd)):
        table = case.heuristic(name).pairwise(case.batch(sources), case.batch(targets))
        expected = [[exact(case.reference, s, goal=dict(enumerate(t))) for t in targets] for s in sources]
        assert table.tolist() == expected, name


def pairwise_ff_is_ff_of_the_task_with_that_goal(case: Case) -> None:
    """Whoever asks and in whatever company: `to`, `pairwise`, and a task whose goal is the target."""
    h = case.heuristic("ff")
    sources, targets = case.sample[:3], case.sample[::-1][:4]
    table = h.pairwise(case.batch(sources), case.batch(targets)).tolist()
    for j, target in enumerate(targets):
        goal = dict(enumerate(target))
        retargeted = case.retargeted(goal)
        other = core.Heuristic(retargeted, "ff")
        for i, source in enumerate(sources):
            assert h.to(case.state(source), case.state(target)) == table[i][j]
            state = retargeted.state_from_values(source)
            plan = other.relaxed_plan(state)
            if plan is None:
                assert table[i][j] == math.inf
            else:
                _assert_relaxed_plan(case, plan, source, goal)
                assert table[i][j] == other(state) == sum(action.cost for action in plan)


CHECKS = (
    hmax_is_the_fixed_point,
    hadd_is_the_fixed_point,
    ff_is_the_cost_of_a_relaxed_plan,
    infinite_iff_relaxed_unreachable,
    admissible_ones_never_overestimate,
    estimates_are_ordered,
    landmarks_are_landmarks,
    batches_equal_single_calls,
    pairwise_is_the_estimate_with_that_goal,
    pairwise_ff_is_ff_of_the_task_with_that_goal,
)
