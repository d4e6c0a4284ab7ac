"""Drawings: parts that say how the states of a task are drawn in a report; a scene is what they say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from misstep.task import Task

RoleKind: TypeAlias = Literal["in", "on", "held", "token", "mark", "tag", "link", "hidden"]
Layout: TypeAlias = Literal["grid", "map", "column", "boxes"]


@dataclass(frozen=True, slots=True)
class Role:
    """How the atoms of a predicate are drawn.

    `in`: the subject is drawn inside the target. `on`: on top of it. `held`: the predicate itself is a place,
    which holds the subject, as in `(holding a)`. `token`: a thing that has no name of its own is drawn in the
    subject, as in `(robot-at c)`. `mark`: the subject has another colour. `tag`: the atom is written at the
    subject. `link`: an arrow from the subject to the target. `hidden`: it is not drawn.
    """

    kind: RoleKind
    subject: int = 0
    """The position of the subject among the arguments."""
    target: int = 1
    label: str | None = None
    """The word that is shown for the predicate; None is its name."""


@dataclass(frozen=True, slots=True)
class Place:
    """Something that never moves, with its position; one unit is the distance of neighbours."""

    name: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Edge:
    """A way between two places, by their numbers; the label says for example how long it is."""

    start: int
    end: int
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """How the states of a task are drawn. Predicates without a role are tags."""

    layout: Layout = "boxes"
    """`grid`: places are cells that touch. `map`: places with ways between them. `column`: one above the
    other, the first at the bottom. `boxes`: side by side, whatever their positions are."""
    places: tuple[Place, ...] = ()
    edges: tuple[Edge, ...] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What is written at an object in every state."""
    inside: Mapping[str, str] = field(default_factory=dict)
    """Objects that are drawn inside another one in every state."""
    colours: Mapping[str, str] = field(default_factory=dict)
    """The colour of an object as `#rrggbb`; the others are coloured by their type."""


class Drawing(Protocol):
    """A part that draws tasks. One that is called like a PDDL domain is used for that domain."""

    @property
    def name(self) -> str:
        """As users type it."""
        ...

    def scene(self, task: Task, usual: Scene, /) -> Scene:
        """How to draw the task; `usual` is what the rules for any domain say, to be changed with `replace`."""
        ...
