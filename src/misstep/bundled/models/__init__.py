"""Benchmarks of our own: JANI models made to order, each with what is unsafe, a goal and start states."""

from __future__ import annotations

import inspect
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

# Sizes from hundreds to more than a million states, with every variant.
INSTANCES: dict[str, tuple[str, dict[str, Any]]] = {
    "one_way_line": ("one_way_line", {"length": 12, "packages": 2, "max_speed": 4}),
    "one_way_line_park": ("one_way_line", {"length": 20, "packages": 3, "parking": True}),
    "one_way_line_det": ("one_way_line", {"length": 40, "packages": 2, "max_speed": 5, "random": False}),
    "one_way_line_large": ("one_way_line", {"length": 30, "packages": 8, "max_speed": 4}),
    "two_way_line": ("two_way_line", {"length": 8, "packages": 1}),
    "two_way_line_park": ("two_way_line", {"length": 8, "packages": 1, "parking": True}),
    "two_way_line_det": ("two_way_line", {"length": 16, "packages": 2, "max_speed": 3, "random": False}),
    "two_way_line_along": ("two_way_line", {"length": 16, "packages": 3, "along": True}),
    "two_way_line_large": ("two_way_line", {"length": 20, "packages": 8, "max_speed": 3}),
    "transport": ("transport", {}),
    "transport_large": ("transport", {"places": 12, "packages": 30, "limit": 4}),
    "blocksworld": ("blocksworld", {}),
    "blocksworld_large": ("blocksworld", {"blocks": 6, "limit": 5}),
    "blocksworld_budget": ("blocksworld", {"blocks": 5, "budget": 20}),
    "npuzzle": ("npuzzle", {}),
    "npuzzle_budget": ("npuzzle", {"rows": 2, "columns": 3, "budget": 40}),
    "npuzzle_large": ("npuzzle", {"rows": 3, "columns": 3}),
    "beluga": ("beluga", {}),
    "beluga_large": ("beluga", {"racks": 3, "capacity": 5, "arrivals": 20}),
    "bouncing_ball": ("bouncing_ball", {}),
    "follow_car": ("follow_car", {}),
    "cart_pole": ("cart_pole", {}),
    "inverted_pendulum": ("inverted_pendulum", {}),
}
_TRAINED = (
    "one_way_line one_way_line_park one_way_line_det one_way_line_large two_way_line two_way_line_park "
    "two_way_line_det two_way_line_along transport blocksworld "
    "blocksworld_large blocksworld_budget npuzzle npuzzle_budget beluga beluga_large "
    "bouncing_ball follow_car cart_pole inverted_pendulum"
).split()
BUNDLED = {name: INSTANCES[name] for name in _TRAINED}
"""Those that come with a policy, `zoo:NAME`; benchmarks/safety_zoo.py trains them."""


LEAST = {"length": 2, "blocks": 2, "rows": 2, "columns": 2, "places": 2}
"""Below this a benchmark makes no sense; other numbers are at least 1."""
MOST = {"blocks": 30, "rows": 10, "columns": 10, "packages": 100, "racks": 30}
"""Above this a model takes more than seconds to write and to read; other numbers are at most 1000."""


def generate(name: str, **parameters: Any) -> dict[str, Any]:
    """The JANI document of a benchmark, or of a size of one that has a name, with some parameters changed."""
    if name in INSTANCES and (name not in DOMAINS or not parameters):
        name, usual = INSTANCES[name]
        parameters = {**usual, **parameters}
    if name not in DOMAINS:
        raise InputError(f"unknown benchmark {name!r}; known are {', '.join(sorted({*DOMAINS, *INSTANCES}))}")
    make = DOMAINS[name]
    known = inspect.signature(make).parameters
    for parameter, value in parameters.items():
        if parameter not in known:
            raise InputError(f"{name}: there is no parameter {parameter!r}; known are {', '.join(known)}")
        _check(name, parameter, value, known[parameter])
    return make(**parameters)


def _check(name: str, parameter: str, value: Any, declared: inspect.Parameter) -> None:
    """Refuses a value that is not of the kind, or out of the range, that a parameter has."""
    where = f"{name}: parameter {parameter!r} is {value!r}"
    if isinstance(declared.default, bool):
        if not isinstance(value, bool):
            raise InputError(f"{where}; it must be true or false")
        return
    if value is None and "None" in str(declared.annotation):
        return
    least, most = LEAST.get(parameter, 1), MOST.get(parameter, 1000)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(f"{where}; it must be a whole number from {least} to {most}")
