"""What a model means where JANI leaves a choice: bounds, impossible outcomes, boxes, edges, functions."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from misstep._core import Budget, Decider, JaniGame, JaniModel, SafetyFuzzer
from misstep.bundled.models import generate
from misstep.errors import InputError, UnsupportedFeature
from misstep.formats.jani import JaniTask
from misstep.reference.checked import Refused
from misstep.reference.jani_model import Jani
from misstep.safety.model import SafetyTask, Semantics
from misstep.safety.policy import function_policy

INT = {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 5}
REAL = {"kind": "bounded", "base": "real", "lower-bound": 0, "upper-bound": 1}


def edge(*outcomes: list[dict[str, Any]] | tuple[Any, list[dict[str, Any]]]) -> dict[str, Any]:
    """An edge of action a; an outcome is a list of assignments, with its probability before it."""
    destinations = []
    for outcome in outcomes:
        probability, assignments = outcome if isinstance(outcome, tuple) else (1, outcome)
        destinations.append(
            {"location": "here", "probability": {"exp": probability}, "assignments": assignments}
        )
    return {"location": "here", "action": "a", "destinations": destinations}


def model(*edges: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "jani-version": 1,
        "name": "small",
        "type": "mdp",
        "actions": [{"name": "a"}],
        "variables": [
            {"name": "x", "type": INT, "initial-value": 2},
            {"name": "z", "type": REAL, "initial-value": 0.5},
        ],
        "automata": [
            {
                "name": "one",
                "locations": [{"name": "here"}],
                "initial-locations": ["here"],
                "edges": list(edges),
            }
        ],
        "system": {"elements": [{"automaton": "one"}], "syncs": [{"synchronise": ["a"], "result": "a"}]},
        **more,
    }


def outcomes(document: dict[str, Any], name: str = "x", **semantics: Any) -> list[Any]:
    """The values of a variable after one step, by the core; the trusted interpreter must agree if it can."""
    options = Semantics(**semantics)
    files = JaniTask(json.dumps(document), "model", False, None, None, None)
    task = SafetyTask(files, semantics=options)
    game = task.game()
    start = game.initial()[0]
    found = [task.state(game, t) for _, _, ts in game.moves(start) for t in ts]
    try:
        reference = Jani(document, {}, options.stated())
    except Refused:
        assert {semantics.get("integers"), semantics.get("reals")} & {"clip", "drop"} or options.box_points
    else:
        here = reference.read(task.state(game, start))
        theirs = set().union(*(reference.outcomes(here, label) for label in reference.applicable(here)))
        assert theirs == {reference.read(state) for state in found}
    return sorted(state[name] for state in found)


def test_integer_boxes_have_every_value() -> None:
    upper = {"op": "+", "left": "x", "right": 1}
    assert outcomes(model(edge([{"ref": "x", "lower-bound": 1, "upper-bound": upper}]))) == [1, 2, 3]
    empty = model(
        edge([{"ref": "x", "lower-bound": "x", "upper-bound": {"op": "-", "left": 4, "right": "x"}}])
    )
    assert outcomes(empty) == [2]


def test_real_boxes_are_refused_or_stood_for_by_points() -> None:
    document = model(edge([{"ref": "z", "lower-bound": 0, "upper-bound": "z"}]))
    with pytest.raises(UnsupportedFeature, match=r"assignments\[0\]: a real value anywhere.*--box-points"):
        outcomes(document, "z")
    assert outcomes(document, "z", box_points=3) == [0.0, 0.25, 0.5]


def test_nondet_has_every_value_such_that() -> None:
    condition = {"op": "≠", "left": "v", "right": "x"}
    such = {"op": "nondet", "var": "v", "exp": condition}
    assert outcomes(model(edge([{"ref": "x", "value": such}]))) == [0, 1, 3, 4, 5]
    with pytest.raises(UnsupportedFeature, match="nondet"):
        outcomes(model(edge([{"ref": "z", "value": such}])))


@pytest.mark.parametrize(("treatment", "expected"), [("clip", [3, 5]), ("drop", [3])])
def test_integers_out_of_bounds(treatment: str, expected: list[int]) -> None:
    document = model(
        edge([{"ref": "x", "value": 3}], [{"ref": "x", "value": {"op": "*", "left": "x", "right": 9}}])
    )
    assert outcomes(document, integers=treatment) == expected
    with pytest.raises(InputError, match=r"'x' at .*18 is out of bounds"):
        outcomes(document)


def test_reals_out_of_bounds() -> None:
    document = model(
        edge([{"ref": "z", "value": 0.75}], [{"ref": "z", "value": {"op": "+", "left": "z", "right": 1}}])
    )
    assert outcomes(document, "z") == [0.75, 1.5]
    assert outcomes(document, "z", reals="clip") == [0.75, 1.0]
    assert outcomes(document, "z", reals="drop") == [0.75]
    with pytest.raises(InputError, match="out of bounds"):
        outcomes(document, "z", reals="error")
    with pytest.raises(InputError, match="unknown treatment"):
        outcomes(document, "z", integers="allow")


def test_an_edge_whose_outcomes_are_all_dropped_is_no_choice() -> None:
    assert (
        outcomes(model(edge([{"ref": "x", "value": {"op": "-", "left": "x", "right": 3}}])), integers="drop")
        == []
    )


def test_one_bound_is_a_bound() -> None:
    document = model(edge([{"ref": "x", "value": {"op": "-", "left": "x", "right": 3}}]))
    document["variables"][0]["type"] = {"kind": "bounded", "base": "int", "lower-bound": 0}
    with pytest.raises(InputError, match="-1 is out of bounds"):
        outcomes(document)


def test_impossible_outcomes_are_none_unless_kept() -> None:
    document = model(edge((1, [{"ref": "x", "value": 3}]), (0, [{"ref": "x", "value": 4}])))
    assert outcomes(document) == [3]
    assert outcomes(document, keep_impossible=True) == [3, 4]


def test_outcomes_are_drawn_by_label_or_by_edge() -> None:
    first = edge((0.9, [{"ref": "x", "value": 0}]), (0.1, [{"ref": "x", "value": 1}]))
    second = edge((1, [{"ref": "x", "value": 1}]))
    files = JaniTask(json.dumps(model(first, second)), "model", False, None, None, None)
    shares = {}
    for mode in ("label", "edge"):
        task = SafetyTask(files, semantics=Semantics(outcome_mode=mode))
        game = task.game(function_policy(lambda _state, _labels: "a", task))
        start = game.initial()[0]
        ((label, _, ts),) = game.moves(start)
        weights = dict(zip([game.values(t)[0] for t in ts], game.weights(start, label), strict=False))
        assert weights == ({} if mode == "label" else {0: pytest.approx(0.9), 1: pytest.approx(1.1)})
        fuzzer = SafetyFuzzer(game, "uniform", max_steps=1, seed=1)
        runs = [game.values(fuzzer.run(start)[1][-1])[0] for _ in range(4000)]
        shares[mode] = runs.count(0) / len(runs)
    assert shares["label"] == pytest.approx(0.5, abs=0.04)
    assert shares["edge"] == pytest.approx(0.45, abs=0.04)


def test_functions_belong_to_where_they_are_declared() -> None:
    function = {"name": "f", "type": "int", "parameters": [], "body": 1}
    call = {"op": "call", "function": "f", "args": []}
    document = model(edge([{"ref": "x", "value": call}]), functions=[function])
    document["automata"][0]["functions"] = [{**function, "body": 4}]
    assert outcomes(document) == [4]
    game = JaniGame(
        JaniModel.parse(json.dumps(document), "m"), json.dumps({"op": "=", "left": "x", "right": call})
    )
    row = game.values(game.initial()[0])
    assert [game.is_unsafe(game.add([x, *row[1:]])) for x in (1, 4)] == [True, False]


def test_states_that_do_not_exist_are_refused() -> None:
    game = JaniGame(JaniModel.parse(json.dumps(model()), "m"), "false")
    game.initial()
    for ask in (game.distance, game.step, game.chosen, game.values, game.moves):
        with pytest.raises(InputError, match="no such state"):
            ask(10**6)
    with pytest.raises(InputError, match="no such state"):
        SafetyFuzzer(game, seed=0).run(10**6)
    with pytest.raises(InputError, match="no such state"):
        game.weights(10**6, 0)


def test_a_model_serves_several_threads() -> None:
    native = JaniModel.parse(json.dumps(generate("two_way_line", length=10, packages=3)), "m")
    condition = {"op": "<", "left": "position", "right": 0}
    answers: list[str] = []

    def work(number: int) -> None:
        for k in range(20):
            bound = {"op": "∧", "left": condition, "right": {"op": "=", "left": "speed", "right": number + k}}
            game = JaniGame(native, json.dumps(bound))
            answers.append(
                Decider(game, "value-iteration").decide(
                    game.initial()[0], None, budget=Budget(expansions=300)
                )[0]
            )

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 80


def test_long_paths_are_shortened() -> None:
    deep: Any = "nobody"
    for _ in range(500):
        deep = {"op": "¬", "exp": deep}
    document = model({**edge([]), "guard": {"exp": deep}})
    with pytest.raises(InputError, match=r"\$\.automata.*…\.exp\.exp.*unknown name 'nobody'") as error:
        JaniModel.parse(json.dumps(document), "m")
    assert len(str(error.value)) < 600


BEHIND = {"op": "aa", "exp": "a", "index": 5}
NEVER = {"op": ">", "left": "x", "right": 4}


def with_array(guard: Any, *assignments: dict[str, Any]) -> dict[str, Any]:
    array = {"kind": "array", "base": INT}
    variables = [
        {"name": "x", "type": INT, "initial-value": 2},
        {"name": "a", "type": array, "initial-value": {"op": "av", "elements": [1, 2]}},
    ]
    step = edge([{"ref": "x", "value": 3}])
    return model(step, {**edge(list(assignments)), "guard": {"exp": guard}}, variables=variables)


@pytest.mark.parametrize(
    "document",
    [
        with_array({"op": "∧", "left": NEVER, "right": {"op": "=", "left": BEHIND, "right": 1}}),
        with_array({"op": "=", "left": {"op": "ite", "if": NEVER, "then": BEHIND, "else": 1}, "right": 2}),
        with_array(NEVER, {"ref": "x", "value": BEHIND}),
        with_array(NEVER, {"ref": BEHIND, "value": 1}),
        with_array(False, {"ref": "x", "value": {**BEHIND, "exp": {"op": "av", "elements": [1]}}}),
    ],
)
def test_an_index_out_of_range_is_no_error_where_it_is_never_used(document: dict[str, Any]) -> None:
    assert outcomes(document) == [3]


@pytest.mark.parametrize(
    "document",
    [
        with_array({"op": "=", "left": BEHIND, "right": 1}),
        with_array(True, {"ref": "x", "value": BEHIND}),
        with_array(True, {"ref": BEHIND, "value": 1}),
    ],
)
def test_an_index_out_of_range_is_an_error_where_it_is_used(document: dict[str, Any]) -> None:
    with pytest.raises((InputError, Refused), match="index"):
        outcomes(document)
