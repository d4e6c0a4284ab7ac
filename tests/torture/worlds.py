"""Random worlds: small enough to be searched as a whole, and nasty otherwise."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.torture.world import Atom, Literal, Schema, State, World

LARGEST_COST = 10_000_000
COSTS = (
    (1,),
    (0, 1, 2, 3),
    (0, 0, 1),
    (LARGEST_COST,),
    (0, 1, LARGEST_COST),
    (LARGEST_COST - 1, LARGEST_COST, 7),
)


def random_world(rng: Random) -> World:
    """A world of one of three sorts: random schemas, a walk with doors and fuel, a long and dear corridor."""
    sort = rng.random()
    if sort < 0.5:
        return _any_schemas(rng)
    return _walk(rng) if sort < 0.97 else _corridor(rng)


def _any_schemas(rng: Random) -> World:
    types = {"t0": "object", "t1": rng.choice(["object", "t0"]), "t2": rng.choice(["object", "t1"])}
    objects = {f"o{number}": rng.choice(list(types)) for number in range(rng.randint(2, 4))}
    any_type = [*types, "object"]
    predicates = {
        f"p{number}": tuple(rng.choice(any_type) for _ in range(rng.choice([0, 1, 1, 1, 2])))
        for number in range(rng.randint(2, 4))
    }
    world = World(types, objects, predicates, (), frozenset(), (), {}, rng.random() < 0.8)
    atoms = _all_atoms(world)
    if not atoms:  # no object fits any predicate
        return _any_schemas(rng)
    initial = frozenset(atom for atom in atoms if rng.random() < 0.4)
    schemas, values = [], dict[Atom, int]()
    menu = rng.choice(COSTS)
    for number in range(rng.randint(2, 5)):
        kinds = [rng.choice([*any_type, "t0 t2", "t1 t2"]) for _ in range(rng.choice([0, 1, 1, 2, 2]))]
        parameters = tuple((f"?x{index}", kind) for index, kind in enumerate(kinds))
        schemas.append(_schema(rng, world, number, parameters, menu, values))
    goal = tuple(
        Literal(atom, rng.random() < 0.7) for atom in rng.sample(atoms, min(len(atoms), rng.randint(1, 3)))
    )
    return replace(world, schemas=tuple(schemas), initial=initial, goal=goal, values=values)


def _schema(
    rng: Random,
    world: World,
    number: int,
    parameters: tuple[tuple[str, str], ...],
    menu: tuple[int, ...],
    values: dict[Atom, int],
) -> Schema:
    terms = [name for name, _ in parameters]

    def literal(positive: float) -> Literal:
        name = rng.choice(list(world.predicates))
        # A term of the wrong type makes an atom that never holds where it is needed: both readers must agree.
        arguments = [
            rng.choice([t for t in [*terms, *world.objects] if _fits(world, t, kind, parameters)] or [""])
            for kind in world.predicates[name]
        ]
        if "" in arguments:
            return literal(positive)
        return Literal((name, *arguments), rng.random() < positive)

    needs = [literal(0.6) for _ in range(rng.choice([0, 1, 1, 2]))]
    if len(terms) == 2 and rng.random() < 0.4:
        needs.append(Literal(("=", *terms), positive=False))
    either = [literal(0.6) for _ in range(rng.choice([0, 0, 0, 2, 3]))]
    effects = [literal(0.55) for _ in range(rng.choice([1, 2, 2, 3]))]
    cost: int | Atom | None = rng.choice([*menu, None] if rng.random() < 0.1 else menu)
    if terms and rng.random() < 0.3:
        cost = (f"c{number}", terms[0])
        values |= {(f"c{number}", o): rng.choice(menu) for o in world.objects if rng.random() < 0.9}
    return Schema(f"a{number}", parameters, tuple(needs), tuple(either), tuple(effects), cost)


def _fits(world: World, term: str, kind: str, parameters: tuple[tuple[str, str], ...]) -> bool:
    """Whether every object that the term may stand for is of the type."""
    given = dict(parameters).get(term)
    if given is None:
        return world.is_a(term, kind) or kind == "object"
    return kind == "object" or (
        all(world.is_a(o, kind) for o in world.objects if world.is_a(o, given) or given == "object")
        and given in (kind, *_below(world, kind))
    )


def _below(world: World, kind: str) -> list[str]:
    return [name for name in world.supertypes if _is_below(world, name, kind)]


def _is_below(world: World, name: str, kind: str) -> bool:
    while name != "object":
        if name == kind:
            return True
        name = world.supertypes[name]
    return kind == "object"


def _all_atoms(world: World) -> list[Atom]:
    atoms: list[Atom] = []
    for name, kinds in world.predicates.items():
        rows: list[Atom] = [(name,)]
        for kind in kinds:
            rows = [
                (*row, o) for row in rows for o in world.objects if kind == "object" or world.is_a(o, kind)
            ]
        atoms += rows
    return atoms


def _walk(rng: Random) -> World:
    """Places, one-way roads of different cost, keys for doors, and fuel that runs out: dead ends."""
    size, fuel = rng.randint(3, 7), rng.randint(1, 5)
    places = [f"l{number}" for number in range(size)]
    levels = [f"f{number}" for number in range(fuel + 1)]
    objects = dict.fromkeys(places, "place") | dict.fromkeys(levels, "level") | {"k0": "key", "k1": "key"}
    menu = rng.choice(COSTS)
    roads = {(a, b) for a in places for b in places if a != b and rng.random() < 0.4}
    initial: set[Atom] = {("road", a, b) for a, b in roads} | {("at", rng.choice(places))}
    initial |= {("less", levels[i + 1], levels[i]) for i in range(fuel)} | {("tank", levels[-1])}
    initial |= {("lies", key, rng.choice(places)) for key in ("k0", "k1")}
    initial |= {("shut", place) for place in places if rng.random() < 0.3}
    values: dict[Atom, int] = {("length", a, b): rng.choice(menu) for a, b in sorted(roads)}
    x, y, k = ("?x", "place"), ("?y", "place"), ("?k", "key")
    levels_of = (("?m", "level"), ("?n", "level"))
    at, burns = Literal(("at", "?x")), (Literal(("tank", "?m")), Literal(("less", "?m", "?n")))
    moved = (Literal(("at", "?x"), False), Literal(("at", "?y")))
    burnt = (Literal(("tank", "?m"), False), Literal(("tank", "?n")))
    road = Literal(("road", "?x", "?y"))
    schemas = (
        Schema(
            "walk", (x, y), (at, road), (Literal(("shut", "?y"), False), Literal(("has", "k0"))), moved,
            ("length", "?x", "?y"),
        ),
        Schema("drive", (x, y, *levels_of), (at, road, *burns), (), (*moved, *burnt), rng.choice(menu)),
        Schema(
            "take", (k, x), (at, Literal(("lies", "?k", "?x"))), (),
            (Literal(("has", "?k")), Literal(("lies", "?k", "?x"), False)), rng.choice(menu),
        ),
        Schema("drop", (k,), (), (), (Literal(("has", "?k"), False),), rng.choice(menu)),
        Schema("close", (x,), (at,), (), (Literal(("shut", "?x")),), 0),
    )  # fmt: skip
    predicates = {
        "at": ("place",), "road": ("place", "place"), "less": ("level", "level"), "tank": ("level",),
        "lies": ("key", "place"), "has": ("key",), "shut": ("place",),
    }  # fmt: skip
    goal = [Literal(("at", rng.choice(places)))]
    if rng.random() < 0.5:
        goal.append(Literal(("has", "k1"), rng.random() < 0.7))
    types = {"place": "object", "level": "object", "key": "object"}
    has_metric = rng.random() < 0.85
    kept = schemas if rng.random() < 0.5 else tuple(s for s in schemas if s.name != "close")
    return World(types, objects, predicates, kept, frozenset(initial), tuple(goal), values, has_metric)


def _corridor(rng: Random) -> World:
    """A long way in dear steps: what it costs is beyond what 30 bits hold."""
    size = rng.randint(90, 260)
    places = [f"l{number}" for number in range(size)]
    objects = dict.fromkeys(places, "place")
    steps: set[Atom] = {("next", places[i], places[i + 1]) for i in range(size - 1)}
    for _ in range(rng.randint(0, 6)):  # jumps, forwards and back
        steps.add(("next", rng.choice(places), rng.choice(places[: size - size // 8])))
    values: dict[Atom, int] = {
        ("length", a, b): rng.choice((LARGEST_COST, LARGEST_COST, LARGEST_COST - 3, 0))
        for _, a, b in sorted(steps)
    }
    x, y = ("?x", "place"), ("?y", "place")
    at, there = Literal(("at", "?x")), (Literal(("at", "?x"), False), Literal(("at", "?y")))
    schemas = (
        Schema("go", (x, y), (at, Literal(("next", "?x", "?y"))), (), there, ("length", "?x", "?y")),
        Schema(
            "run", (x, y), (at, Literal(("next", "?x", "?y")), Literal(("tired",), False)), (),
            (*there, Literal(("tired",))), rng.choice((0, LARGEST_COST)),
        ),
        Schema("rest", (), (), (), (Literal(("tired",), False),), rng.choice((0, 1, LARGEST_COST))),
    )  # fmt: skip
    initial: State = frozenset(steps | {("at", places[0])})
    predicates = {"at": ("place",), "next": ("place", "place"), "tired": ()}
    goal = (Literal(("at", places[-1])),)
    return World({"place": "object"}, objects, predicates, schemas, initial, goal, values, True)
