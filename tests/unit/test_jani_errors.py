"""What is refused says where, and garbage never crashes."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from typing import Any

import pytest

from misstep._core import JaniGame, JaniModel
from misstep.bundled.models import generate
from misstep.errors import InputError, UnsupportedFeature


def parse(document: Any, **options: Any) -> JaniModel:
    return JaniModel.parse(json.dumps(document), "m.jani", **options)


def model() -> dict[str, Any]:
    return generate("one_way_line", length=5, packages=1)


def test_syntax_errors_have_line_and_column() -> None:
    with pytest.raises(InputError, match=r"^m\.jani:2:7: "):
        JaniModel.parse('{\n  "a" 1}', "m.jani")


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(InputError, match="levels deep"):
        JaniModel.parse("[" * 1_000_000, "m.jani")


def test_byte_order_mark_is_read_over() -> None:
    assert JaniModel.parse("\ufeff" + json.dumps(model()), "m.jani").name == "one_way_line_5_1"


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda m: m.pop("system"), InputError, r"'system' is missing"),
        (lambda m: m.update(type="sta"), UnsupportedFeature, r"\$\.type: .*'sta'"),
        (lambda m: m.update(type="ma"), UnsupportedFeature, r"rates"),
        (
            lambda m: m["variables"][0].update(type="clock"),
            UnsupportedFeature,
            r"variables\[0\]\.type: type 'clock'",
        ),
        (lambda m: m["variables"][0].update({"initial-value": 99}), InputError, r"out of bounds"),
        (
            lambda m: m["automata"][0]["edges"][0]["guard"].update(exp="nobody"),
            InputError,
            r"\$\.automata\[0\]\.edges\[0\]\.guard\.exp: unknown name 'nobody'",
        ),
        (
            lambda m: m["automata"][0]["edges"][0]["guard"].update(exp={"op": "∧", "left": True, "right": 3}),
            InputError,
            r"guard\.exp\.right: expected bool, got int",
        ),
        (
            lambda m: m["automata"][0]["edges"][0]["guard"].update(exp={"op": "der", "var": "x"}),
            UnsupportedFeature,
            r"operator 'der'",
        ),
        (lambda m: m["automata"][0]["edges"][0].update(action="fly"), InputError, r"unknown action 'fly'"),
        (lambda m: m["automata"][0]["edges"][0].update(location="x"), InputError, r"unknown location 'x'"),
        (lambda m: m["system"]["syncs"][0].update(synchronise=[]), InputError, r"one entry per element"),
        (
            lambda m: m["automata"][0]["edges"][0]["destinations"][0]["assignments"][0].update(value=0.5),
            InputError,
            r"another type than the variable",
        ),
    ],
)
def test_errors_name_the_place(change: Any, kind: type[InputError], message: str) -> None:
    document = model()
    change(document)
    with pytest.raises(kind, match=message):
        parse(document)


def test_constants_come_from_the_user() -> None:
    document = model()
    document["constants"] = [{"name": "N", "type": "int"}]
    with pytest.raises(InputError, match="--constant N=VALUE"):
        parse(document)
    with pytest.raises(InputError, match="no constant 'M'"):
        parse(document, constants=[("N", "1"), ("M", "2")])
    parse(document, constants=[("N", "1")])


def test_values_out_of_bounds_are_an_error_or_clipped() -> None:
    document = model()
    for edge in document["automata"][0]["edges"]:
        if edge["action"] == "accelerate":
            edge["destinations"][0]["assignments"][0]["value"] = 77
    with pytest.raises(InputError, match=r"'speed' at .*77 is out of bounds"):
        parse(document).explore()
    assert parse(document, integers="clip").explore()[0] > 1


def test_a_function_bomb_is_refused() -> None:
    document = model()
    document["functions"] = [{"name": "f0", "type": "int", "parameters": [], "body": "speed"}]
    call = {"op": "call", "function": "f0", "args": []}
    for i in range(1, 60):
        body = {"op": "+", "left": call, "right": call}
        document["functions"].append({"name": f"f{i}", "type": "int", "parameters": [], "body": body})
        call = {"op": "call", "function": f"f{i}", "args": []}
    document["automata"][0]["edges"][0]["guard"]["exp"] = {"op": "<", "left": call, "right": 3}
    with pytest.raises(InputError, match="too large"):
        parse(document)


def test_a_recursive_function_is_refused() -> None:
    document = model()
    body = {"op": "call", "function": "f", "args": []}
    document["functions"] = [{"name": "f", "type": "int", "parameters": [], "body": body}]
    document["automata"][0]["edges"][0]["guard"]["exp"] = {"op": "<", "left": body, "right": 3}
    with pytest.raises(UnsupportedFeature, match="recursive"):
        parse(document)


def nodes(value: Any) -> list[tuple[Any, Any]]:
    """All places of a document: (container, key)."""
    found = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        found.append((value, key))
        found += nodes(child)
    return found


def test_mutated_models_never_crash() -> None:
    original = model()
    rng = random.Random(5)
    garbage: list[Any] = [
        None,
        -1,
        10**19,
        1e300,
        "",
        "speed",
        [],
        {},
        True,
        {"op": "aa"},
        {"op": "av", "elements": []},
    ]
    survived = 0
    for _ in range(500):
        document = copy.deepcopy(original)
        container, key = rng.choice(nodes(document))
        if rng.random() < 0.3:
            del container[key]
        else:
            container[key] = copy.deepcopy(rng.choice(garbage))
        try:
            parse(document).explore(max_states=500)
            survived += 1
        except InputError:
            pass
    assert 0 < survived < 500


def test_mutated_text_never_crashes() -> None:
    text = json.dumps(model())
    rng = random.Random(6)
    for _ in range(1500):
        at = rng.randrange(len(text))
        broken = (
            text[:at] + rng.choice(["", '"', "{", "]", "9", "\\", "\0", "é"]) + text[at + rng.randint(0, 3) :]
        )
        with contextlib.suppress(InputError):
            JaniModel.parse(broken, "m.jani")


def test_reals_are_compared_bit_by_bit_and_zero_has_one_sign() -> None:
    document = generate("follow_car")
    native = parse(document)
    game = JaniGame(native, json.dumps(False))
    row = game.values(game.initial()[0])
    place = native.fields.index("gap")
    row[place] = 0.0
    zero = game.add(row)
    row[place] = -0.0
    assert game.add(row) == zero
    row[place] = 5e-324
    assert game.add(row) != zero
    row[place] = float("nan")
    with pytest.raises(InputError, match="finite"):
        game.add(row)
