"""Trucks on a line: accelerate and brake in time, deliver packages, do not drive past an end."""

from __future__ import annotations

from typing import Any

from misstep.bundled.models.build import Builder, E, conjunction

WAITING, LOADED, DELIVERED, LOST = 0, 1, 2, 3


def one_way_line(
    *, length: int = 8, packages: int = 2, max_speed: int = 3, random: bool = True, unreliable: bool = False
) -> dict[str, Any]:
    """A truck drives from 0 to length - 1. Speed changes may fail; twice in a row only if `unreliable`.

    Packages may fall off while the truck moves; they are lost. The goal: none waits, none is on the truck.
    """
    b = Builder(f"one_way_line_{length}_{packages}")
    last = length - 1
    position = b.integer("position", 0, last + max_speed, 0)
    speed = b.integer("speed", 0, max_speed, 0)
    _moves(
        b, position, speed, 0, last, max_speed, packages, fallen=LOST, random=random, unreliable=unreliable
    )
    done = conjunction(
        [(E(f"package_{i}") != WAITING) & (E(f"package_{i}") != LOADED) for i in range(packages)]
    )
    starts = [
        {"position": p, "speed": v, **{f"package_{i}": LOADED for i in range(packages)}}
        for p in range(last)
        for v in range(max_speed + 1)
    ]
    return b.document(unsafe=position > last, goal=done, starts=starts)


def two_way_line(
    *,
    length: int = 8,
    packages: int = 2,
    max_speed: int = 2,
    random: bool = True,
    parking: bool = False,
    unreliable: bool = False,
) -> dict[str, Any]:
    """Both directions, both ends to respect; fallen packages wait at 0 again; parking is an extra action."""
    b = Builder(
        f"two_way_line_{length}_{packages}" + ("_park" if parking else "") + ("" if random else "_det")
    )
    last = length - 1
    position = b.integer("position", -max_speed, last + max_speed, 0)
    speed = b.integer("speed", -max_speed, max_speed, 0)
    parked = b.integer("parked", 0, 1, 0) if parking else None
    _moves(
        b,
        position,
        speed,
        -max_speed,
        last,
        max_speed,
        packages,
        fallen=WAITING,
        random=random,
        unreliable=unreliable,
        free=E(True) if parked is None else parked == 0,
    )
    if parked is not None:
        b.edge("park", (speed == 0) & (parked == 0), {"parked": 1})
        b.edge("unpark", parked == 1, {"parked": 0})
    done = conjunction([E(f"package_{i}") == DELIVERED for i in range(packages)])
    starts = [
        {"position": p, "speed": v, "package_0": load}
        for p in range(last + 1)
        for v in range(-max_speed, max_speed + 1)
        for load in (WAITING, LOADED)
    ]
    return b.document(unsafe=(position < 0) | (position > last), goal=done, starts=starts)


def _moves(
    b: Builder,
    position: E,
    speed: E,
    lowest: int,
    last: int,
    max_speed: int,
    packages: int,
    *,
    fallen: int,
    random: bool,
    unreliable: bool,
    free: E | None = None,
) -> None:
    load = [
        b.integer(f"package_{i}", 0, LOST if fallen == LOST else DELIVERED, WAITING) for i in range(packages)
    ]
    slipped = b.integer("slipped", 0, 1, 0) if random and not unreliable else None
    inside = (position <= last) & (position >= 0)
    if free is not None:
        inside = inside & free
    for label, change, guard in (
        ("accelerate", 1, speed < max_speed),
        ("decelerate", -1, speed > (0 if lowest == 0 else -max_speed)),
    ):
        good = {"speed": speed + change, "position": position + speed + change}
        fail: dict[str, Any] = {"position": position + speed}
        if not random:
            b.edge(label, inside & guard, good)
        elif slipped is None:
            b.edge(label, inside & guard, good, fail)
        else:
            b.edge(label, inside & guard & (slipped == 0), good, {**fail, "slipped": 1})
            b.edge(label, inside & guard & (slipped == 1), {**good, "slipped": 0})
    b.edge("coast", inside, {"position": position + speed})
    for i, package in enumerate(load):
        if random:
            falls = {"position": position + speed, f"package_{i}": fallen}
            b.edge("coast", inside & (speed != 0) & (package == LOADED), falls)
        b.edge(
            "load", inside & (position == 0) & (speed == 0) & (package == WAITING), {f"package_{i}": LOADED}
        )
        b.edge(
            "unload",
            inside & (position == last) & (speed == 0) & (package == LOADED),
            {f"package_{i}": DELIVERED},
        )
