"""Oracles, judge and certificates against exhaustive search, with random and heuristic policies."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from misstep import _core as core
from misstep.config import DEFAULT_ORACLE, Config
from misstep.events import Judged
from misstep.judge import Verdict
from misstep.oracle import OraclePart, make_oracles
from misstep.record.record import CLEARED, EVIDENCE, POOL, Record
from misstep.reference.bits import BitTask
from misstep.reference.certificate import check
from misstep.reference.checked import Refused
from misstep.reference.digest import digest
from misstep.reference.functions import Functions
from misstep.reference.packing import unpacked_lines
from misstep.session import Session
from tests.property.cases import Case, case_of
from tests.property.check_policy_graph import RandomPolicy
from tests.property.tampering import tampered
from tests.property.truth import check_truth

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
    "abstraction",
    "dead-ends",
    "greedy",
    "planner:astar:lmcut,effort=1e4",
    "landmarks+dead-ends+greedy+abstraction+planner:astar:lmcut,effort=5e6",
)


def policies(case: Case) -> Iterator[core.NativePolicy | RandomPolicy]:
    yield RandomPolicy(case)
    yield core.HeuristicPolicy(case.native, random.Random(case.seed).choice(("ff", "hmax", "hadd", "blind")))


def run_session(
    case: Case, policy: core.NativePolicy | RandomPolicy, oracles: list[OraclePart], rng: random.Random
) -> Session:
    config = Config(
        policy="object:test",
        fuzzer="refined:max_idle_walks=50",
        pool=5,
        recheck=False,
        max_steps=rng.choice((2, 1000)),
        interleave=rng.random() < 0.5,
        gap=rng.random() < 0.3,
        seed=case.seed,
    )
    session = Session(config, task=case.native, policy=policy, parts={"oracle": oracles})
    for _ in session.events():
        pass
    return session


def check_session(
    case: Case, policy: core.NativePolicy | RandomPolicy, oracles: list[OraclePart], rng: random.Random
) -> Session:
    """No false bug, no false clearance, no false fault, and certificates that hold."""
    session = run_session(case, policy, oracles, rng)
    everything = core.PolicyGraph(case.native, policy, recheck=False)
    states = {line["id"]: line["facts"] for line in session.record.store.lines(POOL)}
    events = [event for event in session.record.events() if isinstance(event, Judged)]
    for event in events:
        state = case.native.state(states[event.id])
        exact = case.exact[tuple(state.values)]
        run = everything.run(case.native.batch([state]), max_steps=10**6)[0]
        cost = run.spent if run.outcome == "solved" else math.inf
        assert event.cost.lo <= cost <= event.cost.hi, "policy cost"
        assert event.best.lo <= exact <= event.best.hi, "bounds on h*"
        true_gap = 0 if cost == exact else cost - exact
        assert event.gap.lo <= true_gap <= event.gap.hi, "gap"
        if event.verdict == "bug":
            assert cost > exact, "a false bug"
            check_fault(case, event, run)
        if event.verdict == "cleared":
            assert cost <= exact, "a false clearance"
        assert (event.oracle is None) == (event.verdict == "unknown")
    check_certificates(case, session.record, events, rng)
    # Whatever dominance promises is turned into a plan.
    assert session.tally.finished is not None
    assert not any("could not be" in limit for limit in session.tally.finished.limits_hit)
    return session


def check_fault(case: Case, event: Judged, run: core.Run) -> None:
    fault = event.fault
    if fault is None:
        return
    assert fault.until is not None and fault.step < fault.until
    assert fault.is_single or fault.action is fault.better is None
    best = case.exact[tuple(run.states[fault.step].values)]
    if fault.until > len(run.actions):
        assert run.outcome in ("stuck", "illegal") and best < math.inf
        return
    cost = sum(action.cost for action in run.actions[fault.step : fault.until])
    assert cost + case.exact[tuple(run.states[fault.until].values)] > best, "a false fault"


def check_certificates(case: Case, record: Record, events: list[Judged], rng: random.Random) -> None:
    bugs, cleared = list(record.bugs().values()), record.store.lines(CLEARED)
    # A bug is judged again where its gap gets larger.
    assert len(bugs) == len({event.id for event in events if event.verdict == "bug"})
    assert len(cleared) == sum(event.verdict == "cleared" for event in events)
    names = [action.name for action in case.reference.actions]
    functions = Functions(BitTask(case.reference), unpacked_lines(record.store.lines(EVIDENCE)))
    for certificate in [*bugs, *cleared]:
        checked = check(certificate, case.reference, functions)
        assert checked.verdict == certificate["verdict"]
        assert checked.rests_on_search <= any(word.startswith("search ") for word in checked.words)
        check_truth(case.reference, certificate, known=case.exact)
        for _ in range(3):
            damaged = tampered(certificate, rng, names)
            assert not accepted(damaged, case, functions), "tampered with"
            # Whoever makes a new digest for it can only bring in other truths.
            damaged["sha256"] = digest(damaged)
            if accepted(damaged, case, functions):
                check_truth(case.reference, damaged, known=case.exact)


def accepted(certificate: dict[str, Any], case: Case, functions: Functions) -> bool:
    """Whether the checker accepts it; any error but a refusal goes up."""
    try:
        check(certificate, case.reference, functions)
    except Refused:
        return False
    return True


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
        session = check_session(case, policy, make_oracles([oracle]), rng)
        if oracle.endswith("perfect") and session.config.longest_run > 2:
            assert not session.tally.of(Verdict.UNKNOWN)


def check_no_bug_where_optimal(case: Case) -> None:
    """A policy that follows exact costs is cleared everywhere by an exact oracle, never flagged."""
    if case.seed % 5:
        return
    case = with_clear_names(case)
    rng = random.Random(f"optimal {case.seed}")
    session = check_session(case, OptimalPolicy(case), make_oracles([rng.choice(ORACLES)]), rng)
    assert not session.tally.bugs


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


class InPairs:
    """An objective of somebody else's: what two coins buy."""

    name = "in-pairs"

    def value(self, cost: float, /) -> float:
        return cost if cost == math.inf else cost // 2 + 0.25


def check_custom_objective(case: Case) -> None:
    """Its certificates are accepted, and say whose word the values are."""
    if case.seed % 10:
        return
    case = with_clear_names(case)
    options = {"policy": "object:test", "fuzzer": "refined:max_idle_walks=50", "pool": 5, "recheck": False}
    config = Config(**options, seed=case.seed)
    parts = {"oracle": make_oracles(["landmarks+lookahead+perfect"]), "objective": InPairs()}
    session = Session(config, task=case.native, policy=RandomPolicy(case), parts=parts)
    for _ in session.events():
        pass
    functions = Functions(BitTask(case.reference), unpacked_lines(session.record.store.lines(EVIDENCE)))
    for certificate in [*session.record.bugs().values(), *session.record.store.lines(CLEARED)]:
        assert (
            check(certificate, case.reference, functions)
            .words[-1]
            .startswith("objective in-pairs: its values")
        )
        check_truth(case.reference, certificate, known=case.exact)


CHECKS = (check_oracles, check_no_bug_where_optimal, check_custom_objective)
