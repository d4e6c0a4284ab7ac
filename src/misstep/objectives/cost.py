"""`quantitative`: reach the goal at the least cost."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Quantitative:
    """Reach the goal at the least cost (Definition 2 of Steinmetz et al. 2022)."""

    name = "quantitative"

    def value(self, cost: float, /) -> float:
        """The cost itself."""
        return cost
