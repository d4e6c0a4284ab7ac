"""Which role every predicate of a task has in its drawing, from what the facts exclude and what moves.

No rule looks at a domain. A variable of the task says of one object where it is: `(at van depot)`,
`(aboard van parcel)`. The objects that things are moved between are places; whatever else is said of an
object is written at it.
"""

import re
from dataclasses import dataclass, field

from misstep.drawing import Role
from misstep.drawings.facts import Facts

# That nothing is there is seen where nothing is drawn.
_NOTHING = re.compile(r"(hand|.*[-_])?(clear|empty|free|blank|idle)([-_].*)?")
_SMALL_WORDS = re.compile(r"^(is-|is_|at-|at_|in-|in_)|(-at|_at|-in|_in|-is|_is)$")


@dataclass(slots=True)
class Cast:
    """The roles of predicates, and what follows from them for objects."""

    roles: dict[str, Role] = field(default_factory=dict)
    places: set[str] = field(default_factory=set)
    """Objects that others are in, and that are in nothing themselves."""
    located: set[str] = field(default_factory=set)
    """Objects that are in others."""


def cast(facts: Facts) -> Cast:
    """Gives every predicate its role."""
    found = Cast()
    shown = {name: atoms for name, atoms in facts.atoms.items() if not _NOTHING.fullmatch(name)}
    found.roles = {name: Role("hidden") for name in facts.atoms if name not in shown}
    stops = {name for move in facts.moves for name in (move.start, move.end)}
    pairs = [name for name in shown if facts.arity(name) == 2]
    for predicate in sorted(pairs, key=lambda name: _rank(facts, name, stops), reverse=True):
        role = _pair(facts, predicate, found, stops)
        found.roles[predicate] = role
        if role.kind in ("in", "on"):
            found.located |= facts.side(predicate, role.subject)
            found.places |= facts.side(predicate, role.target)
    found.places -= found.located
    for predicate in shown:
        if facts.arity(predicate) == 1:
            found.roles[predicate] = _single(facts, predicate, found)
        elif facts.arity(predicate) != 2:
            found.roles[predicate] = Role("tag")
    for predicate, role in found.roles.items():
        if role.kind == "token":
            found.places |= facts.side(predicate, 0)
    found.places -= found.located
    return found


def _rank(facts: Facts, predicate: str, stops: set[str]) -> tuple[bool, bool, int]:
    """Predicates that put things into places come first, then stacks, then much talked about places."""
    strongest = 0 if facts.evidence[predicate, 0] >= facts.evidence[predicate, 1] else 1
    targets = facts.side(predicate, 1 - strongest)
    said = sum(not targets.isdisjoint(objects) for atoms in facts.atoms.values() for objects in atoms)
    is_stack = not facts.side(predicate, 0).isdisjoint(facts.side(predicate, 1))
    return not targets.isdisjoint(stops), is_stack, said


def _pair(facts: Facts, predicate: str, found: Cast, stops: set[str]) -> Role:
    first, second = facts.side(predicate, 0), facts.side(predicate, 1)
    if not facts.evidence[predicate, 0] and not facts.evidence[predicate, 1]:
        return Role("tag")
    if first & second:
        return Role("on") if not first & found.located else Role("link")
    sides = [0, 1]
    if first <= stops or second <= stops:  # places are in nothing
        sides = [side for side, names in ((0, first), (1, second)) if not names <= stops]
    # What is somewhere at other times is in the other, not around it: `(holding hand block)`.
    sides.sort(key=lambda side: not (second if side else first) & found.located)
    for subject in sides:
        who = second if subject else first
        # A thing that is somewhere at other times may be carried now; one that is still there may not.
        known = subject == 0 or bool(facts.evidence[predicate, subject]) or bool(who & found.located)
        if (
            known
            and _is_free(facts, predicate, who & found.located, found)
            and facts.is_single(predicate, subject)
        ):
            return Role("in", subject, 1 - subject)
    return Role("tag", sides[0], 1 - sides[0]) if sides else Role("tag")


def _is_free(facts: Facts, predicate: str, located: set[str], found: Cast) -> bool:
    """Whether these objects are nowhere else while the predicate says where they are."""
    where = {name for name, role in found.roles.items() if role.kind in ("in", "on")}
    return not any(
        said & where and predicate not in said for name in located for said in facts.always_said.get(name, ())
    )


def _single(facts: Facts, predicate: str, found: Cast) -> Role:
    who = facts.side(predicate, 0)
    if predicate in facts.wandering and len(who) > 1:
        return Role("token", label=_SMALL_WORDS.sub("", predicate) or predicate)
    beside = facts.beside.get(predicate, set())
    if who & found.located and any(
        (role := found.roles.get(other)) is not None and role.kind in ("in", "on") for other in beside
    ):
        return Role("held")
    return Role("mark")
