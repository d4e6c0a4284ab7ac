"""`rules`: drawings of any domain, from what excludes what, what moves, and names with coordinates."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from misstep.drawing import Edge, Layout, Place, Scene
from misstep.drawings.facts import Facts
from misstep.drawings.layout import (
    Points,
    direction_of,
    grid_points,
    joins_neighbours,
    map_points,
    turned,
)
from misstep.drawings.roles import Cast, cast
from misstep.task import Task

# More ways than this a place, and lines hide the things between them.
_MOST_WAYS = 2.5
# More places than this are not laid out as a map.
_MOST_PLACES = 150
_MOST_NOTES = 4
_MOST_LISTED = 3
# Words of a predicate that says that one thing is in another.
_INSIDE = frozenset(["on", "in", "at", "of", "aboard", "board", "inside", "within"])


@dataclass(frozen=True)
class Rules:
    """Rules for any domain: grids from names with coordinates, maps from how things move, stacks, boxes."""

    name = "rules"

    def scene(self, task: Task, usual: Scene, /) -> Scene:
        """What the rules say."""
        return usual


def usual_scene(task: Task) -> Scene:
    """How a task is drawn that nobody wrote a drawing for."""
    facts = Facts(task)
    found = cast(facts)
    if not found.places and not found.located:
        found.places = _related(facts)
    names = _in_order(task, found.places)
    pairs = _ways(facts, names)
    if joined := {
        names[at] for pair in pairs for at in pair
    }:  # what lies on no way, such as a hand, is no place
        names = [name for name in names if name in joined]
        pairs = _ways(facts, names)
    layout, points = _layout(facts, names, pairs)
    shown = pairs if layout == "map" else {}
    inside, notes = _fixed(facts, found)
    return Scene(
        layout=layout,
        places=tuple(Place(name, x, y) for name, (x, y) in zip(names, points, strict=True)),
        edges=tuple(Edge(one, other, label) for (one, other), label in shown.items()),
        roles=found.roles,
        notes=notes,
        inside=inside,
    )


def _in_order(task: Task, names: set[str]) -> list[str]:
    """As the problem lists its objects."""
    listed = () if task.pddl is None else task.pddl.objects
    rank = {name: at for at, name in enumerate(listed)}
    return sorted(names, key=lambda name: (rank.get(name, len(rank)), name))


def _related(facts: Facts) -> set[str]:
    """Where nothing is anywhere: the objects that a fixed relation joins, or all that facts speak of."""
    joined = {
        name
        for atoms in facts.fixed.values()
        for objects in atoms
        if len(objects) == 2 and objects[0] != objects[1]
        for name in objects
    }
    spoken = {name for atoms in facts.atoms.values() for objects in atoms for name in objects}
    return joined & spoken or spoken


def _ways(facts: Facts, names: Sequence[str]) -> dict[tuple[int, int], str]:
    """The ways between places with their labels: by moves, or by a fixed relation where nothing moves."""
    number = {name: at for at, name in enumerate(names)}
    costs: dict[tuple[int, int], set[int]] = {}
    for move in facts.moves:
        if move.start in number and move.end in number:
            one, other = sorted((number[move.start], number[move.end]))
            costs.setdefault((one, other), set()).add(move.cost)
    if len({cost for found in costs.values() for cost in found}) > 1 and all(
        len(found) == 1 for found in costs.values()
    ):
        return {pair: str(*found) for pair, found in costs.items()}
    if costs:
        return dict.fromkeys(costs, "")
    pairs = (
        (number[objects[0]], number[objects[1]])
        for atoms in facts.fixed.values()
        for objects in atoms
        if len(objects) == 2 and objects[0] in number and objects[1] in number
    )
    return dict.fromkeys(((min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]), "")


def _layout(facts: Facts, names: Sequence[str], ways: dict[tuple[int, int], str]) -> tuple[Layout, Points]:
    grid, pairs = grid_points(names), list(ways)
    if grid is not None and joins_neighbours(grid, pairs):
        return "grid", turned(grid, _directions(facts, names))
    if pairs and len(names) > 2 and _is_order(facts, names):
        return "column", [(0.0, float(-at)) for at in range(len(names))]
    all_pairs = len(names) * (len(names) - 1) / 2
    # Where every place is next to every other, ways say nothing unless they differ.
    says_something = len(pairs) < all_pairs or all_pairs == 1 or any(ways.values())
    if pairs and says_something and len(pairs) <= _MOST_WAYS * len(names) and len(names) <= _MOST_PLACES:
        return "map", map_points(len(names), pairs)
    return "boxes", [(0.0, 0.0)] * len(names)


def _directions(facts: Facts, names: Sequence[str]) -> list[tuple[int, int, tuple[int, int]]]:
    """What fixed atoms say of directions: `(right-of b a)` and `(step a b right)`: b is right of a."""
    number = {name: at for at, name in enumerate(names)}
    said = []
    for predicate, atoms in facts.fixed.items():
        for objects in atoms:
            if len(objects) not in (2, 3) or objects[0] not in number or objects[1] not in number:
                continue
            start, end = number[objects[0]], number[objects[1]]
            word = direction_of(objects[2] if len(objects) == 3 else predicate)
            if word is not None:
                said.append((start, end, word) if len(objects) == 3 else (end, start, word))
    return said


def _is_order(facts: Facts, names: Sequence[str]) -> bool:
    """Whether a fixed relation puts the places in a row: each before all that come later."""
    known = set(names)
    for atoms in facts.fixed.values():
        pairs = {objects for objects in atoms if len(objects) == 2 and known.issuperset(objects)}
        if len(pairs) == len(names) * (len(names) - 1) // 2 and not any((b, a) in pairs for a, b in pairs):
            return True
    return False


def _fixed(facts: Facts, found: Cast) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """What is drawn in every state: things that never leave their place, and what is known of others."""
    choices: dict[str, list[tuple[str, str]]] = {}
    inside: dict[str, str] = {}
    notes: dict[str, list[str]] = {}
    for predicate, atoms in facts.fixed.items():
        if len(atoms[0]) != 2:
            continue
        first, second = {objects[0] for objects in atoms}, {objects[1] for objects in atoms}
        if first & second or first & found.places:
            continue
        never_placed = not second & (found.located | found.places)
        if first <= found.located and len(second) == len(atoms) and never_placed:
            inside |= {other: one for one, other in atoms}
            continue
        if len(first) < len(atoms):
            if never_placed:
                _list_all(predicate, atoms, notes)
            continue
        for one, other in atoms:
            choices.setdefault(one, []).append((predicate, other))
    for thing, known in choices.items():
        where = None if thing in found.located | inside.keys() else _container(known, found)
        if where is not None:
            inside[thing] = where[1]
        words = [f"{predicate} {other}" for predicate, other in known if (predicate, other) != where]
        notes[thing] = [*words, *notes.get(thing, [])]
    for thing, words in _properties(facts).items():
        notes[thing] = [*words, *notes.get(thing, [])]
    return inside, {thing: tuple(words[:_MOST_NOTES]) for thing, words in notes.items() if words}


def _list_all(predicate: str, atoms: Sequence[tuple[str, ...]], notes: dict[str, list[str]]) -> None:
    """Notes what an object has several of: `(supports camera colour)`; long lists say too much."""
    of: dict[str, list[str]] = {}
    for one, other in atoms:
        of.setdefault(one, []).append(other)
    if max(map(len, of.values())) <= _MOST_LISTED:
        for thing, others in of.items():
            notes.setdefault(thing, []).extend(f"{predicate} {other}" for other in others)


def _container(known: Sequence[tuple[str, str]], found: Cast) -> tuple[str, str] | None:
    """What a thing is always in: the only thing that is known of it, or the one that says `on`, `of`, ..."""
    said = [
        (predicate, where)
        for predicate, where in known
        if where in found.located | found.places and not _INSIDE.isdisjoint(re.split("[-_]", predicate))
    ]
    if len(said) == 1:
        return said[0]
    return known[0] if len(known) == 1 and known[0][1] in found.places else None


def _properties(facts: Facts) -> dict[str, list[str]]:
    """What always holds of some objects and not of others like them; of two opposites, the rarer one."""
    found: dict[str, list[str]] = {}
    holders = {
        predicate: {objects[0] for objects in atoms}
        for predicate, atoms in facts.fixed.items()
        if len(atoms[0]) == 1
    }
    for alike in facts.alike:
        told: list[set[str]] = []
        for predicate, having in sorted(holders.items(), key=lambda item: (len(item[1] & alike), item[0])):
            those = having & alike
            if those and those != alike and those not in told and alike - those not in told:
                told.append(those)
                for name in those:
                    found.setdefault(name, []).append(predicate)
    return found
