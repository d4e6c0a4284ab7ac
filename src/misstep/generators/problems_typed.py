"""Problem texts for the domains with action costs or many types; see generate.py."""

from __future__ import annotations

import itertools
import random

from misstep.generators.problems import grid, problem


def _names(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{i}" for i in range(1, count + 1)]


def transport(towns: int, lorries: int, crates: int, seed: int, *, room: int = 2) -> str:
    """Towns on a random tree with some more roads; lengths from 1 to 20."""
    rng = random.Random(seed)
    town, lorry, crate = _names("town", towns), _names("lorry", lorries), _names("crate", crates)
    levels = [f"l{i}" for i in range(room + 1)]
    roads = {(rng.randrange(i), i) for i in range(1, towns)}
    for _ in range(towns // 2):
        near, far = sorted(rng.sample(range(towns), 2))
        roads.add((near, far))
    init = [f"one-less {a} {b}" for a, b in itertools.pairwise(levels)]
    for near, far in sorted(roads):
        a, b, length = town[near], town[far], rng.randint(1, 20)
        init += [
            f"road {a} {b}",
            f"road {b} {a}",
            f"= (length {a} {b}) {length}",
            f"= (length {b} {a}) {length}",
        ]
    init += [atom for x in lorry for atom in (f"at {x} {rng.choice(town)}", f"room {x} {levels[-1]}")]
    goal = []
    for c in crate:
        start, end = rng.sample(town, 2)
        init.append(f"at {c} {start}")
        goal.append(f"at {c} {end}")
    objects = [f"{' '.join(town)} - town", f"{' '.join(lorry)} - lorry", f"{' '.join(crate)} - crate"]
    return problem("transport", [*objects, f"{' '.join(levels)} - load-level"], init, goal, metric=True)


def elevators(floors: int, people: int, fast: int, slow: int, seed: int) -> str:
    """Fast lifts stop at every second floor, slow ones everywhere; costs grow with the distance."""
    rng = random.Random(seed)
    floor = [f"f{i}" for i in range(floors)]
    person, quick, lazy = _names("p", people), _names("fast", fast), _names("slow", slow)
    init = [f"above {floor[j]} {floor[i]}" for i, j in itertools.combinations(range(floors), 2)]
    for i, j in itertools.combinations(range(floors), 2):
        init += [f"= (slow-cost {floor[i]} {floor[j]}) {5 + j - i}"]
        init += [f"= (fast-cost {floor[i]} {floor[j]}) {1 + 3 * (j - i)}"]
    init += [f"after n{i} n{i + 1}" for i in range(3)]
    for lift in quick + lazy:
        stops = floor[::2] if lift in quick else floor
        seats = 3 if lift in quick else 2
        init += [f"stops {lift} {f}" for f in stops] + [f"limit {lift} n{i}" for i in range(1, seats + 1)]
        init += [f"lift-at {lift} {rng.choice(stops)}", f"taken {lift} n0"]
    goal = []
    for p in person:
        start, end = rng.sample(floor, 2)
        init.append(f"waits {p} {start}")
        goal.append(f"waits {p} {end}")
    objects = [f"{' '.join(floor)} - floor", f"{' '.join(person)} - person", "n0 n1 n2 n3 - seats"]
    objects += [f"{' '.join(quick)} - fast"] if quick else []
    objects += [f"{' '.join(lazy)} - slow"] if lazy else []
    return problem("elevators", objects, init, goal, metric=True)


def sokoban(picture: str) -> str:
    """A level drawn with # wall, @ player, $ crate, . target, + player on a target, * crate on a target."""
    rows = picture.strip("\n").split("\n")
    mark = {(x, y): char for y, row in enumerate(rows) for x, char in enumerate(row)}
    cells = [c for c in grid(max(map(len, rows)), len(rows)) if mark.get(c, "#") != "#"]
    name = {c: f"c-{c[0]}-{c[1]}" for c in cells}
    moves = {"right": (1, 0), "left": (-1, 0), "down": (0, 1), "up": (0, -1)}
    init = []
    for (x, y), (direction, (dx, dy)) in itertools.product(cells, moves.items()):
        if (x + dx, y + dy) in name:
            init.append(f"step {name[x, y]} {name[x + dx, y + dy]} {direction}")
    crates = [c for c in cells if mark[c] in "$*"]
    targets = [c for c in cells if mark[c] in ".+*"]
    init += [f"crate-at x{i} {name[c]}" for i, c in enumerate(crates, 1)]
    init += [f"player-at {name[c]}" for c in cells if mark[c] in "@+"]
    init += [f"empty {name[c]}" for c in cells if mark[c] in " ."]
    goal = [f"crate-at x{i} {name[c]}" for i, c in enumerate(targets, 1)]
    objects = [f"{' '.join(name.values())} - cell", "right left down up - direction"]
    objects.append(f"{' '.join(_names('x', len(crates)))} - crate")
    return problem("sokoban", objects, init, goal, metric=True)


def satellite(satellites: int, instruments: int, modes: int, directions: int, images: int, seed: int) -> str:
    """Instruments are dealt to satellites in turn; each supports a random half of the modes, at least one."""
    rng = random.Random(seed)
    sat, mode = _names("sat", satellites), _names("mode", modes)
    instrument, direction = _names("cam", instruments), _names("star", directions)
    init = []
    supported = set()
    for i, cam in enumerate(instrument):
        init += [f"carries {sat[i % satellites]} {cam}", f"calibration {cam} {rng.choice(direction)}"]
        chosen = rng.sample(mode, max(1, modes // 2))
        supported |= set(chosen)
        init += [f"supports {cam} {m}" for m in chosen]
    init += [atom for s in sat for atom in (f"power {s}", f"points {s} {rng.choice(direction)}")]
    wishes = [f"image {d} {m}" for d in direction for m in sorted(supported)]
    goal = rng.sample(wishes, images)
    objects = [f"{' '.join(sat)} - satellite", f"{' '.join(instrument)} - instrument"]
    objects += [f"{' '.join(mode)} - mode", f"{' '.join(direction)} - direction"]
    return problem("satellite", objects, init, goal)


def childsnack(children: int, allergic: int, trays: int, places: int, seed: int) -> str:
    """One bread, one filling and one sandwich per child; the allergic children come first."""
    rng = random.Random(seed)
    child, tray, place = _names("child", children), _names("tray", trays), _names("table", places)
    bread, filling, sandwich = (_names(p, children) for p in ("bread", "filling", "sandwich"))
    init = [f"has-bread {b}" for b in bread] + [f"has-filling {f}" for f in filling]
    init += [f"unmade {s}" for s in sandwich] + [f"tray-at {t} kitchen" for t in tray]
    init += [f"free-bread {b}" for b in rng.sample(bread, allergic)]
    init += [f"free-filling {f}" for f in rng.sample(filling, allergic)]
    for i, c in enumerate(child):
        init += [f"{'allergic' if i < allergic else 'tolerant'} {c}", f"sits {c} {rng.choice(place)}"]
    groups = {"child": child, "tray": tray, "place": place, "bread": bread, "filling": filling}
    objects = [f"{' '.join(names)} - {kind}" for kind, names in groups.items()]
    objects.append(f"{' '.join(sandwich)} - sandwich")
    return problem("childsnack", objects, init, [f"fed {c}" for c in child])


def floortile(width: int, height: int, robots: int, seed: int) -> str:
    """A chess-board pattern in two colours on all rows but the lowest, where the robots start."""
    rng = random.Random(seed)
    cells = grid(width, height + 1)
    name = {c: f"t-{c[0]}-{c[1]}" for c in cells}
    robot, colour = _names("robot", robots), ["white", "black"]
    starts = rng.sample([c for c in cells if c[1] == 0], robots)
    init = [f"stocked {c}" for c in colour]
    init += [f"over {name[x, y + 1]} {name[x, y]}" for x, y in cells if (x, y + 1) in name]
    init += [f"right-of {name[x + 1, y]} {name[x, y]}" for x, y in cells if (x + 1, y) in name]
    init += [f"on {r} {name[c]}" for r, c in zip(robot, starts, strict=True)]
    init += [f"brush {r} {colour[i % 2]}" for i, r in enumerate(robot)]
    init += [f"dry {name[c]}" for c in cells if c not in starts]
    goal = [f"painted {name[x, y]} {colour[(x + y) % 2]}" for x, y in cells if y > 0]
    objects = [f"{' '.join(robot)} - robot", f"{' '.join(name.values())} - tile", "white black - colour"]
    return problem("floortile", objects, init, goal, metric=True)
