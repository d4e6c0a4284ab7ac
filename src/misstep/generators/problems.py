"""Problem texts of any size for the bundled domains and those of the tests."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence


def problem(
    domain: str, objects: Iterable[str], init: Iterable[str], goal: Iterable[str], *, metric: bool = False
) -> str:
    """PDDL text of a problem; `init` and `goal` are atoms without the outer parentheses."""
    lines = [f"(define (problem {domain}-generated)", f"  (:domain {domain})", "  (:objects"]
    lines += [f"    {line}" for line in objects]
    lines += ["  )", "  (:init"]
    lines += [f"    ({atom})" for atom in init]
    if metric:
        lines.append("    (= (total-cost) 0)")
    lines += ["  )", "  (:goal (and"]
    lines += [f"    ({atom})" for atom in goal]
    lines.append("  ))" + ("\n  (:metric minimize (total-cost)))" if metric else ")"))
    return "\n".join(lines) + "\n"


def _names(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{i}" for i in range(1, count + 1)]


def _towers(blocks: Sequence[str], rng: random.Random) -> list[str]:
    """Atoms of a random arrangement: each block goes on the table or on a tower's top, chosen evenly."""
    order = list(blocks)
    rng.shuffle(order)
    tops: list[str] = []
    atoms: list[str] = []
    for block in order:
        place = rng.randrange(len(tops) + 1)
        if place == len(tops):
            atoms.append(f"on-table {block}")
            tops.append(block)
        else:
            atoms.append(f"on {block} {tops[place]}")
            tops[place] = block
    return atoms + [f"clear {top}" for top in tops]


def blocks(size: int, seed: int) -> str:
    """A random arrangement of `size` blocks has to become another."""
    rng = random.Random(seed)
    names = _names("b", size)
    goal = [atom for atom in _towers(names, rng) if atom.startswith("on ")]
    return problem("blocks", [" ".join(names)], [*_towers(names, rng), "hand-empty"], goal or ["hand-empty"])


def gripper(balls: int, *, rooms: int = 2) -> str:
    """All balls go from the first room to the last."""
    names, places = _names("ball", balls), _names("room", rooms)
    init = [f"robot-in {places[0]}", "free left", "free right", *(f"in {b} {places[0]}" for b in names)]
    return problem(
        "gripper",
        [" ".join(names) + " - ball", " ".join(places) + " - room"],
        init,
        [f"in {b} {places[-1]}" for b in names],
    )


def mixed_gripper(balls: int, rooms: int, seed: int) -> str:
    """Every ball goes to another room, chosen evenly."""
    rng = random.Random(seed)
    names, places = _names("ball", balls), _names("room", rooms)
    init, goal = [f"robot-in {rng.choice(places)}", "free left", "free right"], []
    for ball in names:
        start, end = rng.sample(places, 2)
        init.append(f"in {ball} {start}")
        goal.append(f"in {ball} {end}")
    return problem("gripper", [" ".join(names) + " - ball", " ".join(places) + " - room"], init, goal)


def spanner(spots: int, nuts: int, spanners: int, seed: int) -> str:
    """A way from the shed to the gate, where the nuts are; spanners lie on random spots between."""
    rng = random.Random(seed)
    way = ["shed", *_names("spot", spots), "gate"]
    init = [f"path {a} {b}" for a, b in itertools.pairwise(way)] + ["at bob shed"]
    for tool in _names("spanner", spanners):
        init += [f"at {tool} {rng.choice(way[1:-1])}", f"usable {tool}"]
    for nut in _names("nut", nuts):
        init += [f"at {nut} gate", f"loose {nut}"]
    objects = [
        f"{' '.join(way)} - spot",
        "bob - worker",
        f"{' '.join(_names('spanner', spanners))} - spanner",
    ]
    goal = [f"tight {nut}" for nut in _names("nut", nuts)]
    return problem("spanner", [*objects, f"{' '.join(_names('nut', nuts))} - nut"], init, goal)


def logistics(cities: int, places: int, parcels: int, planes: int, seed: int) -> str:
    """Each city has `places` places, the first an airport, and one truck."""
    rng = random.Random(seed)
    city = _names("c", cities)
    spots = {c: [f"{c}-p{i}" for i in range(1, places + 1)] for c in city}
    everywhere = [p for c in city for p in spots[c]]
    airports = [spots[c][0] for c in city]
    others = [p for p in everywhere if p not in airports]
    trucks, aircraft, goods = [f"t-{c}" for c in city], _names("plane", planes), _names("parcel", parcels)
    init = [f"part-of {p} {c}" for c in city for p in spots[c]]
    init += [f"at t-{c} {rng.choice(spots[c])}" for c in city]
    init += [f"at {a} {rng.choice(airports)}" for a in aircraft]
    goal = []
    for parcel in goods:
        start, end = rng.sample(everywhere, 2)
        init.append(f"at {parcel} {start}")
        goal.append(f"at {parcel} {end}")
    objects = [f"{' '.join(city)} - city", f"{' '.join(airports)} - airport"]
    objects += [f"{' '.join(others)} - place"] if others else []
    objects += [f"{' '.join(trucks)} - truck", f"{' '.join(aircraft)} - plane", f"{' '.join(goods)} - parcel"]
    return problem("logistics", objects, init, goal)


def ferry(ports: int, cars: int, seed: int) -> str:
    """Every car goes to another port, chosen evenly."""
    rng = random.Random(seed)
    port, car = _names("port", ports), _names("car", cars)
    init = (
        [f"port {p}" for p in port]
        + [f"car {c}" for c in car]
        + ["deck-free", f"ferry-at {rng.choice(port)}"]
    )
    goal = []
    for c in car:
        start, end = rng.sample(port, 2)
        init.append(f"car-at {c} {start}")
        goal.append(f"car-at {c} {end}")
    return problem("ferry", [" ".join(port), " ".join(car)], init, goal)


def miconic(floors: int, passengers: int, seed: int) -> str:
    """Every passenger goes to another floor, chosen evenly."""
    rng = random.Random(seed)
    floor, people = _names("f", floors), _names("p", passengers)
    init = [f"below {a} {b}" for a, b in itertools.combinations(floor, 2)] + [f"lift-at {rng.choice(floor)}"]
    for p in people:
        start, end = rng.sample(floor, 2)
        init += [f"origin {p} {start}", f"target {p} {end}"]
    return problem(
        "miconic",
        [f"{' '.join(floor)} - floor", f"{' '.join(people)} - passenger"],
        init,
        [f"served {p}" for p in people],
    )


def grid(width: int, height: int, *, holes: Iterable[tuple[int, int]] = ()) -> list[tuple[int, int]]:
    """Coordinates of a grid without its holes."""
    missing = set(holes)
    return [(x, y) for y in range(height) for x in range(width) if (x, y) not in missing]


def _neighbours(cells: Sequence[tuple[int, int]]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    present = set(cells)
    steps = ((1, 0), (-1, 0), (0, 1), (0, -1))
    return [((x, y), (x + dx, y + dy)) for x, y in cells for dx, dy in steps if (x + dx, y + dy) in present]


def visitall(width: int, height: int, seed: int, *, share: float = 1.0, holes: int = 0) -> str:
    """A share of the cells has to be visited from a random start; holes never cut the grid apart."""
    rng = random.Random(seed)
    cells = grid(width, height)
    while holes > 0:
        hole = rng.choice(cells)
        rest = [c for c in cells if c != hole]
        if _connected(rest):
            cells, holes = rest, holes - 1
    name = {c: f"c-{c[0]}-{c[1]}" for c in cells}
    start = rng.choice(cells)
    init = [f"next-to {name[a]} {name[b]}" for a, b in _neighbours(cells)]
    init += [f"robot-at {name[start]}", f"visited {name[start]}"]
    goal = rng.sample(cells, max(1, round(share * len(cells))))
    return problem(
        "visitall", [f"{' '.join(name.values())} - cell"], init, sorted(f"visited {name[c]}" for c in goal)
    )


def _connected(cells: Sequence[tuple[int, int]]) -> bool:
    links: dict[tuple[int, int], list[tuple[int, int]]] = {c: [] for c in cells}
    for a, b in _neighbours(cells):
        links[a].append(b)
    seen, todo = {cells[0]}, [cells[0]]
    while todo:
        for other in links[todo.pop()]:
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return len(seen) == len(cells)


def hanoi(discs: int) -> str:
    """The classic tower from the first of three pegs to the last."""
    disc, peg = _names("d", discs), _names("peg", 3)
    init = [f"smaller {d} {p}" for d in disc for p in peg]
    init += [f"smaller {a} {b}" for a, b in itertools.combinations(disc, 2)]
    chain = [*disc, peg[0]]
    init += [f"on {a} {b}" for a, b in itertools.pairwise(chain)]
    init += [f"clear {x}" for x in (disc[0], peg[1], peg[2])]
    goal = [f"on {a} {b}" for a, b in itertools.pairwise([*disc, peg[2]])]
    return problem("hanoi", [" ".join(disc), " ".join(peg)], init, goal)


def npuzzle(width: int, height: int, seed: int, *, steps: int = 1000) -> str:
    """The blank walks `steps` random steps away from the goal, so every puzzle is solvable."""
    rng = random.Random(seed)
    cells = grid(width, height)
    links = _neighbours(cells)
    place = dict(zip(cells, [None, *_names("t", len(cells) - 1)], strict=True))
    blank = cells[0]
    for _ in range(steps):
        other = rng.choice([b for a, b in links if a == blank])
        place[blank], place[other], blank = place[other], None, other
    name = {c: f"c-{c[0]}-{c[1]}" for c in cells}
    tiles = _names("t", len(cells) - 1)
    init = [f"adjacent {name[a]} {name[b]}" for a, b in links] + [f"blank {name[blank]}"]
    init += [f"at {t} {name[c]}" for c, t in place.items() if t is not None]
    goal = [f"at {t} {name[c]}" for t, c in zip(tiles, cells[1:], strict=True)]
    return problem("npuzzle", [f"{' '.join(tiles)} - tile", f"{' '.join(name.values())} - cell"], init, goal)
