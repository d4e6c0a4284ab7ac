"""Algorithm 1 on small policy graphs, and bugs and faults on runs whose truth is known."""

from __future__ import annotations

import json

import pytest

from misstep._core import Budget, Decider, ExplicitGame, SafetyFuzzer
from misstep.bundled.models import generate
from misstep.errors import InputError
from misstep.formats.jani import JaniTask
from misstep.safety.analysis import Analyst
from misstep.safety.model import SafetyTask
from misstep.safety.policy import function_policy


def line_task() -> SafetyTask:
    document = generate("two_way_line", length=6, packages=1, random=False)
    test = document["properties"][0]["expression"]
    goal = test["objective"]["goal"]
    return SafetyTask(JaniTask(json.dumps(document), "line", test["reach"], goal, None, None))


def test_a_cycle_ends_every_strategy() -> None:
    """0 -> 1 -> 0: unlimited look-ahead sees that nothing is left, the others stop at their step limit."""
    spec = [([(0, [1])], False, False, 0), ([(0, [0])], False, False, 0)]
    for strategy, depth, end in (
        ("uniform", 1, "max_steps"),
        ("greedy", 1, "max_steps"),
        ("greedy", None, "exhausted"),
        ("sampling", None, "exhausted"),
    ):
        fuzzer = SafetyFuzzer(ExplicitGame(spec), strategy, depth=depth, max_steps=10, seed=0)
        assert fuzzer.run(0)[0] == end


def test_unlimited_depth_finds_the_one_bad_leaf() -> None:
    """A policy tree of depth 8 with one unsafe leaf among 256: random runs miss it, look-ahead does not."""
    size = 2**9 - 1
    spec = [
        ([(0, [2 * i + 1, 2 * i + 2])] if 2 * i + 2 < size else [], i == size - 1, False, 0)
        for i in range(size)
    ]
    game = ExplicitGame(spec)
    assert SafetyFuzzer(game, "greedy", depth=None, seed=0).run(0) == (
        "unsafe",
        [0, 2, 6, 14, 30, 62, 126, 254, 510],
    )
    found = sum(SafetyFuzzer(game, "uniform", seed=i).run(0)[0] == "unsafe" for i in range(50))
    assert found < 5
    assert SafetyFuzzer(game, "greedy", depth=None, max_lookahead=20, seed=0).run(0)[0] == "max_lookahead"


def test_bad_options_are_refused() -> None:
    game = ExplicitGame([([], False, False, None)])
    for options in ({"depth": 0}, {"temperature": 0.0}):
        with pytest.raises(InputError):
            SafetyFuzzer(game, "greedy", seed=0, **options)
    with pytest.raises(InputError, match="unknown strategy"):
        SafetyFuzzer(game, "bold", seed=0)


def test_faults_are_the_last_chance() -> None:
    """Full speed ahead on a line of 6: the fault is the step after which braking comes too late."""
    task = line_task()
    policy = function_policy(lambda s, a: "accelerate" if "accelerate" in a else "coast", task)
    game = task.game(policy)
    end, run = SafetyFuzzer(game, "greedy", seed=0).run(game.initial()[0])
    assert end == "unsafe"
    analyst = Analyst(game, Decider(game))
    found = analyst.analyse(run)
    states = [task.state(game, s) for s in run[:-1]]
    verdicts = [analyst.verdict(s) for s in run[:-1]]
    assert verdicts == sorted(verdicts)  # safe first, then never again
    assert verdicts[0] == "safe"
    assert verdicts[-1] == "unsafe"
    assert [task.state(game, f.state) for f in found.faults] == [states[verdicts.index("unsafe") - 1]]
    assert found.faults[0].alternative != found.faults[0].action
    assert analyst.analyse(run).bugs == []  # each state once
    # Staying safe means deviating from this policy again and again, too often for any finite radius.
    assert Analyst(game, Decider(game), radius=3).analyse(run).bugs == []


def test_limits_make_possible_faults() -> None:
    task = line_task()
    game = task.game(function_policy(lambda s, a: "accelerate" if "accelerate" in a else "coast", task))
    _, run = SafetyFuzzer(game, "greedy", seed=0).run(game.initial()[0])
    analyst = Analyst(game, Decider(game), budget=Budget(expansions=0))
    found = analyst.analyse(run)
    assert not found.bugs
    assert not found.faults
    assert found.unknown
    assert found.reasons == {"expansions"}
    assert found.possible_faults  # its outcome is unsafe, the state itself undecided
