"""Oracles with a planted defect are caught by the checks that our own oracles pass."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from misstep import _core as core
from misstep.bound import Bound
from misstep.claim import Claim, Plan, search_claim
from misstep.lab import Lab, UnsoundClaim
from misstep.oracle import Case, OraclePart, make_oracles
from tests.property.cases import numbered
from tests.property.check_oracles import check_session, with_clear_names
from tests.property.check_policy_graph import RandomPolicy


@dataclass(frozen=True)
class CheapPlan:
    """Counts one action of its plans too few."""

    name = "cheap plan"
    lab: Lab | None = None

    def bind(self, lab: Lab, /) -> CheapPlan:
        return CheapPlan(lab)

    def claims(self, case: Case, /) -> Iterator[Claim[core.State]]:
        assert self.lab is not None
        found = core.search(self.lab.task, "astar:blind", state=case.state)
        if found.outcome == "solved" and found.cost:
            yield Claim(case.state, Bound(0, found.cost - 1), Plan(tuple(found.plan)), self.name)


@dataclass(frozen=True)
class ProudSearch:
    """Its lower bounds are one too high."""

    name = "proud search"
    lab: Lab | None = None

    def bind(self, lab: Lab, /) -> ProudSearch:
        return ProudSearch(lab)

    def claims(self, case: Case, /) -> Iterator[Claim[core.State]]:
        assert self.lab is not None
        found = core.search(self.lab.task, "astar:blind", state=case.state)
        if found.outcome == "solved":
            yield search_claim(case.state, found.lower_bound + 1, "astar:blind", 0, self.name)


@dataclass(frozen=True)
class HastySearch:
    """Takes a search that ran into its limit for a proof that there is no plan."""

    name = "hasty search"
    lab: Lab | None = None

    def bind(self, lab: Lab, /) -> HastySearch:
        return HastySearch(lab)

    def claims(self, case: Case, /) -> Iterator[Claim[core.State]]:
        assert self.lab is not None
        found = core.search(self.lab.task, "astar:blind", state=case.state, budget=core.Budget(expansions=2))
        if found.outcome == "limit":
            yield search_claim(case.state, float("inf"), "astar:blind", 2, self.name)


def caught(part: OraclePart, *, seeds: range) -> bool:
    for seed in seeds:
        case = with_clear_names(numbered(seed))
        try:
            check_session(case, RandomPolicy(case), [part], random.Random(seed))
        except (AssertionError, UnsoundClaim):
            return True
    return False


@pytest.mark.parametrize("part", [CheapPlan(), ProudSearch(), HastySearch()], ids=lambda p: p.name)
def test_planted_defects_are_caught(part: OraclePart) -> None:
    assert caught(part, seeds=range(100))


def test_our_own_are_not() -> None:
    assert not caught(make_oracles(["planner:astar:blind"])[0], seeds=range(20))
