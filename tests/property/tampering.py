"""Random damage to a certificate: numbers, names, order, missing and repeated parts."""

from __future__ import annotations

import copy
import random
from typing import Any

WORDS = ("solved", "loop", "stuck", "illegal", "dead-end", "cut-off", "bug", "cleared", "landmarks", "search")


def tampered(certificate: dict[str, Any], rng: random.Random, names: list[str]) -> dict[str, Any]:
    """A copy with one change somewhere in what the checker reads."""
    damaged = copy.deepcopy(certificate)
    places = [
        place
        for key in (
            "state",
            "run",
            "cost",
            "witness",
            "lower",
            "best",
            "gap",
            "fault",
            "verdict",
            "objective",
        )
        for place in _places(damaged, key)
    ]
    while damaged == certificate:
        holder, key = rng.choice(places)
        value = holder[key]
        if isinstance(value, bool) or value is None:
            holder[key] = rng.choice([0, 1, [], "nonsense"])
        elif isinstance(value, int | float):
            holder[key] = rng.choice([value - 1, value + 1, value + 1000, None, -value])
        elif isinstance(value, str):
            holder[key] = rng.choice([*names, *WORDS, *certificate["state"]])
        elif isinstance(value, list):
            _damage_list(value, rng, names)
        elif isinstance(value, dict):
            holder[key] = rng.choice([None, {}, {"kind": "dead-end"}])
    return damaged


def _damage_list(values: list[Any], rng: random.Random, names: list[str]) -> None:
    kind = rng.randrange(4)
    if kind == 0 and values:
        values.pop(rng.randrange(len(values)))
    elif kind == 1 and values:
        values.append(rng.choice(values))
    elif kind == 2:
        rng.shuffle(values)
    elif names and (not values or isinstance(values[0], str)):
        values.insert(rng.randrange(len(values) + 1), rng.choice(names))


def _places(holder: Any, key: Any) -> list[tuple[Any, Any]]:
    found = [(holder, key)]
    value = holder[key]
    inside = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for part in inside:
        found += _places(value, part)
    return found
