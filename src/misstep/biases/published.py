"""The biases of Eisenhut et al. (2024): how promising a state looks by the policy's partial run from it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from misstep.plugins import option

Distance: TypeAlias = Literal["ff", "star"]
"""h^FF, or exact costs by bounded searches."""

_HELP = "distances: ff (h^FF) or star (exact, by bounded searches)"


@dataclass(frozen=True)
class NoBias:
    """Every successor is as promising as any other; the policy is not asked."""

    name = "none"
    h: Distance = option("ff", "not used by this bias")


@dataclass(frozen=True)
class PlanLength:
    """The cost of the partial run: long runs are promising."""

    name = "plan-length"
    h: Distance = option("ff", "not used by this bias")


@dataclass(frozen=True)
class Loopiness:
    """How near the run comes to where it was before: the largest cost(s_i, s_j) - h(s_j, s_i), i < j."""

    name = "loopiness"
    h: Distance = option("ff", _HELP)


@dataclass(frozen=True)
class Detour:
    """The largest detour on the run: the largest cost(s_i, s_j) - h(s_i, s_j), i < j."""

    name = "detour"
    h: Distance = option("ff", _HELP)


@dataclass(frozen=True)
class Surface:
    """How little the goal gets nearer: the largest cost(s_i, s_j) - (h(s_i) - h(s_j)), i < j."""

    name = "surface"
    h: Distance = option("ff", _HELP)
