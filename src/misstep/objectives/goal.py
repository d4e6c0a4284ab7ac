"""`qualitative`: reach the goal at all."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Qualitative:
    """Reach the goal wherever that is possible, at any cost (Definition 3 of Steinmetz et al. 2022)."""

    name = "qualitative"

    def value(self, cost: float, /) -> float:
        """0 where the goal is reached."""
        return math.inf if cost == math.inf else 0.0
