"""`landmarks`: LM-cut's lower bound, which clears states and proves dead ends."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from misstep._core import State
from misstep.claim import Claim
from misstep.lab import Lab
from misstep.oracle import Case


@dataclass(frozen=True)
class Landmarks:
    """LM-cut (Helmert & Domshlak 2009): clears a state whose landmarks cost as much as the policy does."""

    name = "landmarks"

    def bind(self, lab: Lab, /) -> "LandmarksOracle":
        """The oracle on a lab."""
        return LandmarksOracle(lab)


@dataclass(frozen=True, slots=True)
class LandmarksOracle:
    """The oracle at work."""

    lab: Lab
    works_ahead: ClassVar[bool] = True

    def claims(self, case: Case, /) -> Iterator[Claim[State]]:
        """Nothing is left to claim: the lab knows the landmarks of a state once anybody asked for them."""
        self.lab.claim_landmarks(case.state)
        return iter(())
