"""How often the goal can be reached without risk, compared with every memoryless policy of small games."""

from __future__ import annotations

import json
import random
from itertools import product

import numpy as np
import pytest

from misstep._core import Budget, Decider, ExplicitGame, GoalPlan
from misstep.bundled.models import generate
from misstep.formats.jani import JaniTask
from misstep.safety.model import SafetyTask, Semantics

Choices = list[tuple[int, list[int]]]
Spec = tuple[Choices, bool, bool, int | None]


def random_game(rng: random.Random) -> list[Spec]:
    size = rng.randint(3, 6)
    specs: list[Spec] = []
    for _ in range(size):
        choices = [
            (label, rng.sample(range(size), rng.randint(1, min(3, size))))
            for label in range(rng.randint(0, 3))
        ]
        kind = rng.random()
        specs.append((choices, kind < 0.15, 0.15 <= kind < 0.4, None))
    return specs


def best_by_trying(specs: list[Spec], safe: set[int]) -> np.ndarray:
    """The largest probability of the goal over all ways to pick one safe action in each state."""
    options = [
        [o for _, o in choices if set(o) <= safe] if s in safe and not goal else []
        for s, (choices, _, goal, _) in enumerate(specs)
    ]
    best = np.zeros(len(specs))
    for picked in product(*(own or [None] for own in options)):
        best = np.maximum(best, goal_rates(specs, safe, picked))
    return best


def goal_rates(specs: list[Spec], safe: set[int], picked: tuple[list[int] | None, ...]) -> np.ndarray:
    """Of one policy, by many steps of its Markov chain."""
    chain = np.eye(len(specs))
    for s, outcomes in enumerate(picked):
        if outcomes is not None:
            chain[s] = 0
            chain[s, sorted(set(outcomes))] = 1 / len(set(outcomes))
    ends = np.array([s in safe and goal for s, (_, _, goal, _) in enumerate(specs)], float)
    rates: np.ndarray = np.linalg.matrix_power(chain, 4096) @ ends
    return rates


def test_values_are_the_best_of_all_policies() -> None:
    rng, partial = random.Random(5), 0
    for _ in range(300):
        specs = random_game(rng)
        game = ExplicitGame(specs)
        decider = Decider(game, "tarjan")
        safe = {s for s in range(len(specs)) if decider.decide(s, None)[0] == "safe"}
        plan = GoalPlan(game, list(range(len(specs))), max_states=100)
        assert plan.complete
        assert {s for s in range(len(specs)) if plan.is_safe(s)} == safe
        best = best_by_trying(specs, safe)
        assert [plan.value(s) for s in range(len(specs))] == pytest.approx(best, abs=1e-5)
        ways = [plan.way(s) for s in range(len(specs))]
        picked = tuple(
            None if way is None else dict(choices)[way]
            for way, (choices, _, _, _) in zip(ways, specs, strict=True)
        )
        assert goal_rates(specs, safe, picked) == pytest.approx(best, abs=1e-5)
        for s in range(len(specs)):
            assert (ways[s] in plan.best(s)) if ways[s] is not None else plan.value(s) in (0, 1)
        partial += bool(np.any((best > 0.01) & (best < 0.99)))
    assert partial > 30


def task(name: str) -> SafetyTask:
    document = generate(name)
    test = document["properties"][0]["expression"]
    files = JaniTask(
        json.dumps(document), name, test["reach"], test["objective"]["goal"], test["start"], None
    )
    return SafetyTask(files)


def test_limits_leave_only_what_is_true() -> None:
    model = task("one_way_line")
    game = model.game()
    starts = model.start_states(game)
    whole = GoalPlan(game, starts, max_states=10_000)
    part = GoalPlan(game, starts, max_states=300)
    none = GoalPlan(game, starts, max_states=10_000, budget=Budget(expansions=3))
    assert whole.complete and not part.complete and not none.complete
    assert len(part) == 300 < len(whole)
    for s in starts:
        assert part.value(s) <= whole.value(s) + 1e-9
        assert whole.is_safe(s) or not part.is_safe(s)
        assert none.value(s) == 0 and none.way(s) is None


@pytest.mark.parametrize(("mode", "expected"), [("label", 0.5), ("edge", 0.9)])
def test_outcomes_count_as_often_as_they_are_drawn(mode: str, expected: float) -> None:
    """One action that mostly comes to the goal, and otherwise to a state without actions."""
    ends = [(0.9, 1), (0.1, 2)]
    destinations = [
        {"location": "here", "probability": {"exp": p}, "assignments": [{"ref": "x", "value": x}]}
        for p, x in ends
    ]
    at_start = {"exp": {"op": "=", "left": "x", "right": 0}}
    edge = {"location": "here", "action": "a", "guard": at_start, "destinations": destinations}
    kind = {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 2}
    place = {"locations": [{"name": "here"}], "initial-locations": ["here"], "edges": [edge]}
    document = {
        "jani-version": 1,
        "name": "mostly",
        "type": "mdp",
        "actions": [{"name": "a"}],
        "variables": [{"name": "x", "type": kind, "initial-value": 0}],
        "automata": [{"name": "one", **place}],
        "system": {"elements": [{"automaton": "one"}], "syncs": [{"synchronise": ["a"], "result": "a"}]},
    }
    goal = {"op": "=", "left": "x", "right": 1}
    files = JaniTask(json.dumps(document), "mostly", False, goal, None, None)
    game = SafetyTask(files, semantics=Semantics(outcome_mode=mode)).game()
    plan = GoalPlan(game, game.initial(), max_states=10)
    assert plan.value(game.initial()[0]) == pytest.approx(expected)
