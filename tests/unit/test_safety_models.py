"""The generators of benchmarks: parameters, variants, sizes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from misstep._core import Decider, JaniModel
from misstep.bundled.models import BUNDLED, INSTANCES, generate
from misstep.errors import InputError
from misstep.formats.jani import JaniTask
from misstep.safety.model import SafetyTask, parse_constants
from misstep.safety.policy import load_policy, zoo_file


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"length": -3}, "'length' is -3; it must be a whole number from 2"),
        ({"length": True}, "'length' is True"),
        ({"length": 2.5}, "'length' is 2.5"),
        ({"random": 1}, "'random' is 1; it must be true or false"),
        ({"width": 3}, "there is no parameter 'width'; known are length"),
        ({"packages": 0}, "'packages' is 0"),
        ({"packages": 101}, "'packages' is 101; it must be a whole number from 1 to 100"),
        ({"packages": None}, "'packages' is None"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        generate("two_way_line", **parameters)


def test_large_towers_start_in_a_thousand_orders() -> None:
    """There are 30! of them: nobody may count them."""
    starts = generate("blocksworld", blocks=30)["properties"][0]["expression"]["start"]["values"]
    assert len({json.dumps(state) for state in starts}) == 1000
    with pytest.raises(InputError, match="'rows' is 1000"):
        generate("npuzzle", rows=1000)


def test_a_control_problem_may_go_on_for_ever() -> None:
    assert "step" not in make("cart_pole", steps=None).shown_fields
    assert "step" in make("cart_pole").shown_fields


def make(name: str, **parameters: Any) -> SafetyTask:
    document = generate(name, **parameters)
    test = document["properties"][0]["expression"]
    goal = test.get("objective", {}).get("goal")
    return SafetyTask(JaniTask(json.dumps(document), name, test["reach"], goal, test.get("start"), None))


def test_sizes_with_names_take_parameters() -> None:
    assert generate("two_way_line_large", length=5) == generate(
        "two_way_line", length=5, packages=8, max_speed=3
    )
    with pytest.raises(InputError, match="'length' is -3"):
        generate("two_way_line_large", length=-3)


def test_a_constant_is_given_once() -> None:
    assert parse_constants(["a=3", "b=true"]) == {"a": 3, "b": True}
    with pytest.raises(InputError, match="--parameter 'a=4': 'a' was given a value before"):
        parse_constants(["a=3", "a=4"], option="--parameter")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("one_way_line", {"parking": True, "along": True}),
        ("one_way_line", {"random": False}),
        ("two_way_line", {"parking": True, "along": True, "random": False}),
        ("blocksworld", {"blocks": 4, "budget": 16}),
        ("npuzzle", {"budget": 20}),
    ],
)
def test_variants_have_safe_and_lost_states(name: str, parameters: dict[str, Any]) -> None:
    """A benchmark in which nothing is decided by what one does would be none."""
    task = make(name, **parameters)
    game = task.game()
    decider, left, seen = Decider(game), list(task.start_states(game)), set[int]()
    while left and len(seen) < 3000:
        s = left.pop(0)
        if s not in seen:
            seen.add(s)
            left += [] if game.is_goal(s) else [t for _, after in game.plain_moves(s) for t in after]
    verdicts = {decider.decide(s, None)[0] for s in seen if not game.is_unsafe(s)}
    assert verdicts == {"safe", "unsafe"}
    assert any(game.is_goal(s) for s in seen)


def test_the_largest_has_more_than_a_million_states() -> None:
    model = JaniModel.parse(json.dumps(generate("two_way_line_large")), "large")
    assert model.explore(max_states=1_000_001)[0] > 1_000_000


@pytest.mark.parametrize("name", INSTANCES)
def test_instances_are_models(name: str) -> None:
    assert len(make(name).start_states(make(name).game())) > 0
    if name in BUNDLED:
        assert zoo_file(name).is_file()


def test_with_an_infinite_radius_the_policy_is_not_asked() -> None:
    task = make("two_way_line")
    game = task.game(load_policy("zoo:two_way_line", task))
    for algorithm in ("level", "tarjan", "value-iteration", "lao", "lrtdp", "policy-iteration"):
        decider = Decider(game, algorithm)
        for s in task.start_states(game):
            verdict, *_ = decider.decide(s, None)
            evidence = decider.strategy(s, None) if verdict == "safe" else decider.refutation(s, None)
            assert evidence or game.is_unsafe(s)
    assert game.policy_calls == 0
    Decider(game).decide(task.start_states(game)[0], 1)
    assert game.policy_calls > 0
