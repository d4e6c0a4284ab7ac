"""The native front end against the interpreter of the trusted checker, on random models and on real ones."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from misstep._core import JaniGame, JaniModel
from misstep.formats.jani import JaniTask
from misstep.reference.jani_model import Jani, State
from misstep.safety.model import SafetyTask

MODELS = max(80, int(os.environ.get("MISSTEP_RANDOM_TASKS", "2000")) // 10)
SEED = int(os.environ.get("MISSTEP_RANDOM_SEED", "0"))
DATA = Path(os.environ.get("MISSTEP_DATA", Path(__file__).parents[3] / "shared" / "data")) / "jani"


def key(task: SafetyTask, game: JaniGame, s: int, reference: Jani) -> State:
    return reference.read(task.state(game, s))


def compare(
    model: dict[str, Any], *, unsafe: Any = False, states: int = 200, constants: dict[str, Any] | None = None
) -> int:
    """Walk breadth first in both; return how many states were compared."""
    files = JaniTask(json.dumps(model), "model", unsafe, None, None, None)
    task = SafetyTask(files, constants=constants)
    reference = Jani(model, constants or {}, {})
    is_unsafe = reference.condition(unsafe)
    game = task.game()
    queue = list(game.initial())
    seen = set(queue)
    compared = 0
    for s in queue:
        if compared >= states:
            break
        compared += 1
        here = key(task, game, s, reference)
        assert game.is_unsafe(s) == is_unsafe(here)
        if game.is_unsafe(s):
            continue
        native = {
            task.labels[label]: {key(task, game, t, reference) for t in ts} for label, _, ts in game.moves(s)
        }
        assert native == {label: reference.outcomes(here, label) for label in reference.applicable(here)}, (
            here
        )
        for _, _, outcomes in game.moves(s):
            queue += [t for t in outcomes if t not in seen]
            seen.update(outcomes)
    return compared


class Maker:
    """Random models: automata and instances, locations, sync vectors with null, arrays, reals, functions."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def integer(self, names: list[str], depth: int = 2) -> Any:
        r = self.rng
        if depth == 0 or r.random() < 0.4:
            return r.choice([*names, r.randint(-3, 3)])
        left, right = self.integer(names, depth - 1), self.integer(names, depth - 1)
        op = r.choice(["+", "-", "*", "min", "max", "ite", "%", "call", "floor", "abs"])
        if op == "ite":
            return {"op": "ite", "if": self.boolean(names, depth - 1), "then": left, "else": right}
        if op == "%":
            return {"op": "%", "left": left, "right": r.choice([2, 3, -3])}
        if op == "call":
            return {
                "op": "call",
                "function": r.choice(["f", "g"] if "l" in names else ["f"]),
                "args": [left, right],
            }
        if op == "floor":
            return {"op": "floor", "exp": {"op": "/", "left": left, "right": r.choice([2, 4])}}
        if op == "abs":
            return {"op": "abs", "exp": left}
        return {"op": op, "left": left, "right": right}

    def boolean(self, names: list[str], depth: int = 2) -> Any:
        r = self.rng
        if depth > 0 and r.random() < 0.5:
            op = r.choice(["∧", "∨", "⇒", "¬", "⇔"])  # noqa: RUF001
            if op == "¬":
                return {"op": "¬", "exp": self.boolean(names, depth - 1)}
            return {"op": op, "left": self.boolean(names, depth - 1), "right": self.boolean(names, depth - 1)}
        op = r.choice(["=", "≠", "<", "≤", ">", "≥"])
        return {"op": op, "left": self.integer(names, 1), "right": self.integer(names, 1)}

    def clamp(self, e: Any, low: int, high: int) -> Any:
        return {"op": "max", "left": low, "right": {"op": "min", "left": high, "right": e}}

    def automaton(self, name: str, actions: list[str], shared: list[str]) -> dict[str, Any]:
        r = self.rng
        names = ["x", "y", "c", "l", {"op": "aa", "exp": "A", "index": {"op": "%", "left": "x", "right": 3}}]
        places = [f"p{i}" for i in range(r.randint(1, 3))]

        def assignment() -> dict[str, Any]:
            kind, index = r.random(), r.choice([0, 0, 1])
            if kind < 0.1:
                low = self.clamp(self.integer(names, 1), 0, 2)
                box = {"lower-bound": low, "upper-bound": {"op": "+", "left": low, "right": r.choice([0, 1])}}
                such = {"op": "nondet", "var": "n", "exp": self.boolean(["n", "x", "c"], 1)}
                return {"ref": "l", **r.choice([box, {"value": such}])}
            if kind < 0.2 and "x" in shared:
                fixed = r.random() < 0.5
                cell = {"op": "aa", "exp": "A", "index": 0 if fixed else {"op": "%", "left": "y", "right": 3}}
                return {
                    "ref": cell,
                    "value": self.clamp(self.integer(names), -2, 5),
                    "index": 2 if fixed else 3,
                }
            if kind < 0.35 and "x" in shared:
                value = {"op": "/", "left": self.integer(names), "right": 4}
                return {"ref": "z", "value": self.clamp(value, 0, 1), "index": index + 4}
            if kind < 0.5:
                return {"ref": "l", "value": self.clamp(self.integer(names), 0, 3), "index": index}
            return {
                "ref": r.choice(shared),
                "value": self.clamp(self.integer(names), -2, 5),
                "index": 10 + index,
            }

        def edge() -> dict[str, Any]:
            destinations = []
            for _ in range(r.randint(1, 2)):
                chosen = {json.dumps(a["ref"]): a for a in (assignment() for _ in range(r.randint(0, 3)))}
                destinations.append(
                    {
                        "location": r.choice(places),
                        "probability": {"exp": r.choice([0.5, 1, 0, "p"])},
                        "assignments": list(chosen.values()),
                    }
                )
            result: dict[str, Any] = {"location": r.choice(places), "destinations": destinations}
            if r.random() < 0.8:
                result["guard"] = {"exp": self.boolean([*names, "t"])}
            if r.random() < 0.7:
                result["action"] = r.choice(actions)
            return result

        return {
            "name": name,
            "locations": [
                {"name": p, "transient-values": [{"ref": "t", "value": self.integer(["x", "y"], 1)}]}
                for p in places[:1]
            ]
            + [{"name": p} for p in places[1:]],
            "initial-locations": [places[0]],
            "variables": [
                {
                    "name": "l",
                    "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 3},
                    "initial-value": 1,
                }
            ],
            "functions": [
                {
                    "name": "g",  # of the same name in all automata, and of another value
                    "type": "int",
                    "parameters": [{"name": "u", "type": "int"}, {"name": "v", "type": "int"}],
                    "body": {"op": "+", "left": "u", "right": r.choice(["l", "v", len(places)])},
                }
            ],
            "edges": [edge() for _ in range(r.randint(2, 5))],
        }

    def model(self) -> dict[str, Any]:
        r = self.rng
        actions = ["a", "b"]
        kind = r.choice(["one", "twice", "two"])
        automata = [self.automaton("first", actions, ["x"] if kind == "two" else ["x", "y"])]
        elements = ["first", "first"] if kind == "twice" else ["first"]
        if kind == "two":  # they write different variables, so that moving together is never a conflict
            automata.append(self.automaton("second", actions, ["y"]))
            elements.append("second")
        bounded = {"kind": "bounded", "base": "int", "lower-bound": -2, "upper-bound": 5}
        syncs = (
            [{"synchronise": ["a", "b"], "result": "both"}, {"synchronise": ["b", "b"]}]
            if kind == "two"
            else []
        )
        syncs += [
            {"synchronise": [action if i == j else None for j in range(len(elements))], "result": action}
            for action in actions
            for i in range(len(elements))
        ]
        return {
            "jani-version": 1,
            "name": "random",
            "type": "mdp",
            "features": ["derived-operators", "arrays", "functions"],
            "actions": [{"name": a} for a in actions],
            "constants": [
                {"name": "c", "type": "int"},
                {"name": "p", "type": "real", "value": r.choice([0, 0.5])},
            ],
            "functions": [
                {
                    "name": "f",
                    "type": "int",
                    "parameters": [{"name": "u", "type": "int"}, {"name": "v", "type": "int"}],
                    "body": {"op": "-", "left": {"op": "+", "left": "u", "right": "c"}, "right": "v"},
                }
            ],
            "variables": [
                {"name": "x", "type": bounded, "initial-value": 0},
                {"name": "y", "type": bounded},
                {"name": "t", "type": "int", "transient": True, "initial-value": 2},
                {
                    "name": "z",
                    "type": {"kind": "bounded", "base": "real", "lower-bound": 0, "upper-bound": 1},
                    "initial-value": 0.25,
                },
                {
                    "name": "A",
                    "type": {"kind": "array", "base": bounded},
                    "initial-value": {"op": "av", "elements": [0, 1, 2]},
                },
            ],
            "restrict-initial": {"exp": {"op": "≥", "left": "y", "right": 3}},
            "automata": automata,
            "system": {"elements": [{"automaton": e} for e in elements], "syncs": syncs},
        }


@pytest.mark.parametrize("chunk", range(4))
def test_random_models(chunk: int) -> None:
    compared = 0
    for number in range(MODELS // 4):
        maker = Maker(10_000 * (4 * SEED + chunk) + number)
        model, unsafe = maker.model(), maker.boolean(["x", "y", "t", "c"])
        compared += compare(model, unsafe=unsafe, states=40, constants={"c": maker.rng.randint(-2, 2)})
    assert compared > MODELS


def load(name: str) -> Any:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"{path} is not there; set MISSTEP_DATA")
    return json.loads(path.read_text(encoding="utf-8-sig"))


@pytest.mark.parametrize(
    "name",
    [
        "blocksworld.5",
        "cdrive.2",
        "elevators.a-3-3",
        "ij.3",
        "tireworld.17",
        "triangle-tireworld.9",
        "consensus.2",
    ],
)
def test_qcomp_models(name: str) -> None:
    constants = {"K": 2} if name == "consensus.2" else None
    unsafe = "finished" if name == "consensus.2" else False
    assert compare(load(f"qcomp/{name}.jani"), unsafe=unsafe, states=60, constants=constants) >= 7


def test_unit_model() -> None:
    assert compare(load("unit/for_succ_gen.jani"), states=35) == 35


def test_distance_is_zero_exactly_where_the_condition_holds() -> None:
    for seed in range(150):
        maker = Maker(seed)
        model = maker.model()
        condition = maker.boolean(["x", "y", "c"], 3)
        native = JaniModel.parse(json.dumps(model), "model", constants=[("c", "1")])
        for normalised in (False, True):
            game = JaniGame(native, json.dumps(condition), normalised=normalised)
            fields = native.fields
            row = game.values(game.initial()[0])
            for x in range(-2, 6):
                for y in range(-2, 6):
                    row[fields.index("x")], row[fields.index("y")] = x, y
                    s = game.add(row)
                    assert (game.distance(s) == 0) == game.is_unsafe(s)
                    assert game.distance(s) >= 0
