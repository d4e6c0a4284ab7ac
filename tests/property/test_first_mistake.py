"""The first mistake on a run, against the least costs of random maps by Dijkstra's algorithm.

On these maps the fault was the wrong one before: where a plan was known that costs more than the best one, the
policy's first detours were missed, for the plan takes them, too.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter
from functools import cache
from typing import Any

import pytest

import misstep
from misstep._core import Action, State
from misstep.explain import fault as localising
from misstep.record.verify import verify_record
from misstep.reference import fdr
from misstep.testing.random_tasks import to_sas

PLACES = 40
MAPS = 24


@cache
def random_map(seed: int) -> fdr.Task:
    """Places and roads; 0 is the start, the last one the goal."""
    rng, roads = random.Random(seed), []
    for start in range(PLACES):
        for number in range(rng.choice((1, 2, 2, 3))):
            end = rng.randrange(PLACES)
            if end != start:
                cost = rng.choice((0, 1, 1, 1, 2, 3))
                roads.append(fdr.Action(f"(go {start} {end} {number})", {0: start}, {0: end}, cost))
    return fdr.Task((tuple(f"(at {place})" for place in range(PLACES)),), (0,), {0: PLACES - 1}, tuple(roads))


def least_costs(plain: fdr.Task) -> dict[int, float]:
    best: dict[int, float] = dict.fromkeys(range(PLACES), math.inf)
    best[PLACES - 1] = 0
    waiting: list[tuple[float, int]] = [(0, PLACES - 1)]
    while waiting:
        cost, place = heapq.heappop(waiting)
        for road in plain.actions if cost == best[place] else ():
            before = road.precondition[0]
            if road.effect[0] == place and cost + road.cost < best[before]:
                best[before] = cost + road.cost
                heapq.heappush(waiting, (best[before], before))
    return best


def report_on(seed: int, oracle: str, **options: Any) -> misstep.Report:
    """A policy that often does what is best, else anything."""
    plain, rng = random_map(seed), random.Random(f"policy {seed}")
    best, task = least_costs(plain), misstep.Task(to_sas(plain))
    choices: dict[int, Action] = {}
    for place in range(PLACES):
        roads = [number for number, road in enumerate(plain.actions) if road.precondition[0] == place]
        if roads:
            good = min(roads, key=lambda n: plain.actions[n].cost + best[plain.actions[n].effect[0]])
            choices[place] = task.actions[good if rng.random() < 0.6 else rng.choice(roads)]

    def choose(state: State) -> Action | None:
        return choices.get(int(state.values[0]))

    return misstep.test(task, misstep.per_state(choose), pool=30, oracle=oracle, seed=seed, **options)


def wrong_decisions(seed: int, certificate: dict[str, Any]) -> list[int]:
    """After how many steps the run takes decisions that make the best cost of the whole course rise."""
    plain, run = random_map(seed), certificate["run"]
    best, roads = least_costs(plain), {road.name: road for road in plain.actions}
    place, spent = int(certificate["state"][0].strip("()").split()[1]), 0
    courses = [best[place]]
    for name in run["actions"]:
        place, spent = roads[name].effect[0], spent + roads[name].cost
        courses.append(spent + best[place])
    courses += [math.inf] if run["outcome"] in ("stuck", "illegal") else []
    return [at for at in range(len(courses) - 1) if courses[at + 1] > courses[at]]


def check(seed: int, report: misstep.Report) -> Counter[str]:
    """The claims about every bug, and how many of each sort there are."""
    counts: Counter[str] = Counter()
    for bug in report.bugs:
        fault, best, said = bug.certificate["fault"], bug.certificate["best"], " ".join(bug.show().split())
        wrong, is_exact = wrong_decisions(seed, bug.certificate), best["lo"] == best["hi"]
        if fault is None:
            counts["none"] += 1
            continue
        found = range(fault["step"], fault["until"])
        assert any(at in found for at in wrong), (seed, bug.id)
        says_first = "No decision before it is wrong" in said
        if is_exact:
            assert wrong[0] in found, (seed, bug.id)
            assert says_first == (len(found) == 1 and fault["step"] > 0), (seed, bug.id, said)
        assert not says_first or found[0] == wrong[0], (seed, bug.id)
        if len(found) == 1 and fault["witness"]:  # the better way does something else
            decision = dict(enumerate(bug.certificate["run"]["actions"])).get(fault["step"])
            assert fault["witness"][0] != decision, (seed, bug.id)
        counts[f"{bug.outcome} {'exact' if is_exact else 'inexact'}"] += 1
        counts["not first"] += wrong[0] not in found
        counts["several wrong"] += len(wrong) > 1
    return counts


@pytest.mark.parametrize("options", [{}, {"gap": True}, {"jobs": 2}], ids=str)
@pytest.mark.parametrize("oracle", ["perfect", "greedy+perfect", "lookahead+greedy"])
def test_the_first_mistake_is_named(oracle: str, options: dict[str, Any]) -> None:
    total: Counter[str] = Counter()
    for seed in range(MAPS):
        report = report_on(seed, oracle, **options)
        total += check(seed, report)
        if seed < 3:
            assert verify_record(report.record).is_sound
    assert total["loop exact"] > 100 and total["several wrong"] > 100
    assert not any("inexact" in sort or sort == "none" for sort in total), total


def test_little_effort_claims_no_more_than_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of one state proves next to nothing."""
    monkeypatch.setattr(localising, "_EFFORT", 1.0)
    total: Counter[str] = Counter()
    for seed in range(MAPS):
        report = report_on(seed, "greedy")
        total += check(seed, report)
        assert verify_record(report.record).is_sound
    assert total["loop inexact"] > 5 and total["not first"] > 0
