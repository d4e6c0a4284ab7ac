"""Oracles, judge and certificates against exhaustive search, with random and heuristic policies."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from misstep import _core as core
from misstep.biases.published import NoBias
from misstep.cli.test import DEFAULT_ORACLE
from misstep.events import BugFound, Cleared, Tested
from misstep.fuzz import Fuzz, Refined
from misstep.oracle import OraclePart, make_oracles
from misstep.record.store import CLEARED, POOL
from misstep.reference import certificate as checker
from misstep.session import Campaign, Settings
from tests.property.cases import Case, case_of
from tests.property.check_policy_graph import RandomPolicy
from tests.property.tampering import tampered

ORACLES = (
    "landmarks",
    "lookahead:depth=2",
    "lookahead:depth=1",
    "planner:astar:lmcut,max_expansions=5",
    "planner:astar:lmcut,effort=1000",
    "planner:gbfs:ff,max_expansions=10",
    "planner:ehc",
    "perfect",
    "landmarks+lookahead+perfect",
    "improve:max_expansions=20",
    "improve/ehc",
    "undo",
    "inverse",
    DEFAULT_ORACLE,
    "morph",
    "morph:factors=atomic",
    "bounds:0",
    "bounds:10,factors=atomic",
    "bounds:10,max_transitions=30",
    "bounds:10,maximise_gap=true+planner:gbfs:ff,max_expansions=10",
    "landmarks+morph+bounds:100+perfect",
)


class Memory:
    """A run directory that keeps its certificates in memory."""

    path = "run"

    def __init__(self) -> None:
        self.bugs: dict[int, dict[str, Any]] = {}
        self.cleared: dict[int, dict[str, Any]] = {}
        self.states: dict[int, list[str]] = {}

    def event(self, event: object) -> None:
        pass

    def append(self, name: str, line: dict[str, Any]) -> None:
        if name == CLEARED:
            self.cleared[int(line["id"])] = line
        if name == POOL:
            self.states[line["id"]] = line["facts"]

    def certificate(self, name: str, certificate: dict[str, Any]) -> None:
        self.bugs[int(name)] = certificate


def policies(case: Case) -> Iterator[core.NativePolicy | RandomPolicy]:
    yield RandomPolicy(case)
    yield core.HeuristicPolicy(case.native, random.Random(case.seed).choice(("ff", "hmax", "hadd", "blind")))


def run_campaign(
    case: Case, policy: core.NativePolicy | RandomPolicy, oracles: list[OraclePart], rng: random.Random
) -> tuple[Campaign, list[Tested | BugFound | Cleared]]:
    graph = core.PolicyGraph(case.native, policy, recheck=False)
    settings = Settings(
        oracles,
        max_steps=rng.choice((2, 1000)),
        interleave=rng.random() < 0.5,
        gap=rng.random() < 0.3,
    )
    pool = Fuzz(graph, Refined(max_idle_walks=50), NoBias(), seed=case.seed, size=5)
    campaign = Campaign(case.native, graph, pool, settings, out=Memory())
    found = [event for event in campaign.events() if isinstance(event, Tested | BugFound | Cleared)]
    return campaign, found


def check_campaign(
    case: Case, policy: core.NativePolicy | RandomPolicy, oracles: list[OraclePart], rng: random.Random
) -> Campaign:
    """No false bug, no false clearance, no false fault, and certificates that hold."""
    campaign, events = run_campaign(case, policy, oracles, rng)
    everything = core.PolicyGraph(case.native, policy, recheck=False)
    states = campaign.out.states
    for event in events:
        tested = event if isinstance(event, Tested) else event.tested
        state = case.native.state(states[tested.id])
        exact = case.exact[tuple(state.values)]
        run = everything.run(case.native.batch([state]), max_steps=10**6)[0]
        cost = run.spent if run.outcome == "solved" else math.inf
        assert tested.cost.lo <= cost <= tested.cost.hi, "policy cost"
        assert tested.best.lo <= exact <= tested.best.hi, "bounds on h*"
        true_gap = 0 if cost == exact else cost - exact
        assert tested.gap.lo <= true_gap <= tested.gap.hi, "gap"
        if isinstance(event, BugFound):
            assert cost > exact, "a false bug"
            check_fault(case, event, everything.run(case.native.batch([state]), max_steps=10**6)[0])
        if isinstance(event, Cleared):
            assert cost <= exact, "a false clearance"
    check_certificates(case, campaign.out, events, rng)
    # Whatever dominance promises is turned into a plan.
    assert not any("could not be" in limit for limit in campaign.result.limits_hit)
    return campaign


def check_fault(case: Case, event: BugFound, run: core.Run) -> None:
    fault = event.fault
    if fault is None:
        return
    exact = case.exact
    here = tuple(run.states[fault.step].values)
    if fault.action is None or fault.step == len(run.actions):
        assert run.outcome in ("stuck", "illegal") and exact[here] < math.inf
        return
    after = tuple(run.states[fault.step + 1].values)
    assert fault.action.cost + exact[after] > exact[here], "a false fault"


def check_certificates(case: Case, out: Any, events: list[Any], rng: random.Random) -> None:
    assert len(out.bugs) == sum(isinstance(event, BugFound) for event in events)
    assert len(out.cleared) == sum(isinstance(event, Cleared) for event in events)
    names = [action.name for action in case.reference.actions]
    for certificate in [*out.bugs.values(), *out.cleared.values()]:
        proven = checker.check(certificate, case.reference)
        by_search = certificate["lower"] is not None and certificate["lower"]["kind"] == "search"
        assert proven or by_search or certificate["run"]["outcome"] == "cut-off"
        damaged = tampered(certificate, rng, names)
        assert not accepted(damaged, case), "tampered with"
        # Whoever makes a new digest for it can only bring in other truths.
        damaged["sha256"] = checker.digest(damaged)
        if accepted(damaged, case):
            check_truth(case, damaged)


def accepted(certificate: dict[str, Any], case: Case) -> bool:
    try:
        checker.check(certificate, case.reference)
    except Exception:
        return False
    return True


def check_truth(case: Case, certificate: dict[str, Any]) -> None:
    """What an accepted certificate says about h* is so, unless it is a search's word."""
    state = checker.state_of(case.reference, certificate["state"])
    if state not in case.exact:
        return
    lo, hi = checker.interval(certificate["best"])
    if not certificate["lower"] or certificate["lower"]["kind"] != "search":
        assert lo <= case.exact[state]
    assert case.exact[state] <= hi


def with_clear_names(case: Case) -> Case:
    """Random tasks have different actions of one name, which certificates cannot tell apart."""
    actions = tuple(
        replace(action, name=f"{action.name[:-1]} {number})")
        for number, action in enumerate(case.reference.actions)
    )
    return case_of(replace(case.reference, actions=actions), seed=case.seed)


def check_oracles(case: Case) -> None:
    case = with_clear_names(case)
    rng = random.Random(f"oracles {case.seed}")
    for policy in policies(case):
        oracle = ORACLES[(case.seed + isinstance(policy, RandomPolicy)) % len(ORACLES)]
        campaign = check_campaign(case, policy, make_oracles([oracle]), rng)
        if oracle.endswith("perfect") and campaign.settings.max_steps > 2:
            assert campaign.result.unknown == 0


def check_no_bug_where_optimal(case: Case) -> None:
    """A policy that follows exact costs is cleared everywhere by an exact oracle, never flagged."""
    if case.seed % 5:
        return
    case = with_clear_names(case)
    rng = random.Random(f"optimal {case.seed}")
    campaign = check_campaign(case, OptimalPolicy(case), make_oracles([rng.choice(ORACLES)]), rng)
    assert campaign.result.bugs == 0


class OptimalPolicy:
    """Goes down the exact costs; among equals to the state nearest to a goal, so that it never loops."""

    def __init__(self, case: Case) -> None:
        self.case = case
        steps: dict[Any, int] = {state: 0 for state in case.exact if case.reference.is_goal(state)}
        changed = True
        while changed:
            changed = False
            for state, cost in case.exact.items():
                if cost == math.inf:
                    continue
                for action, after in case.reference.successors(state):
                    best = action.cost + case.exact[after] == cost
                    if best and after in steps and steps[after] + 1 < steps.get(state, 10**9):
                        steps[state] = steps[after] + 1
                        changed = True
        self.steps = steps

    def __call__(self, states: core.StateBatch) -> list[core.Action | None]:
        return [self.choose(tuple(state.values)) for state in states]

    def choose(self, state: tuple[int, ...]) -> core.Action | None:
        exact, best = self.case.exact, None
        if state not in exact:  # morphed states need not be reachable
            return None
        for number, action in enumerate(self.case.reference.actions):
            if action.applicable(state):
                after = action.apply(state)
                is_best = action.cost + exact[after] == exact[state] < math.inf
                if is_best and (best is None or self.steps[after] < best[0]):
                    best = (self.steps[after], number)
        return None if best is None else self.case.native.actions[best[1]]


CHECKS = (check_oracles, check_no_bug_where_optimal)
