"""The heuristics of the native core as parts; `misstep.Heuristic(task, name)` evaluates them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Blind:
    """0 in goal states, the cheapest action's cost elsewhere."""


@dataclass(frozen=True)
class HMax:
    """h^max: the cost of the hardest goal fact, deletes ignored. Admissible; infinite means a dead end."""


@dataclass(frozen=True)
class HAdd:
    """h^add: the costs of the goal facts added up when deletes are ignored. Not admissible."""


@dataclass(frozen=True)
class FF:
    """h^FF: the cost of a relaxed plan along h^add's cheapest achievers. Not admissible."""


@dataclass(frozen=True)
class LMCut:
    """LM-cut (Helmert & Domshlak 2009): disjunctive action landmarks under h^max. Admissible."""
