"""`landmarks`: LM-cut's lower bound, which clears states and proves dead ends."""

from collections.abc import Iterator
from dataclasses import dataclass

from misstep.claim import Claim
from misstep.lab import Lab
from misstep.oracle import Case


@dataclass(frozen=True)
class LandmarkBound:
    """LM-cut (Helmert & Domshlak 2009): clears a state whose landmarks cost as much as the policy does."""

    name = "landmarks"

    def bind(self, lab: Lab, /) -> "BoundLandmarks":
        """The oracle on a lab."""
        return BoundLandmarks(lab)


@dataclass(frozen=True, slots=True)
class BoundLandmarks:
    """The oracle at work."""

    lab: Lab

    def claims(self, case: Case, /) -> Iterator[Claim]:
        """One claim with landmarks, or that the state is a dead end."""
        self.lab.claim_landmarks(case.entry.state)
        claim = self.lab.lower(case.entry.state)
        if claim is not None:
            yield claim
