"""Searches against exact costs on one task."""

from __future__ import annotations

import math

from misstep import _core as core
from misstep.reference import fdr
from tests.property.cases import Case


def _starts(case: Case) -> list[fdr.State]:
    return case.sample[:3]


def _assert_plan(case: Case, result: core.SearchResult, start: fdr.State) -> None:
    """The plan by indices, since actions may share a name."""
    state, cost = start, 0
    for action in result.plan:
        chosen = case.reference.actions[action.index]
        assert chosen.name == action.name
        state = chosen.apply(state)
        cost += chosen.cost
    assert case.reference.is_goal(state)
    assert result.cost == cost
    assert result.limit is None


def astar_is_optimal(case: Case) -> None:
    for start in _starts(case):
        for name in ("blind", "hmax", "lmcut"):
            result = core.search(case.native, f"astar:{name}", state=case.state(start))
            assert result.lower_bound == case.exact[start], name
            if case.exact[start] == math.inf:
                assert (result.outcome, result.cost, result.plan) == ("unsolvable", None, []), name
            else:
                assert result.outcome == "solved", name
                _assert_plan(case, result, start)
                assert result.cost == case.exact[start], name


def searches_start_from_the_initial_state_by_default(case: Case) -> None:
    default = core.search(case.native, "astar:hmax")
    explicit = core.search(case.native, "astar:hmax", state=case.native.initial_state)
    assert (default.cost, default.plan, default.expanded) == (explicit.cost, explicit.plan, explicit.expanded)


def greedy_search_finds_plans(case: Case) -> None:
    """Complete with every safe estimate; its lower bound holds."""
    for start in _starts(case):
        for name in ("ff", "hadd", "hmax", "lmcut", "blind"):
            result = core.search(case.native, f"gbfs:{name}", state=case.state(start))
            assert result.lower_bound <= case.exact[start]
            if case.exact[start] == math.inf:
                assert (result.outcome, result.lower_bound) == ("unsolvable", math.inf)
            else:
                assert result.outcome == "solved"
                _assert_plan(case, result, start)


def hill_climbing_finds_plans_or_says_that_it_is_stuck(case: Case) -> None:
    for start in _starts(case):
        for name in ("ff", "hadd", "hmax"):
            result = core.search(case.native, f"ehc:{name}", state=case.state(start))
            assert result.lower_bound <= case.exact[start]
            if result.outcome == "solved":
                _assert_plan(case, result, start)
            elif result.outcome == "unsolvable":
                assert case.exact[start] == math.inf
            else:
                assert result.limit == "incomplete"


def limits_on_expansions_hold(case: Case) -> None:
    for start in _starts(case):
        for most in (0, 1, 2, 5):
            for config in ("astar:blind", "astar:lmcut", "gbfs:ff", "ehc:ff"):
                state = case.state(start)
                result = core.search(case.native, config, state=state, budget=core.Budget(expansions=most))
                assert result.expanded <= most, config
                assert result.lower_bound <= case.exact[start], config
                if result.outcome == "solved":
                    _assert_plan(case, result, start)
                elif result.outcome == "unsolvable":
                    assert case.exact[start] == math.inf, config
                else:
                    assert result.limit in ("expansions", "incomplete"), config
                    assert (result.cost, result.plan) == (None, [])


def the_same_seed_gives_the_same_search(case: Case) -> None:
    for config in ("astar:lmcut", "gbfs:ff", "ehc:ff"):
        seen = []
        for seed in (None, None, case.seed, case.seed):
            r = core.search(case.native, config, seed=seed)
            seen.append((r.outcome, r.cost, r.plan, r.expanded, r.evaluated, r.generated, r.registered))
        assert seen[0] == seen[1], config
        assert seen[2] == seen[3], config
        if config == "astar:lmcut":
            assert seen[0][:2] == seen[2][:2]


CHECKS = (
    astar_is_optimal,
    searches_start_from_the_initial_state_by_default,
    greedy_search_finds_plans,
    hill_climbing_finds_plans_or_says_that_it_is_stuck,
    limits_on_expansions_hold,
    the_same_seed_gives_the_same_search,
)
