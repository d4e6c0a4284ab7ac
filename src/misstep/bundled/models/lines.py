"""Trucks on a line: accelerate and brake in time, deliver packages, do not drive past an end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from misstep.bundled.models.build import Builder, E, conjunction

WAITING, LOADED, DELIVERED, LOST = 0, 1, 2, 3
MOST_STARTS = 1000


@dataclass(frozen=True)
class _Line:
    """What the two kinds of lines have in common."""

    length: int
    packages: int
    max_speed: int
    random: bool
    parking: bool
    unreliable: bool
    along: bool

    @property
    def last(self) -> int:
        return self.length - 1

    def name(self, kind: str) -> str:
        sizes = f"{kind}_{self.length}_{self.packages}"
        marks = (("along", self.along), ("park", self.parking), ("det", not self.random))
        return "_".join([sizes, *(mark for mark, on in marks if on)])

    def journey(self, package: int) -> tuple[int, int]:
        """Where a package waits, and where it is to go; both spread over the line where that is wanted."""
        if not self.along:
            return 0, self.last
        away = max(1, self.last // 2)
        origin = package * (self.last - away) // max(1, self.packages - 1)
        return origin, origin + away

    def add_moves(self, b: Builder, position: E, speed: E, *, slowest: int, fallen: int) -> None:
        parked = b.integer("parked", 0, 1, 0) if self.parking else None
        kinds = LOST if fallen == LOST else DELIVERED
        load = [b.integer(f"package_{i}", 0, kinds, WAITING) for i in range(self.packages)]
        inside = (position <= self.last) & (position >= 0)
        if parked is not None:
            inside = inside & (parked == 0)
        self._add_speed(b, inside, position, speed, slowest)
        b.edge("coast", inside, {"position": position + speed})
        for i, package in enumerate(load):
            origin, destination = self.journey(i)
            if self.random:
                falls = {"position": position + speed, f"package_{i}": fallen}
                b.edge("coast", inside & (speed != 0) & (package == LOADED), falls)
            stands = inside & (speed == 0)
            b.edge("load", stands & (position == origin) & (package == WAITING), {f"package_{i}": LOADED})
            b.edge(
                "unload",
                stands & (position == destination) & (package == LOADED),
                {f"package_{i}": DELIVERED},
            )
        if parked is not None:
            b.edge("park", (speed == 0) & (parked == 0), {"parked": 1})
            b.edge("unpark", parked == 1, {"parked": 0})

    def _add_speed(self, b: Builder, inside: E, position: E, speed: E, slowest: int) -> None:
        slipped = b.integer("slipped", 0, 1, 0) if self.random and not self.unreliable else None
        for label, change, guard in (
            ("accelerate", 1, speed < self.max_speed),
            ("decelerate", -1, speed > slowest),
        ):
            good = {"speed": speed + change, "position": position + speed + change}
            fail: dict[str, Any] = {"position": position + speed}
            if not self.random:
                b.edge(label, inside & guard, good)
            elif slipped is None:
                b.edge(label, inside & guard, good, fail)
            else:
                b.edge(label, inside & guard & (slipped == 0), good, {**fail, "slipped": 1})
                b.edge(label, inside & guard & (slipped == 1), {**good, "slipped": 0})


def one_way_line(
    *,
    length: int = 8,
    packages: int = 2,
    max_speed: int = 3,
    random: bool = True,
    parking: bool = False,
    unreliable: bool = False,
    along: bool = False,
) -> dict[str, Any]:
    """A truck drives from 0 to length - 1. Speed changes may fail; twice in a row only if `unreliable`.

    Packages may fall off while the truck moves; they are lost. The goal: none waits, none is on the truck.
    They wait at 0 and go to the end; with `along` they are loaded and unloaded all along the line.
    """
    line = _Line(length, packages, max_speed, random, parking, unreliable, along)
    b = Builder(line.name("one_way_line"))
    position = b.integer("position", 0, line.last + max_speed, 0)
    speed = b.integer("speed", 0, max_speed, 0)
    line.add_moves(b, position, speed, slowest=0, fallen=LOST)
    done = conjunction(
        [(E(f"package_{i}") != WAITING) & (E(f"package_{i}") != LOADED) for i in range(packages)]
    )
    starts = [
        {"position": p, "speed": v, **{f"package_{i}": LOADED for i in range(packages)}}
        for p in range(line.last)
        for v in range(max_speed + 1)
    ]
    if along:  # what is loaded behind its destination cannot be delivered any more
        starts = [{"position": 0, "speed": v} for v in range(max_speed + 1)]
    return b.document(unsafe=position > line.last, goal=done, starts=starts)


def two_way_line(
    *,
    length: int = 8,
    packages: int = 2,
    max_speed: int = 2,
    random: bool = True,
    parking: bool = False,
    unreliable: bool = False,
    along: bool = False,
) -> dict[str, Any]:
    """Both directions, both ends to respect; fallen packages wait at 0 again, or where they came from with
    `along`; parking is an extra action.
    """
    line = _Line(length, packages, max_speed, random, parking, unreliable, along)
    b = Builder(line.name("two_way_line"))
    position = b.integer("position", -max_speed, line.last + max_speed, 0)
    speed = b.integer("speed", -max_speed, max_speed, 0)
    line.add_moves(b, position, speed, slowest=-max_speed, fallen=WAITING)
    goal = conjunction([E(f"package_{i}") == DELIVERED for i in range(packages)])
    starts = [
        {
            "position": p,
            "speed": v,
            f"package_{done}": load,
            **{f"package_{i}": DELIVERED for i in range(done)},
        }
        for done in range(packages)
        for p in range(length)
        for v in range(-max_speed, max_speed + 1)
        for load in (WAITING, LOADED)
    ]
    thinned = starts[:: max(1, len(starts) // MOST_STARTS)]
    return b.document(unsafe=(position < 0) | (position > line.last), goal=goal, starts=thinned)
