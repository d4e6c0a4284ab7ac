"""Random problems of the bundled courier domain, to train and to test policies on."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class CourierSizes:
    """The largest problem; each size is drawn from 1 (places: 3) up to it."""

    places: int = 5
    vans: int = 2
    parcels: int = 3
    distance: int = 4
    """The longest road."""


def courier_problem(rng: random.Random, sizes: CourierSizes, *, name: str = "random") -> str:
    """PDDL of a random problem: connected roads of random length, every parcel with a goal elsewhere.

    Draws by `rng.random()` alone, the one method whose sequence Python promises to keep.
    """
    places = [f"p{number}" for number in range(3 + _below(rng, sizes.places - 2))]
    vans = [f"v{number}" for number in range(1 + _below(rng, sizes.vans))]
    parcels = [f"b{number}" for number in range(1 + _below(rng, sizes.parcels))]
    roads: dict[tuple[str, str], int] = {}
    for number in range(1, len(places)):  # a random tree, then some more roads
        _connect(roads, places[number], places[_below(rng, number)], 1 + _below(rng, sizes.distance))
    for _ in range(_below(rng, len(places))):
        first, second = pick(rng, places), pick(rng, places)
        if first != second and (first, second) not in roads:
            _connect(roads, first, second, 1 + _below(rng, sizes.distance))
    init = [f"(road {first} {second})" for first, second in roads]
    init += [f"(= (distance {first} {second}) {length})" for (first, second), length in roads.items()]
    init += [f"(at {van} {pick(rng, places)}) (empty {van})" for van in vans]
    goal = []
    for parcel in parcels:
        start = pick(rng, places)
        init.append(f"(waiting {parcel} {start})")
        goal.append(f"(waiting {parcel} {pick(rng, [place for place in places if place != start])})")
    return "\n".join(
        [
            f"(define (problem {name})",
            "  (:domain courier)",
            f"  (:objects {' '.join(places)} - place {' '.join(vans)} - van {' '.join(parcels)} - parcel)",
            "  (:init",
            *(f"    {line}" for line in init),
            "    (= (total-cost) 0))",
            f"  (:goal (and {' '.join(goal)}))",
            "  (:metric minimize (total-cost)))",
            "",
        ]
    )


def pick(rng: random.Random, items: Sequence[T]) -> T:
    """One of the items."""
    return items[_below(rng, len(items))]


def _below(rng: random.Random, limit: int) -> int:
    return int(rng.random() * limit)


def _connect(roads: dict[tuple[str, str], int], first: str, second: str, length: int) -> None:
    roads[first, second] = roads[second, first] = length
