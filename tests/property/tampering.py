"""Damage to a certificate: numbers, names, order, missing and repeated parts, at random or everywhere."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

WORDS = (
    *("solved", "loop", "stuck", "illegal", "dead-end", "cut-off", "failed"),
    *("bug", "cleared", "unknown", "safe", "landmarks", "search", "applicable"),
    *("quantitative", "qualitative", "mine", "classical", "safety", "kind", ""),
)
GARBAGE: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    0.5,
    1e300,
    10**30,
    "",
    "nonsense",
    [],
    {},
    [[]],
    {"lo": 0},
)
EVIDENCE: tuple[Any, ...] = (
    None,
    {"kind": "dead-end"},
    {"kind": "applicable", "value": 1},
    {"kind": "landmarks", "value": 0, "landmarks": []},
    {"kind": "landmarks", "value": 1, "landmarks": [{"share": 1, "actions": []}]},
    {"kind": "nobody knows", "value": 3},
)

Place = tuple[Any, Any]


def tampered(certificate: dict[str, Any], rng: random.Random, names: list[str]) -> dict[str, Any]:
    """A copy with one change somewhere, of the sort that a forger would try."""
    damaged = copy.deepcopy(certificate)
    while damaged == certificate:
        holder, key = rng.choice(places(damaged))
        if key != "sha256":
            options = replacements(holder[key], names, certificate)
            holder[key] = copy.deepcopy(rng.choice(options))
    return damaged


def edits(certificate: dict[str, Any], names: list[str]) -> Iterator[dict[str, Any]]:
    """Every copy with one change: each place in turn, each replacement in turn, and each field left out."""
    for number, (holder, key) in enumerate(places(certificate)):
        if key == "sha256":
            continue
        for value in replacements(holder[key], names, certificate):
            damaged = copy.deepcopy(certificate)
            other, at = places(damaged)[number]
            other[at] = copy.deepcopy(value)
            if damaged != certificate:
                yield damaged
        damaged = copy.deepcopy(certificate)
        other, at = places(damaged)[number]
        del other[at]
        yield damaged


def replacements(value: Any, names: list[str], certificate: dict[str, Any]) -> list[Any]:
    """What a value may be replaced by: its neighbours, other words of the same sort, and garbage."""
    if isinstance(value, bool) or value is None:
        return [*GARBAGE, *EVIDENCE, names[:1], 3]
    if isinstance(value, int | float):
        return [value - 1, value + 1, value + 1000, -value, float(value), str(value), *GARBAGE]
    if isinstance(value, str):
        return [*names, *WORDS, *certificate.get("state", ()), *GARBAGE]
    if isinstance(value, list):
        return [*_damaged_lists(value, names), *GARBAGE]
    return [*EVIDENCE, {**value, "unheard of": 1}, *GARBAGE]


def damaged(written: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A copy of evidence with up to three other numbers, or entries left out, repeated or in another order."""
    copied: dict[str, Any] = copy.deepcopy(written)
    for _ in range(rng.randint(1, 3)):
        holder, key = rng.choice(places(copied))
        value = holder[key]
        if isinstance(value, list) and value:
            kind = rng.randrange(3)
            if kind == 0:
                value.pop(rng.randrange(len(value)))
            elif kind == 1:
                value.append(rng.choice(value))
            else:
                rng.shuffle(value)
        elif isinstance(value, int) or value is None:
            holder[key] = rng.choice([0, 1, -1, -2, None, (value or 0) + 1, (value or 0) - 1, 1000])
    return copied


def places(holder: Any) -> list[Place]:
    """All places of a document: (container, key)."""
    items = (
        holder.items() if isinstance(holder, dict) else enumerate(holder) if isinstance(holder, list) else ()
    )
    found: list[Place] = []
    for key, value in items:
        found.append((holder, key))
        found += places(value)
    return found


def _damaged_lists(values: list[Any], names: list[str]) -> list[list[Any]]:
    """Each entry left out, the first repeated at the end, the order reversed, names in front and behind."""
    without = [values[:i] + values[i + 1 :] for i in range(len(values))]
    more = [[name, *values] for name in names[:3]] + [[*values, name] for name in names[-3:]]
    return [*without, [*values, *values[:1]], values[::-1], *more]
