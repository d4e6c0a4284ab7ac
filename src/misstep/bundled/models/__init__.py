"""Benchmarks of our own: JANI models made to order, each with what is unsafe, a goal and start states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from misstep.bundled.models import control, discrete, lines
from misstep.errors import InputError

DOMAINS: dict[str, Callable[..., dict[str, Any]]] = {
    "one_way_line": lines.one_way_line,
    "two_way_line": lines.two_way_line,
    "transport": discrete.transport,
    "blocksworld": discrete.blocksworld,
    "npuzzle": discrete.npuzzle,
    "beluga": discrete.beluga,
    "bouncing_ball": control.bouncing_ball,
    "follow_car": control.follow_car,
    "cart_pole": control.cart_pole,
    "inverted_pendulum": control.inverted_pendulum,
}

# The sizes that the bundled policies were trained for.
BUNDLED: dict[str, tuple[str, dict[str, Any]]] = {
    "one_way_line": ("one_way_line", {"length": 12, "packages": 2, "max_speed": 4}),
    "two_way_line": ("two_way_line", {"length": 8, "packages": 1}),
    "two_way_line_park": ("two_way_line", {"length": 8, "packages": 1, "parking": True}),
    "two_way_line_det": ("two_way_line", {"length": 8, "packages": 1, "random": False}),
    "transport": ("transport", {}),
    "blocksworld": ("blocksworld", {}),
    "npuzzle": ("npuzzle", {}),
    "beluga": ("beluga", {}),
    "bouncing_ball": ("bouncing_ball", {}),
    "follow_car": ("follow_car", {}),
    "cart_pole": ("cart_pole", {}),
    "inverted_pendulum": ("inverted_pendulum", {}),
}


def generate(name: str, **parameters: Any) -> dict[str, Any]:
    """The JANI document of a benchmark, or of a bundled size of one."""
    if name in BUNDLED and not parameters:
        name, parameters = BUNDLED[name]
    if name not in DOMAINS:
        raise InputError(f"unknown benchmark {name!r}; known are {', '.join(sorted({*DOMAINS, *BUNDLED}))}")
    try:
        return DOMAINS[name](**parameters)
    except TypeError as error:
        raise InputError(f"{name}: {error}") from None
